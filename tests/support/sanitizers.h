#pragma once

namespace roper {

/// Whether this program was compiled with AddressSanitizer or ThreadSanitizer (cmake/OwnCode.cmake).
#ifdef ROPER_SANITIZED
inline constexpr bool kSanitizer = true;
#else
inline constexpr bool kSanitizer = false;
#endif

}  // namespace roper
