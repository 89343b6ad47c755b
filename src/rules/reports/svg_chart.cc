#include "src/rules/reports/svg_chart.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "src/rules/reports/xml.h"

namespace smdebug::rules {
namespace {

constexpr double kWidth = 560;
constexpr double kHeight = 300;
constexpr double kLeft = 64;
constexpr double kRight = 12;
constexpr double kTop = 30;
constexpr double kBottom = 46;
constexpr double kLegendRow = 16;
constexpr size_t kMostPoints = 300;  // Of a line; more cannot be seen.
constexpr size_t kMostNames = 24;    // Below bars.
constexpr size_t kMostLetters = 16;  // Of such a name.
constexpr double kLetterWidth = 6.5;
constexpr double kSlantedNames = 44;  // Height that they need.

// From numbers to places along one axis.
struct Axis {
  double low = 0;
  double high = 1;
  double begin = 0;
  double end = 1;

  double At(double value) const {
    return begin + (value - low) / (high - low) * (end - begin);
  }
  // From one tick to the next: a round number.
  double Step() const {
    const double rough = (high - low) / 5;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    double step = power;
    for (const double factor : {2.0, 5.0, 10.0}) {
      if (step < rough) step = factor * power;
    }
    return step;
  }
  // Round numbers within the axis.
  std::vector<double> Ticks() const {
    const double step = Step();
    std::vector<double> ticks;
    const double first = std::ceil(low / step - 1e-9);
    for (double i = first; i * step <= high + step * 1e-9; ++i) {
      ticks.push_back(i * step);
    }
    return ticks;
  }
  // Goes on to the ticks around its ends, so that nothing is drawn on the edge.
  void RoundOut() {
    const double step = Step();
    low = std::floor(low / step + 1e-9) * step;
    high = std::ceil(high / step - 1e-9) * step;
  }
};

// Widened where there is nothing between the ends.
void Settle(Axis& axis) {
  if (!(axis.low <= axis.high)) {
    axis.low = 0;
    axis.high = 1;
  } else if (axis.high - axis.low <= 1e-12 * std::abs(axis.high)) {
    const double margin = axis.high == 0 ? 1 : std::abs(axis.high) / 10;
    axis.low -= margin;
    axis.high += margin;
  }
}

bool IsFinite(const std::pair<double, double>& point) {
  return std::isfinite(point.first) && std::isfinite(point.second);
}

// At most so many bytes of a text in UTF-8, without half a character.
std::string Cut(const std::string& text, size_t bytes) {
  while (bytes > 0 &&
         (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) {
    --bytes;
  }
  return text.substr(0, bytes);
}

std::string Begin(const ChartTexts& texts, double height) {
  const std::string title = EscapeXml(texts.title);
  return fmt::format(
      "<svg class=\"chart\" viewBox=\"0 0 {:g} {:g}\" role=\"img\" "
      "aria-label=\"{}\"><title>{}</title>\n"
      "<text class=\"title\" x=\"{:g}\" y=\"18\">{}</text>\n",
      kWidth, height, title, title, kLeft, title);
}

std::string Frame(const ChartTexts& texts, const Axis& x, const Axis& y,
                  bool with_x_ticks, double below_axis = 0) {
  std::string svg;
  for (const double tick : y.Ticks()) {
    svg += fmt::format(
        "<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>"
        "<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" "
        "text-anchor=\"end\">{}</text>\n",
        x.begin, y.At(tick), x.end, x.begin - 6, y.At(tick) + 4,
        NumberText(tick));
  }
  if (with_x_ticks) {
    for (const double tick : x.Ticks()) {
      svg += fmt::format(
          "<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" "
          "text-anchor=\"middle\">{}</text>\n",
          x.At(tick), y.begin + 16, NumberText(tick));
    }
  }
  svg +=
      fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\"/>\n",
                  x.begin, y.end, y.begin, x.end);
  svg += fmt::format(
      "<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\" "
      "text-anchor=\"middle\">{}</text>\n",
      (x.begin + x.end) / 2, y.begin + 36 + below_axis, EscapeXml(texts.x));
  svg += fmt::format(
      "<text class=\"label\" transform=\"translate(14 {:.1f}) rotate(-90)\" "
      "text-anchor=\"middle\">{}</text>\n",
      (y.begin + y.end) / 2, EscapeXml(texts.y));
  return svg;
}

}  // namespace

std::string NumberText(double value) {
  return fmt::format("{:.4g}", value == 0 ? 0.0 : value);
}

std::string LineChart(const ChartTexts& texts,
                      const std::vector<ChartLine>& lines) {
  const size_t count = std::min(lines.size(), kMostLines);
  constexpr double kNothing = std::numeric_limits<double>::infinity();
  Axis x = {kNothing, -kNothing, kLeft, kWidth - kRight};
  Axis y = {kNothing, -kNothing, kHeight - kBottom, kTop};
  for (size_t i = 0; i < count; ++i) {
    for (const auto& point : lines[i].points) {
      if (!IsFinite(point)) continue;
      x.low = std::min(x.low, point.first);
      x.high = std::max(x.high, point.first);
      y.low = std::min(y.low, point.second);
      y.high = std::max(y.high, point.second);
    }
  }
  if (y.low > 0 && y.low < y.high / 2) y.low = 0;
  Settle(x);
  Settle(y);
  y.RoundOut();
  const auto legend_top = [](size_t line) {  // Two lines in a row.
    const size_t row = line / 2;
    return kHeight + kLegendRow * (static_cast<double>(row) + 0.6);
  };
  std::string svg = Begin(texts, legend_top(count + 1));
  svg += Frame(texts, x, y, /*with_x_ticks=*/true);
  for (size_t i = 0; i < count; ++i) {
    const auto& points = lines[i].points;
    const size_t stride = points.size() / kMostPoints + 1;
    std::string places;
    for (size_t j = 0; j < points.size(); ++j) {
      if (!IsFinite(points[j])) continue;
      if (j % stride != 0 && j + 1 != points.size()) continue;
      places += fmt::format("{:.1f},{:.1f} ", x.At(points[j].first),
                            y.At(points[j].second));
    }
    svg += fmt::format("<polyline class=\"line line{}\" points=\"{}\"/>\n", i,
                       places);
    const double left = kLeft + (i % 2 == 0 ? 0 : (kWidth - kLeft) / 2);
    const double top = legend_top(i);
    svg += fmt::format(
        "<path class=\"line line{}\" d=\"M{:.1f} {:.1f}h24\"/>"
        "<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
        i, left, top, left + 30, top + 4, EscapeXml(lines[i].name));
  }
  return svg + "</svg>\n";
}

std::string BarChart(const ChartTexts& texts,
                     const std::vector<std::pair<std::string, double>>& bars) {
  const Axis x = {0, static_cast<double>(std::max<size_t>(bars.size(), 1)),
                  kLeft, kWidth - kRight};
  Axis y = {0, 0, kHeight - kBottom, kTop};
  for (const auto& [name, value] : bars) {
    if (std::isfinite(value)) y.high = std::max(y.high, value);
  }
  if (y.high == 0) y.high = 1;
  y.RoundOut();
  const size_t stride = bars.size() / kMostNames + 1;
  const double width = (x.end - x.begin) / x.high;
  const bool is_slanted = std::ranges::any_of(bars, [&](const auto& bar) {
    return kLetterWidth * static_cast<double>(bar.first.size()) >
           width * static_cast<double>(stride);
  });
  const double below = is_slanted ? kSlantedNames : 0;
  std::string svg = Begin(texts, kHeight + below);
  svg += Frame(texts, x, y, /*with_x_ticks=*/false, below);
  for (size_t i = 0; i < bars.size(); ++i) {
    const auto& [name, value] = bars[i];
    const double left = x.At(static_cast<double>(i));
    const double top = y.At(std::isfinite(value) ? std::max(value, 0.0) : 0);
    svg += fmt::format(
        "<rect class=\"bar\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
        "height=\"{:.1f}\"><title>{}: {}</title></rect>\n",
        left + width * 0.08, top, width * 0.84, y.begin - top, EscapeXml(name),
        NumberText(value));
    if (i % stride != 0) continue;
    // What is cut is in the title and in the table.
    const std::string shown =
        name.size() <= kMostLetters ? name : Cut(name, kMostLetters - 1) + ".";
    const std::string place = is_slanted
                                  ? fmt::format(
                                        "transform=\"translate({:.1f} {:.1f}) "
                                        "rotate(-40)\" text-anchor=\"end\"",
                                        left + width / 2 + 4, y.begin + 12)
                                  : fmt::format(
                                        "x=\"{:.1f}\" y=\"{:.1f}\" "
                                        "text-anchor=\"middle\"",
                                        left + width / 2, y.begin + 16);
    svg += fmt::format("<text class=\"tick\" {}>{}</text>\n", place,
                       EscapeXml(shown));
  }
  return svg + "</svg>\n";
}

std::string_view ChartStyle() {
  return R"(.chart { width: 100%; max-width: 560px; height: auto; font: 12px system-ui, sans-serif; }
.chart text { fill: var(--text); }
.chart .title { font-weight: 600; font-size: 13px; }
.chart .grid { stroke: var(--rule); }
.chart .axis { stroke: var(--text); fill: none; }
.chart .bar { fill: var(--c0); }
.chart .line { fill: none; stroke-width: 2; }
.line0 { stroke: var(--c0); } .line1 { stroke: var(--c1); stroke-dasharray: 7 3; }
.line2 { stroke: var(--c2); stroke-dasharray: 2 3; } .line3 { stroke: var(--c3); stroke-dasharray: 10 3 2 3; }
.line4 { stroke: var(--c4); } .line5 { stroke: var(--c5); stroke-dasharray: 7 3; }
.line6 { stroke: var(--c6); stroke-dasharray: 2 3; } .line7 { stroke: var(--c7); stroke-dasharray: 10 3 2 3; }
)";
}

}  // namespace smdebug::rules
