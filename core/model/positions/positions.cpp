#include "core/model/positions/positions.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/methods/list.h"

namespace roper {

#define DECLARE(name, implementation)                                                        \
    std::unique_ptr<Positions> implementation##Positions(const Specification& specification, \
                                                         Parameters& parameters, at::TensorOptions options);
ROPER_METHODS(DECLARE)
#undef DECLARE

std::unique_ptr<Positions> makePositions(const Specification& specification, Parameters& parameters,
                                         at::TensorOptions options) {
#define CALL(name, implementation)             \
    if (specification.model.position == #name) \
        return implementation##Positions(specification, parameters, options);
    ROPER_METHODS(CALL)
#undef CALL
    TORCH_CHECK(false, "unknown position method ", specification.model.position);
}

PassPositions Positions::makePassPositions(const TokenPositions& tokens) {
    const PositionMethod& method = specification_.model.method();
    if (method.max_length) {
        const std::int64_t max_length = method.max_length(specification_.model, specification_.shape());
        if (tokens.T > max_length)
            throw Error(ErrorKind::usage,
                        "this model " + method.limit_text + " " + std::to_string(max_length) +
                            " positions and cannot read a text of " + std::to_string(tokens.T) +
                            " tokens: " + method.advice_for_longer);
    }
    PassPositions pass;
    const CosSin nothing = {at::empty({tokens.T, 0}, options_), at::empty({tokens.T, 0}, options_)};
    const bool single = tokens.single.defined();
    const auto of_tokens = [&](const at::Tensor& table) {
        return single ? table.narrow(0, 0, 1).unsqueeze(0).expand({tokens.single.size(0), 1, 0}) : table;
    };
    pass.queries = pass.keys = pass.values =
        pass.outputs = {{of_tokens(nothing.cosine), of_tokens(nothing.sine)}};
    contribute(tokens, pass);
    return pass;
}

void Positions::rescale(const Scaling& scaling, double) {
    if (scaling.method != ScalingMethod::none)
        throw Error(ErrorKind::usage,
                    "position = \"" + specification_.model.position + "\" has no frequencies to scale");
}

void Positions::addBias(const TokenPositions& tokens, PassPositions& pass,
                        const std::function<at::Tensor(const at::Tensor& distances)>& biasOfDistances) const {
    const at::TensorOptions integers = options_.dtype(at::kLong);
    if (tokens.single.defined())
        pass.bias = biasOfDistances(tokens.single.unsqueeze(1) - at::arange(tokens.T, integers))
                        .transpose(0, 1)
                        .unsqueeze(2);
    else
        pass.distance_bias = biasOfDistances(at::arange(1 - tokens.T, tokens.T, integers));
}

std::int64_t Positions::tableLength(std::int64_t T) const {
    return std::max(T, specification_.training.length);
}

}  // namespace roper
