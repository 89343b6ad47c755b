#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/storage.h"
#include "src/base/bytes.h"

namespace smdebug::testing {

// The whole content of a file. Throws if it cannot be read.
inline std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

// Writes a file, parents included. Throws if it cannot.
inline void WriteFile(const std::filesystem::path& path,
                      std::string_view content) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << content << std::flush;
  if (!out) throw std::runtime_error("cannot write " + path.string());
}

// Paths of all regular files below `root`, relative to it, sorted, pending ones
// included.
inline std::vector<std::string> FilesBelow(const std::filesystem::path& root) {
  std::vector<std::string> files;
  if (!std::filesystem::exists(root)) return files;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    files.push_back(entry.path().lexically_relative(root).string());
  }
  std::ranges::sort(files);
  return files;
}

// Appends `content` as one part.
inline void AppendText(PendingFile& file, std::string_view content) {
  const Bytes part = base::AsBytes(content);
  file.Append({&part, 1});
}

// Publishes `content` under `key`.
inline void PutFile(Storage& storage, std::string_view key,
                    std::string_view content) {
  const auto file = storage.Create(key);
  AppendText(*file, content);
  file->Publish();
}

// The whole content of `key`; nullopt if there is no such file.
inline std::optional<std::string> GetFile(const Storage& storage,
                                          std::string_view key) {
  const std::optional<Blob> blob = storage.Read(key);
  if (!blob.has_value()) return std::nullopt;
  return std::string(blob->text());
}

// The keys that List() gives.
inline std::vector<std::string> Keys(const Storage& storage,
                                     std::string_view prefix = {},
                                     std::string_view start_after = {}) {
  std::vector<std::string> keys;
  for (FileInfo& info : storage.List(prefix, start_after)) {
    keys.push_back(std::move(info.key));
  }
  return keys;
}

}  // namespace smdebug::testing
