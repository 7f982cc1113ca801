#pragma once

namespace roper {

// Whether this program was compiled with AddressSanitizer, or with it or ThreadSanitizer.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressSanitizer = true, kSanitizer = true;
#elif defined(__SANITIZE_THREAD__)
inline constexpr bool kAddressSanitizer = false, kSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false, kSanitizer = false;
#endif

}  // namespace roper
