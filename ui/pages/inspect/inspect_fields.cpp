#include "ui/pages/inspect/inspect_fields.h"

#include <limits>

#include "core/control/messages.h"

namespace roper {
namespace {

std::vector<std::string> learnedQuantities() {
    return {"query_key_frequency", "value_frequency", "relative_bias", "least_denominator"};
}

Field<InspectQuestion> formerly(std::string key, Field<InspectQuestion> field) {
    field.former_keys = {std::move(key)};
    return field;
}

}  // namespace

const std::vector<Field<InspectQuestion>>& inspectFields() {
    using Q = InspectQuestion;
    const auto make = [](FieldInfo info, auto member) {
        return field<Q>(
            std::move(info), [member](Q & question) -> auto& { return question.*member; });
    };
    const auto makeOptional = [](FieldInfo info, auto member) {
        return optionalField<Q>(
            std::move(info), [member](Q & question) -> auto& { return question.*member; });
    };
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    static const std::vector<Field<Q>> fields = {
        makeOptional(
            {"", "at", "", "step: of a snapshot or, with a text, of a checkpoint", IntegerRange{0, kMost}},
            &Q::step),
        makeOptional({"", "text", "", "that the model reads or continues", AnyText()}, &Q::text),
        make({"", "layer", "", "layer of the head that is shown large, from 0", IntegerRange{0, 4095}},
             &Q::layer),
        make({"", "head", "", "head that is shown large, from 0", IntegerRange{0, 4095}}, &Q::head),
        make({"", "count", "tokens", "that the model generates", IntegerRange{0, kLongestContinuation}},
             &Q::count),
        make({"", "temperature", "", "0 takes the likeliest token", RealRange{0, 100}}, &Q::temperature),
        make({"", "seed", "", "seed of the sampling", IntegerRange{0, 1000000}}, &Q::seed),
        formerly("character", make({"", "token", "", "generated token whose step is framed, from 0",
                                    IntegerRange{0, kLongestContinuation}},
                                   &Q::token)),
        make({"", "problems", "", "of each size", IntegerRange{0, 1024}}, &Q::problems),
        makeOptional({"", "quantity", "", "of learned-positions", Choice{learnedQuantities()}},
                     &Q::quantity)};
    return fields;
}

}  // namespace roper
