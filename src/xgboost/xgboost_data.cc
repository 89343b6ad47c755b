#include "smdebug/internal/xgboost_data.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/base/text.h"

namespace smdebug {
namespace {

constexpr std::string_view kWhitespace = " \t\r\v\f";

using Parser = XgboostData (*)(std::string_view text);

struct ContentType {
  std::string_view name;
  std::string_view kind;
  Parser parse;
};

constexpr std::array kContentTypes = {
    ContentType{"csv", "csv", ParseXgboostCsv},
    ContentType{"text/csv", "csv", ParseXgboostCsv},
    ContentType{"libsvm", "libsvm", ParseXgboostLibsvm},
    ContentType{"text/libsvm", "libsvm", ParseXgboostLibsvm},
    ContentType{"text/x-libsvm", "libsvm", ParseXgboostLibsvm},
};

// The beginning of `text`, for a message.
std::string_view Shown(std::string_view text) {
  constexpr size_t kMost = 50;
  return base::Trim(text).substr(0, kMost);
}

// Takes the next line off `text`.
std::string_view NextLine(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// As XGBoost keeps numbers: beyond its range they are infinite.
float Narrow(double number) {
  constexpr double kMost = std::numeric_limits<float>::max();
  if (std::abs(number) <= kMost || std::isnan(number)) {
    return static_cast<float>(number);
  }
  return std::copysign(std::numeric_limits<float>::infinity(),
                       number < 0 ? -1.0F : 1.0F);
}

float ReadNumber(std::string_view text, std::string_view what, size_t place) {
  const std::string_view given = base::Trim(text);
  std::string_view digits = given;
  if (digits.starts_with('+') && !digits.starts_with("+-")) {
    digits.remove_prefix(1);
  }
  double number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [last, error] = std::from_chars(digits.data(), end, number);
  if (error == std::errc::result_out_of_range && last == end) {
    return Narrow(std::strtod(std::string(digits).c_str(), nullptr));
  }
  if (error != std::errc() || last != end) {
    throw Error(fmt::format("{} {} has '{}', which is no number", what, place,
                            Shown(given)));
  }
  return Narrow(number);
}

char SeparatorOf(std::string_view line) {
  constexpr std::string_view kSeparators = ",\t;| ";
  return *std::ranges::max_element(kSeparators, {}, [line](char mark) {
    return std::ranges::count(line, mark);
  });
}

// Takes the next field off `line`, and what separates it from the next; sets
// `is_last` if nothing does.
std::string NextField(std::string_view& line, char separator, bool& is_last) {
  std::string field;
  if (line.starts_with('"')) {
    line.remove_prefix(1);
    while (!line.empty()) {
      const size_t mark = std::min(line.find('"'), line.size());
      field += line.substr(0, mark);
      line.remove_prefix(std::min(mark + 1, line.size()));
      if (!line.starts_with('"')) break;
      field += '"';
      line.remove_prefix(1);
    }
  }
  const size_t end = std::min(line.find(separator), line.size());
  field += line.substr(0, end);
  is_last = end == line.size();
  line.remove_prefix(is_last ? end : end + 1);
  return field;
}

// The parts of `line` between blanks.
std::vector<std::string_view> SplitAtBlanks(std::string_view line) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t begin = line.find_first_not_of(kWhitespace);
    if (begin == std::string_view::npos) return parts;
    line.remove_prefix(begin);
    const size_t end = std::min(line.find_first_of(kWhitespace), line.size());
    parts.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

// "index:value".
void ReadPair(std::string_view pair, size_t line, XgboostData& data) {
  const size_t colon = pair.find(':');
  const auto column = base::ParseInt(pair.substr(0, colon));
  if (colon == std::string_view::npos || !column || *column < 0 ||
      *column == std::numeric_limits<int64_t>::max()) {
    throw Error(fmt::format(
        "line {} has '{}', which is not an index of at least 0 and a value",
        line, Shown(pair)));
  }
  data.columns.push_back(*column);
  data.values.push_back(ReadNumber(pair.substr(colon + 1), "line", line));
  data.width = std::max(data.width, *column + 1);
}

void RequireRows(const XgboostData& data) {
  if (data.labels.empty()) throw Error("it has no rows");
}

}  // namespace

XgboostData ParseXgboostCsv(std::string_view text) {
  XgboostData data;
  std::string_view rest = text;
  const std::string_view first = NextLine(rest);
  const char separator = SeparatorOf(first);
  while (!text.empty()) {
    std::string_view line = NextLine(text);
    if (line.empty()) continue;
    const size_t row = data.labels.size() + 1;
    int64_t width = -1;  // The label is no column.
    for (bool is_last = false; !is_last; ++width) {
      const std::string field = NextField(line, separator, is_last);
      const float number = base::Trim(field).empty()
                               ? std::numeric_limits<float>::quiet_NaN()
                               : ReadNumber(field, "row", row);
      (width == -1 ? data.labels : data.values).push_back(number);
    }
    if (row == 1) data.width = width;
    if (width != data.width) {
      throw Error(fmt::format("row {} has {} fields, and row 1 has {}", row,
                              width + 1, data.width + 1));
    }
    if (width == 0) {
      throw Error(fmt::format("a label and at least one feature are needed: {}",
                              Shown(first)));
    }
  }
  RequireRows(data);
  return data;
}

XgboostData ParseXgboostLibsvm(std::string_view text) {
  XgboostData data;
  data.width = 1;
  data.starts = {0};
  bool has_weights = false;
  for (size_t line = 1; !text.empty(); ++line) {
    const std::string_view content = NextLine(text);
    const auto fields = SplitAtBlanks(content.substr(0, content.find('#')));
    if (fields.empty()) continue;
    const std::string_view label = fields.front();
    const size_t colon = std::min(label.find(':'), label.size());
    data.labels.push_back(ReadNumber(label.substr(0, colon), "line", line));
    const std::string_view weight =
        label.substr(std::min(colon + 1, label.size()));
    data.weights.push_back(weight.empty() ? 1
                                          : ReadNumber(weight, "line", line));
    has_weights = has_weights || data.weights.back() != 1;
    for (size_t i = 1; i < fields.size(); ++i) {
      if (!fields[i].starts_with("qid:")) ReadPair(fields[i], line, data);
    }
    data.starts.push_back(static_cast<int64_t>(data.values.size()));
  }
  RequireRows(data);
  if (!has_weights) data.weights.clear();
  return data;
}

XgboostData ReadXgboostData(std::string_view key, const std::string& path,
                            std::string_view content_type) {
  const auto type = std::ranges::find(kContentTypes, base::Lower(content_type),
                                      &ContentType::name);
  if (type == kContentTypes.end()) {
    std::string allowed;
    for (const ContentType& known : kContentTypes) {
      allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", known.name);
    }
    throw Error(fmt::format("{} has the content type '{}'; allowed: {}", key,
                            content_type, allowed));
  }
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw Error(fmt::format("{}: there is no local file '{}'", key, path));
  }
  std::ostringstream text;
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) {
    throw Error(fmt::format("{}: '{}' cannot be read", key, path));
  }
  if (file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  try {
    return type->parse(std::move(text).str());
  } catch (const Error& wrong) {
    throw Error(fmt::format("{}: '{}' is not {}: {}", key, path, type->kind,
                            wrong.what()));
  }
}

}  // namespace smdebug
