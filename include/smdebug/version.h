#pragma once

namespace smdebug {

inline constexpr char kVersion[] = "2.0.0.dev0";

}  // namespace smdebug
