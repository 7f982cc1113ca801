#include "core/base/console.h"

#include <iostream>

#include "core/base/text.h"

namespace roper {

void tellPerson(std::string_view text) {
    std::cerr << withoutControls(text) << std::endl;
}

}  // namespace roper
