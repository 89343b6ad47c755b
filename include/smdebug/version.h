#pragma once

namespace smdebug {

// The one place where the version stands. CMakeLists.txt and pyproject.toml
// read it here; Python's __version__ and `smdebug --version` follow.
inline constexpr char kVersion[] = "2.0.0.dev0";

}  // namespace smdebug
