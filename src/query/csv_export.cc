#include "src/query/csv_export.h"

#include <iterator>
#include <set>
#include <string>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/query/csv.h"
#include "src/query/text.h"

namespace smdebug::query {
namespace {

// Writes one table. One thread at a time.
class CsvExporter {
 public:
  CsvExporter(Trial& trial, const ExportQuery& query, const LineSink& sink)
      : trial_(trial), query_(query), sink_(sink) {}

  ExportResult Export(const std::function<bool()>& go_on) {
    RefuseWholeTensors();
    ForEachWholeEntry(trial_, query_, [&](const ExportEntry& entry) {
      if (!go_on()) result_.interrupted = true;
      if (!wants_more_ || result_.interrupted) return false;
      Add(entry);
      return true;
    });
    result_.left_out = {left_out_.begin(), left_out_.end()};
    return std::move(result_);
  }

 private:
  [[noreturn]] static void Refuse(const ExportEntry& entry,
                                  const Value& value) {
    throw Error(fmt::format(
        "'{}' has {} at step {}, and a line holds one number; a reduction, "
        "such as mean, is one, and an npz file holds whole tensors",
        entry.tensor(), Counted(value.size(), "element"), entry.id.step));
  }

  // Looks at the first value of each tensor, so that a call that is wrong from
  // the start writes nothing.
  void RefuseWholeTensors() {
    if (!query_.reductions.empty()) return;
    const size_t all = ChooseTensors(trial_, query_).size();
    std::set<trial::Reader::TensorId> seen;
    ForEachWholeEntry(trial_, query_, [&](const ExportEntry& entry) {
      if (!entry.saved.value || !seen.insert(entry.found.id).second) {
        return true;
      }
      const Value value = entry.ReadValue();
      if (!IsNumber(value)) Refuse(entry, value);
      return seen.size() < all;
    });
  }

  // Notes what there is not to add.
  void Add(const ExportEntry& entry) {
    bool is_text = false;
    if (entry.saved.value) {
      const Value value = entry.ReadValue();
      if (IsNumber(value)) {
        return AddRow(entry, entry.tensor(), value.Get(0));
      }
      if (query_.reductions.empty()) Refuse(entry, value);
      is_text = value.dtype() == DType::kString;
    }
    const auto& reductions =
        query_.reductions.empty() ? entry.saved.reductions : query_.reductions;
    if (reductions.empty()) left_out_.insert(entry.tensor());
    for (const Reduction& reduction : reductions) {
      const std::string name = entry.NameOf(reduction);
      if (is_text || !entry.Gives(reduction)) {
        left_out_.insert(name);
      } else {
        AddRow(entry, name, entry.ReadReduction(reduction));
      }
    }
  }

  void AddRow(const ExportEntry& entry, std::string_view name, double value) {
    // Once for every number of a run: no strings that are made to be thrown
    // away.
    line_ =
        result_.entries == 0 ? "step,mode,mode_step,worker,tensor,value\n" : "";
    const auto out = std::back_inserter(line_);
    fmt::format_to(out, FMT_COMPILE("{},{},{},"), entry.id.step,
                   ModeName(entry.id.mode), entry.id.mode_step);
    AppendCsvField(entry.worker(), line_);
    line_ += ',';
    AppendCsvField(name, line_);
    line_ += ',';
    AppendExactNumber(value, line_);
    line_ += '\n';
    wants_more_ = sink_(line_);
    ++result_.entries;
  }

  Trial& trial_;
  const ExportQuery& query_;
  const LineSink& sink_;
  bool wants_more_ = true;
  std::string line_;
  std::set<std::string> left_out_;
  ExportResult result_;
};

}  // namespace

ExportResult ExportCsv(Trial& trial, const ExportQuery& query,
                       const LineSink& sink,
                       const std::function<bool()>& go_on) {
  return CsvExporter(trial, query, sink).Export(go_on);
}

}  // namespace smdebug::query
