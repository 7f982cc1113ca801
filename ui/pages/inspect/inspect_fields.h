#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/fields/field.h"

namespace roper {

/// What is to be seen of a run: a snapshot or a text, a layer and head, a prompt.
struct InspectQuestion {
    std::optional<std::int64_t> step;
    std::optional<std::string> text, quantity;
    std::int64_t layer = 0, head = 0;
    std::int64_t count = 64, token = 0, seed = 0, problems = 16;
    double temperature = 0;
};

/// Its settings, under the names of the command line.
const std::vector<Field<InspectQuestion>>& inspectFields();

}  // namespace roper
