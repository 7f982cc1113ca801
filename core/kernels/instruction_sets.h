#pragma once

// Which instruction sets kernels are compiled for (hwy/foreach_target.h), to be included before Highway:
// SSE4, AVX2 and AVX-512; what has none of them gets Highway's portable form.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
