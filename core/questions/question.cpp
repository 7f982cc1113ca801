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
        make({"", "what", "", "question that is asked", Choice{questionNames()}}, &Q::what),
        make({"", "text", "", "text for the model to read", AnyText()}, &Q::text),
        optionalField<Q>(
            {"", "layer", "", "layer that is shown, from 0", kOfModel},
            [](Q & question) -> auto& { return question.layer; }),
        optionalField<Q>(
            {"", "head", "", "head that is shown, from 0", kOfModel},
            [](Q & question) -> auto& { return question.head; }),
        optionalField<Q>(
            {"", "count", "", "how many: what is counted depends on the question", IntegerRange{1, 4096}},
            [](Q & question) -> auto& { return question.count; }),
        make({"", "distance", "tokens", "distance from the query to the token, for token_map",
              IntegerRange{0, 1 << 20}},
             &Q::distance),
        make({"", "temperature", "", "sampling temperature; 0 takes the likeliest token",
              RealRange{0, 100}},
             &Q::temperature),
        make({"", "seed", "", "seed of the random draws", kAny}, &Q::seed),
        make({"", "needle", "", "sentence hidden in the text, for needle", AnyText{4096}}, &Q::needle),
        make({"", "question", "", "question put after the text, for needle", AnyText{4096}}, &Q::question),
        make({"", "answer", "", "expected answer, for needle", AnyText{4096}}, &Q::answer),
        make({"", "other", "", "second text for patch: as many tokens, another answer", AnyText()},
             &Q::other),
        make({"", "positions", "", "for patch: one head position by position, rather than all heads", Flag()},
             &Q::positions),
        chosen(
            {"", "change_layer", "", "layer whose heads are changed, from 0 (default: all layers)", kOfModel},
            &C::layer),
        chosen({"", "change_head", "", "head that is changed, from 0 (default: all heads)", kOfModel},
               &C::head),
        ofChange({"", "ablate", "",
                  "heads to ablate, or pairs of features in their scores: 2.1 (layer and head), 2 (a layer), "
                  "all, 2.1:24-31 (pairs; 0 rotates fastest); several with ; between them",
                  AnyText{4096}},
                 &C::ablate),
        ofChange(
            {"", "mute", "", "former name of ablate for pairs of features, such as 24-31; 0 rotates fastest",
             AnyText{4096}},
            &C::mute),
        ofChange({"", "mute_heads", "", "former name of ablate for whole heads", Flag()}, &C::mute_heads),
        ofChange({"", "no_rotation", "", "leave queries and keys unrotated", Flag()}, &C::no_rotation),
        ofChange({"", "no_value_rotation", "", "leave values and outputs unrotated (RoPER)", Flag()},
                 &C::no_value_rotation),
        ofChange({"", "no_inverse", "", "do not rotate outputs back (RoPER)", Flag()}, &C::no_inverse),
        ofChange({"", "shift", "positions", "number added to every position before rotation",
                  IntegerRange{-100000000, 100000000}},
                 &C::shift),
        ofChange({"", "base", "", "base of the frequencies; 0: the model's own", RealRange{0, 1e15}},
                 &C::base),
        ofChange({"", "scaling", "", "scaling of the frequencies for longer texts", Choice{scalingNames()}},
                 &C::scaling),
        ofChange({"", "factor", "", "factor of the scaling: length of the text over that of training texts",
                  RealRange{1, 10000}},
                 &C::factor),
        ofChange({"", "original_length", "tokens",
                  "length of training texts, for the scaling; 0: the model's own", RealRange{0, 1e9}},
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
