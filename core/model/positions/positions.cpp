#include "core/model/positions/positions.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/methods/list.h"

namespace roper {

#define DECLARE(name)                                                                                      \
    std::unique_ptr<Positions> name##Positions(const Specification& specification, Parameters& parameters, \
                                               at::TensorOptions options);
ROPER_METHODS(DECLARE)
#undef DECLARE

std::unique_ptr<Positions> makePositions(const Specification& specification, Parameters& parameters,
                                         at::TensorOptions options) {
#define CALL(name) \
    if (specification.model.position == #name) return name##Positions(specification, parameters, options);
    ROPER_METHODS(CALL)
#undef CALL
    TORCH_CHECK(false, "unknown position method ", specification.model.position);
}

PassPositions Positions::forPass(const TokenPositions& tokens) {
    const PositionMethod& method = specification_.model.method();
    if (method.longest) {
        const std::int64_t longest = method.longest(specification_.model, specification_.shape());
        if (tokens.T > longest)
            throw Error(ErrorKind::usage, "this model " + method.limit + " " + std::to_string(longest) +
                                              " positions and cannot read a text of " +
                                              std::to_string(tokens.T) + " tokens: " + method.for_longer);
    }
    PassPositions pass;
    const CosSin nothing = {at::empty({tokens.T, 0}, options_), at::empty({tokens.T, 0}, options_)};
    const bool single = tokens.single.defined();
    const auto of_tokens = [&](const at::Tensor& table) {
        return single ? table.narrow(0, 0, 1).unsqueeze(0).expand({tokens.single.size(0), 1, 0}) : table;
    };
    pass.queries = pass.keys = pass.values = {{of_tokens(nothing.cosine), of_tokens(nothing.sine)}};
    contribute(tokens, pass);
    return pass;
}

void Positions::rescale(const Scaling& scaling, double) {
    if (scaling.method != ScalingMethod::none)
        throw Error(ErrorKind::usage, "position = \"" + specification_.model.position +
                                          "\" has no frequencies that could be scaled");
}

Pairing Positions::pairing() const {
    return specification_.model.pairing;
}

void Positions::addBias(const TokenPositions& tokens, PassPositions& pass,
                        const std::function<at::Tensor(const at::Tensor& distances)>& ofDistances) const {
    const at::TensorOptions whole = options_.dtype(at::kLong);
    if (tokens.single.defined())
        pass.bias = ofDistances(tokens.single.unsqueeze(1) - at::arange(tokens.T, whole))
                        .transpose(0, 1)
                        .unsqueeze(2);
    else
        pass.distance_bias = ofDistances(at::arange(1 - tokens.T, tokens.T, whole));
}

std::int64_t Positions::atLeastTrained(std::int64_t T) const {
    return std::max(T, specification_.training.length);
}

}  // namespace roper
