#pragma once

// The instruction sets for which kernels are compiled (hwy/foreach_target.h): SSE4, AVX2 and AVX-512;
// Highway's portable code for other CPUs. To be included before Highway.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
