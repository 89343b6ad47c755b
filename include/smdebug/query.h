#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "smdebug/mode.h"
#include "smdebug/reduction.h"
#include "smdebug/trial.h"

// Questions about a run that every front end asks, with plain answers and no
// side effect. What is wrong with a question is one sentence, thrown as Error;
// a damaged value that an answer needs is thrown as FormatError.
namespace smdebug::query {

// A global step, and its place in its mode.
struct StepId {
  int64_t step = 0;
  Mode mode = Mode::kGlobal;
  int64_t mode_step = 0;
};

// A number at each of some steps, which rise.
struct Series {
  std::vector<int64_t> steps;
  std::vector<double> values;
};

struct SeriesQuery {
  std::string tensor = {};  // Or "<tensor>:<reduction>".
  std::optional<Reduction> reduction = {};
  Mode mode = Mode::kGlobal;
  std::optional<std::string> worker = {};
};

// One number of a tensor at each of its steps.
struct TensorSeries {
  std::string tensor;
  std::optional<Reduction> reduction = {};  // Unset: the one element itself.
  std::optional<std::string> worker = {};
  Mode mode = Mode::kGlobal;
  Series series = {};
  std::vector<int64_t> damaged = {};  // Steps that could not be read.
};

// The elements of a tensor of one element, unless a reduction is asked for;
// else the reduction, by default the mean, saved or computed from the value.
// Steps at which there is nothing of the kind are left out, and so are those
// that are damaged, which Trial::damage() lists. Throws Error if nothing is
// left, or for a tensor of strings.
TensorSeries ReadSeries(Trial& trial, const SeriesQuery& query);

// A series over all modes as one series for each mode that it has steps of,
// which are still counted over all modes; any other is its only part.
std::vector<TensorSeries> SplitByMode(Trial& trial, const TensorSeries& series);

// What a series does over steps in a row.
struct SeriesBucket {
  int64_t first_step = 0;
  int64_t last_step = 0;
  int64_t count = 0;  // Steps with a number.
  double first = 0;   // The numbers at these steps, finite or not.
  double last = 0;
  // Of the finite numbers, and where each is first met; NaN, at first_step, if
  // there is none.
  double min = 0;
  double max = 0;
  int64_t min_step = 0;
  int64_t max_step = 0;
  int64_t nan = 0;
  int64_t pos_inf = 0;
  int64_t neg_inf = 0;
};

// The series in at most `most` (at least 1) buckets of about as many steps
// each, in order; one per step if they are few. No extreme is lost, and no NaN.
std::vector<SeriesBucket> Downsample(const Series& series, size_t most);

// What little reading shows of a tensor.
struct Glance {
  // "value", or the name of a reduction; empty if it would take too much.
  std::string what = {};
  Series series = {};  // NaN at steps that do not have it.
};

// At `most_steps` steps, the first and the last among them: a saved reduction,
// the mean rather than others, or else, if the value takes no more than
// `most_bytes` to read, its mean.
Glance GlanceAt(const Tensor& tensor, size_t most_steps, int64_t most_bytes);

// What a person wants to know of a tensor's values at one glance. One NaN must
// not hide the rest, so the numbers are of the finite values.
struct ValueSummary {
  int64_t count = 0;
  int64_t zero = 0;
  int64_t nan = 0;
  int64_t pos_inf = 0;
  int64_t neg_inf = 0;
  double min = 0;  // NaN if there is no finite value, as are the next three.
  double max = 0;
  double mean = 0;
  double std = 0;  // Of the population.
  double l2 = 0;

  int64_t finite() const { return count - nan - pos_inf - neg_inf; }
};

// Values in [low, high), or also high itself in the last bin. low == high: this
// very number.
struct Bin {
  double low = 0;
  double high = 0;
  int64_t count = 0;
};

struct HistogramQuery {
  std::string tensor = {};
  Mode mode = Mode::kGlobal;
  std::optional<std::string> worker = {};
  std::vector<int64_t> steps = {};  // Of `mode`; empty: all of the tensor.
  // Of these at most so many, evenly spread, the first and the last among them;
  // 0: all.
  size_t most_steps = 0;
  size_t bins = 16;  // At most, and at least 1.
  // Whether all steps have the same bins, over the range of all of them.
  bool common_range = false;
};

// How the values of a tensor were spread at a step.
struct StepHistogram {
  int64_t step = 0;  // Of the mode.
  // Whether the value was saved. If only reductions were, the summary has those
  // of its numbers that were saved, others are NaN or 0, and there is one bin
  // from min to max if both are known.
  bool from_value = false;
  ValueSummary summary = {};
  std::vector<Bin> bins = {};
};

struct TensorHistograms {
  std::string tensor;
  Mode mode = Mode::kGlobal;
  std::optional<std::string> worker = {};
  std::vector<StepHistogram> steps = {};
};

// Steps at which neither a value nor reductions were saved are left out. Throws
// Error if nothing is left, for a step that the tensor does not have, and for a
// tensor of strings.
TensorHistograms ReadHistograms(Trial& trial, const HistogramQuery& query);

struct TableQuery {
  std::vector<std::string> tensors = {};  // By name.
  Mode mode = Mode::kGlobal;
  std::optional<std::string> worker = {};  // Unset: every worker.
  // Computed where they were not saved and the value was.
  std::vector<Reduction> reductions = {};
};

// The numbers of tensors, in columns of equal length. A row is a tensor at a
// step of a worker.
struct Table {
  struct Column {
    Reduction reduction;
    std::vector<double> numbers = {};  // NaN where there is none.
  };

  size_t size() const noexcept { return steps.size(); }

  std::vector<int64_t> steps = {};  // Over all modes.
  std::vector<Mode> modes = {};
  std::vector<int64_t> mode_steps = {};
  std::vector<uint32_t> workers = {};  // Places in worker_names.
  std::vector<uint32_t> tensors = {};  // Places in tensor_names.
  // That of a tensor of one element, NaN for any other.
  std::vector<double> values = {};
  // Those asked for, and then by name the others that were saved of any.
  std::vector<Column> reductions = {};

  std::vector<std::string> worker_names = {};
  std::vector<std::string> tensor_names = {};
};

// By step, tensor and worker. Complete steps only. Throws InvalidWorker if
// nobody of that name wrote in the run.
Table ReadTable(Trial& trial, const TableQuery& query);

}  // namespace smdebug::query
