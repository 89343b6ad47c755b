#pragma once

namespace smdebug::testing {

#if defined(__SANITIZE_THREAD__)
// It knows no threads of forked children.
inline constexpr bool kUnderThreadSanitizer = true;
#else
inline constexpr bool kUnderThreadSanitizer = false;
#endif

}  // namespace smdebug::testing
