#include "ui/shell/selection.h"

#include <algorithm>

namespace roper {

void Selection::set(Setup setup) {
    setup.head_dim = std::clamp(setup.head_dim - setup.head_dim % 2, 2, 256);
    setup.base = std::clamp(setup.base, 1.01, 1e9);
    setup.position = std::clamp(setup.position, -100000.0, 100000.0);
    setup.pair = std::clamp(setup.pair, 0, setup.head_dim / 2 - 1);
    if (setup == setup_) return;
    setup_ = setup;
    emit changed();
}

}  // namespace roper
