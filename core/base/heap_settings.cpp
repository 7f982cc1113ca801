#include "core/base/heap_settings.h"

#include <malloc.h>

namespace roper {

void keepFreedHeapMemory() {
    ::mallopt(M_MMAP_THRESHOLD, kHeapThreshold);
    ::mallopt(M_TRIM_THRESHOLD, kHeapThreshold);
    ::mallopt(M_TOP_PAD, kHeapPad);
}

}  // namespace roper
