#include "src/cli/output/array_text.h"

#include <algorithm>
#include <vector>

#include "src/cli/output/text.h"
#include "src/query/elements.h"

namespace smdebug::cli {
namespace {

constexpr int64_t kElision = -1;

// Lays out one array. One thread at a time.
class ArrayPrinter {
 public:
  ArrayPrinter(const TensorView& tensor, int64_t most, size_t width)
      : tensor_(tensor), width_(width) {
    if (tensor.size() > most) edge_ = EdgeFor(most);
    // The inner axes first, to know how far the outer ones step.
    strides_.resize(tensor.shape.size());
    int64_t stride = 1;
    for (size_t axis = tensor.shape.size(); axis-- > 0;) {
      strides_[axis] = stride;
      stride *= tensor.shape[axis];
    }
    Collect(0, 0);
    for (const std::string& text : texts_) {
      cell_ = std::max(cell_, TextWidth(text));
    }
  }

  std::string Print() {
    next_ = 0;
    Put(0);
    return std::move(out_);
  }

 private:
  // How many elements to show at either end of an axis: three as NumPy does,
  // or fewer if that would be more than `most`.
  int64_t EdgeFor(int64_t most) const {
    for (int64_t edge = 3; edge > 1; --edge) {
      int64_t shown = 1;
      for (const int64_t extent : tensor_.shape) {
        shown *= std::min(extent, 2 * edge);
      }
      if (shown <= most) return edge;
    }
    return 1;
  }

  // The indices shown along `axis`.
  std::vector<int64_t> Shown(size_t axis) const {
    const int64_t extent = tensor_.shape[axis];
    std::vector<int64_t> shown;
    if (edge_ == 0 || extent <= 2 * edge_) {
      for (int64_t i = 0; i < extent; ++i) shown.push_back(i);
      return shown;
    }
    for (int64_t i = 0; i < edge_; ++i) shown.push_back(i);
    shown.push_back(kElision);
    for (int64_t i = extent - edge_; i < extent; ++i) shown.push_back(i);
    return shown;
  }

  void Collect(size_t axis, int64_t offset) {
    if (axis == tensor_.shape.size()) {
      texts_.push_back(query::ElementText(query::ElementAt(tensor_, offset)));
      return;
    }
    for (const int64_t index : Shown(axis)) {
      if (index != kElision) Collect(axis + 1, offset + index * strides_[axis]);
    }
  }

  void Put(size_t axis) {
    if (axis == tensor_.shape.size()) {
      PutCell(texts_[next_++]);
      return;
    }
    out_ += '[';
    if (axis + 1 == tensor_.shape.size()) {
      PutRow(axis);
    } else {
      PutBlocks(axis);
    }
    out_ += ']';
  }

  void PutBlocks(size_t axis) {
    bool first = true;
    for (const int64_t index : Shown(axis)) {
      if (!first) {
        // One more empty line for each axis further out, as NumPy does.
        out_.append(tensor_.shape.size() - axis - 1, '\n');
        out_.append(axis + 1, ' ');
      }
      first = false;
      if (index == kElision) {
        out_ += "...";
      } else {
        Put(axis + 1);
      }
    }
  }

  void PutRow(size_t axis) {
    const size_t indent = axis + 1;
    size_t column = indent;
    for (const int64_t index : Shown(axis)) {
      const size_t cell = index == kElision ? 3 : cell_;
      if (column > indent) {
        if (column + 1 + cell > width_) {
          out_ += '\n';
          out_.append(indent, ' ');
          column = indent;
        } else {
          out_ += ' ';
          ++column;
        }
      }
      if (index == kElision) {
        out_ += "...";
      } else {
        PutCell(texts_[next_++]);
      }
      column += cell;
    }
  }

  // Numbers to the right; strings are quoted and go to the left.
  void PutCell(const std::string& text) {
    const std::string pad(cell_ - TextWidth(text), ' ');
    out_ += tensor_.dtype == DType::kString ? text : pad + text;
  }

  const TensorView tensor_;
  const size_t width_;
  int64_t edge_ = 0;  // 0: all.
  std::vector<int64_t> strides_;
  std::vector<std::string> texts_;  // Of the elements shown, in order.
  size_t next_ = 0;
  size_t cell_ = 0;
  std::string out_;
};

}  // namespace

std::string ArrayText(const TensorView& tensor, int64_t most, size_t width) {
  const query::ShallowView shallow(tensor);
  return ArrayPrinter(shallow.get(), most, width).Print();
}

}  // namespace smdebug::cli
