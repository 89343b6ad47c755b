#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {

// A data set for XGBoost: what is missing is NaN in a dense table, and not
// there in a sparse one.
struct XgboostData {
  std::vector<float> labels;   // One for each row.
  std::vector<float> weights;  // Likewise, or none if all weigh the same.
  int64_t width = 0;           // How many columns there are.
  std::vector<float> values;   // Row by row.
  // Only of a sparse table: the column of each value, and where the values of
  // each row begin, with the end of the last.
  std::vector<int64_t> columns;
  std::vector<int64_t> starts;
};

// Reads rows without a header, with the label first. Fields are separated by
// the one of , tab ; | and blank that the first line has most of, and may be in
// quotation marks. An empty field is missing. Throws Error for anything else.
XgboostData ParseXgboostCsv(std::string_view text);

// Reads rows of `label[:weight] [qid:number] index:value ...`, as a sparse
// table. Indices begin at 0, and # begins a comment. Throws Error for anything
// else.
XgboostData ParseXgboostLibsvm(std::string_view text);

// Reads the local file at `path`. Its content type is "csv" or "libsvm", also
// after "text/", or "text/x-libsvm", in any case. Throws Error, which names
// `key`, for anything else.
XgboostData ReadXgboostData(std::string_view key, const std::string& path,
                            std::string_view content_type);

}  // namespace smdebug
