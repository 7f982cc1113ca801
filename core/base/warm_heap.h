#pragma once

namespace roper {

/// Large tensors come and go every step. Keeping their memory in the heap spares the kernel from clearing
/// fresh pages each time. Called once, before the first tensor.
void keepHeapWarm();

/// What it sets, in bytes: blocks up to the threshold come from the heap, which keeps as much when it is
/// empty and grows by the pad.
inline constexpr int kHeapThreshold = 1 << 30, kHeapPad = 64 << 20;

}  // namespace roper
