#include "core/questions/question.h"

#include <limits>

namespace roper {

bool ModelChange::isNothing() const {
    return ablate.empty() && mute.empty() && !mute_heads && !no_rotation && !no_value_rotation &&
           !no_inverse && shift == 0 && base == 0 && scaling == ScalingMethod::none;
}

const std::vector<Field<Question>>& questionFields() {
    using Q = Question;
    const auto make = [](FieldInfo info, auto member) {
        return field<Q>(
            std::move(info), [member](Q & question) -> auto& { return question.*member; });
    };
    const auto ofChange = [](FieldInfo info, auto member) {
        return field<Q>(
            std::move(info), [member](Q & question) -> auto& { return question.change.*member; });
    };
    const auto chosen = [](FieldInfo info, auto member) {
        return optionalField<Q>(
            std::move(info), [member](Q & question) -> auto& { return question.change.*member; });
    };
    using C = ModelChange;
    constexpr IntegerRange kOfModel{0, 1023}, kAny{0, std::numeric_limits<std::int64_t>::max()};
    static const std::vector<Field<Q>> fields = {
        make({"", "what", "", "what is asked of the model", Choice{questionNames()}}, &Q::what),
        make({"", "text", "", "that the model reads", AnyText()}, &Q::text),
        make({"", "layer", "", "layer of the head that is shown, from 0", kOfModel}, &Q::layer),
        make({"", "head", "", "head that is shown, from 0", kOfModel}, &Q::head),
        optionalField<Q>(
            {"", "count", "", "candidates, tokens, distances, cells, bands or depths", IntegerRange{1, 4096}},
            [](Q & question) -> auto& { return question.count; }),
        make(
            {"", "distance", "tokens", "of a token map: how far back the token is", IntegerRange{0, 1 << 20}},
            &Q::distance),
        make({"", "temperature", "", "0 takes the likeliest token", RealRange{0, 100}}, &Q::temperature),
        make({"", "seed", "", "seed of the sampling", kAny}, &Q::seed),
        make({"", "needle", "", "sentence that is hidden in the text", AnyText{4096}}, &Q::needle),
        make({"", "question", "", "that is put after the text with the needle", AnyText{4096}}, &Q::question),
        make({"", "answer", "", "what the needle says, right after the question", AnyText{4096}}, &Q::answer),
        make({"", "other", "", "of patch: a text of as many tokens with another answer", AnyText()},
             &Q::other),
        make({"", "positions", "", "of patch, 1: position by position, of the head that is shown", Flag()},
             &Q::positions),
        chosen({"", "change_layer", "", "heads of this layer alone are changed, from 0", kOfModel},
               &C::layer),
        chosen(
            {"", "change_head", "", "this head of the layer, or of all layers, alone is changed", kOfModel},
            &C::head),
        ofChange({"", "ablate", "",
                  "heads that add nothing, or pairs that their scores do without: 2.1, 2.1:24-31, all:0-7; "
                  "several "
                  "with ; between them",
                  AnyText{4096}},
                 &C::ablate),
        ofChange(
            {"", "mute", "", "pairs that scores do without, such as 24-31; 0 rotates fastest", AnyText{4096}},
            &C::mute),
        ofChange({"", "mute_heads", "", "1: the heads add nothing", Flag()}, &C::mute_heads),
        ofChange({"", "no_rotation", "", "1: queries and keys are not rotated", Flag()}, &C::no_rotation),
        ofChange({"", "no_value_rotation", "", "of RoPER, 1: values, and outputs, are not rotated", Flag()},
                 &C::no_value_rotation),
        ofChange({"", "no_inverse", "", "of RoPER, 1: outputs are not rotated back", Flag()}, &C::no_inverse),
        ofChange({"", "shift", "positions", "added to every position of the rotation",
                  IntegerRange{-100000000, 100000000}},
                 &C::shift),
        ofChange({"", "base", "", "of the frequencies; 0: the model's own", RealRange{0, 1e15}}, &C::base),
        ofChange({"", "scaling", "", "how frequencies are changed for longer texts", Choice{scalingNames()}},
                 &C::scaling),
        ofChange({"", "factor", "", "of the scaling: how much longer texts are", RealRange{1, 10000}},
                 &C::factor),
        ofChange({"", "original_length", "tokens",
                  "of the scaling: texts of training; 0: what the model says", RealRange{0, 1e9}},
                 &C::original_length),
    };
    return fields;
}

std::vector<std::pair<std::string, std::string>> questionSettings(const Question& question) {
    std::vector<std::pair<std::string, std::string>> settings;
    const Question nothing;
    for (const Field<Question>& field : questionFields())
        if (field.text(question) != field.text(nothing))
            settings.emplace_back(field.name, field.text(question));
    return settings;
}

Question questionOf(const std::vector<std::pair<std::string, std::string>>& settings) {
    Question question;
    applySettings(questionFields(), question, settings);
    return question;
}

}  // namespace roper
