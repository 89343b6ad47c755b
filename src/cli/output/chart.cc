#include "src/cli/output/chart.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "src/cli/output/canvas.h"
#include "src/cli/output/text.h"

namespace smdebug::cli {
namespace {

using query::Series;

constexpr size_t kLeastColumns = 10;
constexpr size_t kLeastRows = 3;
constexpr double kInf = std::numeric_limits<double>::infinity();

struct Range {
  double low;
  double high;
};

// The range of the finite values, widened where it would be a point.
Range RangeOf(std::span<const ChartLine> lines) {
  Range range = {kInf, -kInf};
  for (const ChartLine& line : lines) {
    for (const double value : line.series.values) {
      if (!std::isfinite(value)) continue;
      range.low = std::min(range.low, value);
      range.high = std::max(range.high, value);
    }
  }
  if (range.low > range.high) return {0, 1};
  if (range.low == range.high) {
    const double margin =
        range.low == 0 ? 1 : std::min(std::abs(range.low) / 2, 1e307);
    return {range.low - margin, range.high + margin};
  }
  return range;
}

// Where `value` lies between the ends: 0 to 1.
double Share(double value, Range range) {
  // Halves, so that the whole range of double does not overflow.
  return (value / 2 - range.low / 2) / (range.high / 2 - range.low / 2);
}

std::vector<size_t> LabelledRows(size_t rows) {
  const size_t apart = rows <= 8 ? 2 : 4;
  std::vector<size_t> labelled;
  for (size_t row = 0; row + apart / 2 < rows - 1; row += apart) {
    labelled.push_back(row);
  }
  labelled.push_back(rows - 1);
  return labelled;
}

// A label per row, empty for most, with as many digits as tell them apart.
std::vector<std::string> RowLabels(size_t rows, Range range) {
  const std::vector<size_t> labelled = LabelledRows(rows);
  std::vector<std::string> labels(rows);
  for (int digits = 4; digits <= 17; ++digits) {
    std::set<std::string> different;
    for (const size_t row : labelled) {
      const double share =
          static_cast<double>(row) / static_cast<double>(rows - 1);
      double value = range.high * (1 - share) + range.low * share;
      // A zero that rounding missed.
      if (std::abs(value) < 1e-12 * (range.high / 2 - range.low / 2)) value = 0;
      labels[row] = fmt::format("{:.{}g}", value, digits);
      different.insert(labels[row]);
    }
    if (different.size() == labelled.size()) break;
  }
  return labels;
}

struct Glyphs {
  std::string_view tick;
  std::string_view side;
  std::string_view corner;
  std::string_view base;
  std::string_view nan;
  std::string_view up;
  std::string_view down;
};
constexpr Glyphs kUnicode = {"\xE2\x94\xA4", "\xE2\x94\x82", "\xE2\x94\x94",
                             "\xE2\x94\x80", "\xC3\x97",     "\xE2\x96\xB2",
                             "\xE2\x96\xBC"};
constexpr Glyphs kAscii = {"+", "|", "+", "-", "x", "^", "v"};

// What several lines are drawn with, none of which marks anything else.
constexpr std::string_view kSigns = "*o+#@%&ABCDEFGHIJKLMNOPQRSTUWYZ";
static_assert(kSigns.size() == kMostChartLines);
// And what stands where they meet.
constexpr std::string_view kMeeting = "=";

// Draws lines. One thread at a time.
class Chart {
 public:
  Chart(std::span<const ChartLine> lines, const ChartOptions& options)
      : lines_(lines),
        glyphs_(options.utf8 ? kUnicode : kAscii),
        terminal_({.colour = options.colour}),
        range_(RangeOf(lines)),
        labels_(RowLabels(std::max(options.height, kLeastRows), range_)),
        label_width_(WidestLabel()),
        columns_(options.width > label_width_ + 2 + kLeastColumns
                     ? options.width - label_width_ - 2
                     : kLeastColumns),
        // Dots of several lines in one character could not be told apart.
        canvas_(columns_, labels_.size(), options.utf8 && lines.size() == 1),
        nans_(columns_, 1, options.utf8 && lines.size() == 1),
        met_(lines.size()) {
    canvas_.set_meeting(kMeeting);
    first_ = lines.front().series.steps.front();
    last_ = first_;
    for (const ChartLine& line : lines) {
      first_ = std::min(first_, line.series.steps.front());
      last_ = std::max(last_, line.series.steps.back());
    }
  }

  std::string Draw() {
    for (size_t i = 0; i < lines_.size(); ++i) DrawCurve(i);
    for (size_t row = 0; row < labels_.size(); ++row) {
      PutRow(labels_[row], labels_[row].empty() ? glyphs_.side : glyphs_.tick,
             canvas_.Row(row));
    }
    const auto has_nan = [](const Specials& met) { return met.nan.count > 0; };
    if (std::ranges::any_of(met_, has_nan)) {
      PutRow("nan", glyphs_.side, nans_.Row(0), /*is_bad=*/true);
    }
    PutAxis();
    for (size_t i = 0; i < lines_.size(); ++i) {
      if (lines_.size() > 1) {
        out_ += fmt::format("{} {}\n", SignOf(i), lines_[i].name);
      }
      PutCounts(met_[i]);
    }
    if (canvas_.has_meeting()) {
      out_ += fmt::format("{} several of them in one place\n", kMeeting);
    }
    return std::move(out_);
  }

