#include "src/query/npz_export.h"

#include <set>
#include <string>

#include <fmt/format.h>

#include "src/query/npy.h"
#include "src/query/zip_writer.h"

namespace smdebug::query {
namespace {

// Writes one archive. One thread at a time.
class NpzExporter {
 public:
  NpzExporter(Trial& trial, const ExportQuery& query, const ByteSink& sink)
      : trial_(trial),
        query_(query),
        zip_(sink),
        names_workers_(!query.worker && trial.Workers().size() > 1) {}

  ExportResult Export(const std::function<bool()>& go_on) {
    ForEachWholeEntry(trial_, query_, [&](const ExportEntry& entry) {
      if (!go_on()) {
        result_.interrupted = true;
        return false;
      }
      Add(entry);
      return true;
    });
    if (result_.entries > 0) zip_.Finish();
    result_.left_out = {left_out_.begin(), left_out_.end()};
    return std::move(result_);
  }

 private:
  // Notes what there is not to add.
  void Add(const ExportEntry& entry) {
    if (query_.reductions.empty()) {
      if (entry.saved.value) {
        AddArray(entry, entry.tensor(), entry.ReadValue().view());
      } else {
        left_out_.insert(entry.tensor());
      }
      return;
    }
    for (const Reduction& reduction : query_.reductions) {
      const std::string name = entry.NameOf(reduction);
      if (!entry.Gives(reduction) || IsText(entry)) {
        left_out_.insert(name);
        continue;
      }
      const double value = entry.ReadReduction(reduction);
      AddArray(entry, name, ViewOf<double>({&value, 1}, {}));
    }
  }

  static bool IsText(const ExportEntry& entry) {
    return entry.saved.value && entry.saved.reductions.empty() &&
           entry.ReadValue().dtype() == DType::kString;
  }

  void AddArray(const ExportEntry& entry, const std::string& name,
                const TensorView& view) {
    std::string file = fmt::format("{}/{}/{}", name, ModeName(entry.id.mode),
                                   entry.id.mode_step);
    if (names_workers_) file += '/' + entry.worker();
    const NpyArray array(view);
    zip_.Add(file + ".npy", array.size(),
             [&](const ByteSink& sink) { array.Write(sink); });
    ++result_.entries;
  }

  Trial& trial_;
  const ExportQuery& query_;
  ZipWriter zip_;
  const bool names_workers_;
  std::set<std::string> left_out_;
  ExportResult result_;
};

}  // namespace

ExportResult ExportNpz(Trial& trial, const ExportQuery& query,
                       const ByteSink& sink,
                       const std::function<bool()>& go_on) {
  return NpzExporter(trial, query, sink).Export(go_on);
}

}  // namespace smdebug::query
