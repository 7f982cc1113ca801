#include "core/training/token_texts.h"

#include <ATen/ATen.h>

#include <nlohmann/json.hpp>

namespace roper {

std::string textsOf(const Vocabulary& vocabulary, const at::Tensor& tokens) {
    nlohmann::json list = nlohmann::json::array();
    const auto values = tokens.accessor<std::int64_t, 1>();
    for (std::int64_t i = 0; i < values.size(0); ++i)
        list.push_back(vocabulary.decode(values[i]));
    return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace roper