 private:
  // How often something was met, and where first.
  struct Met {
    int64_t count = 0;
    int64_t first = 0;
    void Add(int64_t step) {
      if (count++ == 0) first = step;
    }
  };

  // Of one line.
  struct Specials {
    Met nan = {};
    Met pos_inf = {};
    Met neg_inf = {};
  };

  // Empty: dots, for a line alone.
  std::string_view SignOf(size_t line) const {
    if (lines_.size() == 1) return {};
    return kSigns.substr(line, 1);
  }

  size_t WidestLabel() const {
    size_t widest = 3;  // "nan".
    for (const std::string& label : labels_) {
      widest = std::max(widest, label.size());
    }
    return widest;
  }

  size_t XOf(int64_t step) const {
    const auto first = static_cast<double>(first_);
    const auto last = static_cast<double>(last_);
    if (first == last) return 0;
    return static_cast<size_t>(
        std::lround(Share(static_cast<double>(step), {first, last}) *
                    static_cast<double>(canvas_.dots_wide() - 1)));
  }

  size_t YOf(double value) const {
    return static_cast<size_t>(
        std::lround((1 - Share(value, range_)) *
                    static_cast<double>(canvas_.dots_high() - 1)));
  }

  void DrawCurve(size_t line) {
    const Series& series = lines_[line].series;
    struct Point {
      size_t x;
      size_t y;
    };
    std::optional<Point> before;
    for (size_t i = 0; i < series.steps.size(); ++i) {
      const int64_t step = series.steps[i];
      const double value = series.values[i];
      const size_t x = XOf(step);
      if (!std::isfinite(value)) {
        before.reset();
        MarkSpecial(step, value, x, met_[line]);
        continue;
      }
      const Point point = {x, YOf(value)};
      const Point from = before.value_or(point);
      canvas_.Line(from.x, from.y, point.x, point.y, SignOf(line));
      before = point;
    }
  }

  void MarkSpecial(int64_t step, double value, size_t x, Specials& met) {
    if (std::isnan(value)) {
      met.nan.Add(step);
      nans_.Mark(x, 0, glyphs_.nan);
    } else if (value > 0) {
      met.pos_inf.Add(step);
      canvas_.Mark(x, 0, glyphs_.up);
    } else {
      met.neg_inf.Add(step);
      canvas_.Mark(x, canvas_.dots_high() - 1, glyphs_.down);
    }
  }

  void PutLine(std::string_view line, bool is_bad) {
    out_ += is_bad ? Paint(terminal_, Colour::kRed, line) : std::string(line);
    out_ += '\n';
  }

  void PutRow(std::string_view label, std::string_view side,
              std::string_view row, bool is_bad = false) {
    PutLine(fmt::format("{:>{}} {}{}", label, label_width_, side, row), is_bad);
  }

  // The line at the bottom, and below it the first, middle and last step where
  // there is room for them.
  void PutAxis() {
    std::string base;
    for (size_t i = 0; i < columns_; ++i) base += glyphs_.base;
    PutRow("", glyphs_.corner, base);
    const int64_t first = first_;
    const int64_t last = last_;
    std::string line = fmt::format("{}", first);
    if (last != first) {
      const std::string end = fmt::format("{}", last);
      const std::string middle = fmt::format("{}", first + (last - first) / 2);
      const size_t at =
          columns_ / 2 - std::min(columns_ / 2, middle.size() / 2);
      if (last - first > 1 && line.size() + 2 <= at &&
          at + middle.size() + 2 + end.size() <= columns_) {
        line.resize(at, ' ');
        line += middle;
      }
      const size_t room = columns_ - std::min(columns_, end.size());
      line.resize(std::max(room, line.size() + 1), ' ');
      line += end;
    }
    out_ += std::string(label_width_ + 2, ' ') + line + '\n';
  }

  void PutCounts(const Specials& specials) {
    const auto put = [&](std::string_view glyph, std::string_view name,
                         const Met& met) {
      if (met.count == 0) return;
      PutLine(fmt::format("{}{} {} at {}, first at step {}",
                          lines_.size() > 1 ? "  " : "", glyph, name,
                          Counted(met.count, "step"), met.first),
              /*is_bad=*/true);
    };
    put(glyphs_.nan, "NaN", specials.nan);
    put(glyphs_.up, "+Inf", specials.pos_inf);
    put(glyphs_.down, "-Inf", specials.neg_inf);
  }

  const std::span<const ChartLine> lines_;
  const Glyphs& glyphs_;
  const Terminal terminal_;
  const Range range_;
  const std::vector<std::string> labels_;
  const size_t label_width_;
  const size_t columns_;
  Canvas canvas_;
  Canvas nans_;
  std::vector<Specials> met_;
  int64_t first_ = 0;  // Steps, of all lines.
  int64_t last_ = 0;
  std::string out_;
};

}  // namespace

std::string ChartText(std::span<const ChartLine> lines,
                      const ChartOptions& options) {
  return Chart(lines, options).Draw();
}

}  // namespace smdebug::cli
