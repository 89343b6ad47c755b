#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/steps/step_source.h"

namespace smdebug::steps {

// Steps as pairs of files (docs/formats/run-folder.md): an event file with the
// content, and an index file, which is published after it. Thread-safe.
class FilePairSource final : public StepSource {
 public:
  // `storage` is borrowed.
  explicit FilePairSource(const Storage* storage) : storage_(storage) {}

  std::vector<std::string_view> folders() const override;
  std::vector<StepItem> List(std::string_view cursor) const override;
  std::string CursorAfter(
      int64_t step, std::optional<std::string_view> worker) const override;
  std::optional<StepItem> Look(std::string_view name) const override;
  std::optional<StepRecord> ReadIndex(const StepItem& item) const override;
  std::string NameOf(const StepContent& content) const override;
  std::optional<Blob> Read(const StepContent& content, uint64_t offset,
                           uint64_t length) const override;
  std::vector<ContentItem> ListContents() const override;

 private:
  const Storage* const storage_;
};

}  // namespace smdebug::steps
