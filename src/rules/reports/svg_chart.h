#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::rules {

// A number for people: four digits.
std::string NumberText(double value);

// A line in a chart. Points that are not finite are left out.
struct ChartLine {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

struct ChartTexts {
  std::string title;
  std::string x;  // What the axes are.
  std::string y;
};

// An SVG element of lines with a legend. Colours and dashes are the classes
// line0 to line7 of ChartStyle().
std::string LineChart(const ChartTexts& texts,
                      const std::vector<ChartLine>& lines);

// An SVG element of upright bars, each with a name below it.
std::string BarChart(const ChartTexts& texts,
                     const std::vector<std::pair<std::string, double>>& bars);

// The CSS of charts, for light and for dark.
std::string_view ChartStyle();

// How many lines can be told apart.
inline constexpr size_t kMostLines = 8;

}  // namespace smdebug::rules
