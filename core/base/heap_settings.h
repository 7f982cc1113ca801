#pragma once

namespace roper {

/// Large tensors are allocated and freed in every step. Keeping their memory in the heap saves the kernel
/// from clearing fresh pages each time. To be called once, before the first tensor is created.
void keepFreedHeapMemory();

/// Its settings, in bytes: blocks up to the threshold come from the heap, which keeps that much when it is
/// empty and grows by the pad.
inline constexpr int kHeapThreshold = 1 << 30, kHeapPad = 64 << 20;

}  // namespace roper
