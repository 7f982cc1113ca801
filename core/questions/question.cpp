#include "core/questions/question.h"

#include <algorithm>
#include <limits>

#include "core/base/text.h"

namespace roper {

bool ModelChange::isEmpty() const {
    return ablate.empty() && mute.empty() && !mute_heads && !no_rotation && !no_value_rotation &&
           !no_inverse && shift == 0 && base == 0 && scaling == ScalingMethod::none;
}

namespace {

constexpr IntegerRange kLayerOrHead{0, 1023};

std::vector<Field<Question>> questionOnlyFields() {
    using Q = Question;
    constexpr IntegerRange kAny{0, std::numeric_limits<std::int64_t>::max()};
    return {
        field<Q>({"", "what", "", "question about the model", Choice{questionNames(), formerQuestionNames()}},
                 &Q::what),
        field<Q>({"", "text", "", "input text", AnyText()}, &Q::text),
        optionalField<Q>({"", "layer", "", "layer to show, counted from 0", kLayerOrHead},
                         memberAt<Q>(&Q::layer)),
        optionalField<Q>({"", "head", "", "head to show, counted from 0", kLayerOrHead},
                         memberAt<Q>(&Q::head)),
        optionalField<Q>(
            {"", "count", "", "number of items such as candidates, tokens or distances (see each question)",
             IntegerRange{1, 4096}},
            memberAt<Q>(&Q::count)),
        field<Q>(
            {"", "distance", "tokens", "for token_map: distance assumed between the query and each token",
             IntegerRange{0, 1 << 20}},
            &Q::distance),
        optionalField<Q>(
            {"", "token", "", "for walkthrough: token to follow, counted from 0 (default: the last)",
             IntegerRange{0, 1 << 20}},
            memberAt<Q>(&Q::token)),
        field<Q>({"", "temperature", "", "sampling temperature; 0: always the most likely token",
                  RealRange{0, 100}},
                 &Q::temperature),
        field<Q>(
            {"", "seed", "", "random seed, for sampling (generate) or the random tokens (induction)", kAny},
            &Q::seed),
        field<Q>({"", "needle", "", "for needle: sentence to hide in the text", AnyText{4096}}, &Q::needle),
        field<Q>({"", "question", "", "for needle: question appended to the text", AnyText{4096}},
                 &Q::question),
        field<Q>({"", "answer", "", "for needle: expected answer", AnyText{4096}}, &Q::answer),
        field<Q>({"", "other", "",
                  "for patch: second text, with the same number of tokens, that leads the model to predict a "
                  "different token",
                  AnyText()},
                 &Q::other),
        field<Q>({"", "positions", "",
                  "for patch: patch one head position by position, rather than all heads", Flag()},
                 &Q::positions),
    };
}

std::vector<Field<Question>> changeFields() {
    using Q = Question;
    using C = ModelChange;
    return {
        optionalField<Q>({"", "change_layer", "",
                          "layer to which no_rotation, no_value_rotation and no_inverse apply, counted from "
                          "0 (default: all layers)",
                          kLayerOrHead},
                         memberAt<Q>(&Q::change, &C::layer)),
        optionalField<Q>({"", "change_head", "",
                          "head to which no_rotation, no_value_rotation and no_inverse apply, counted from 0 "
                          "(default: all heads)",
                          kLayerOrHead},
                         memberAt<Q>(&Q::change, &C::head)),
        field<Q>({"", "ablate", "",
                  "heads to ablate, or rotated pairs to remove from their attention scores: 2.1 (layer 2, "
                  "head 1), 2 (all heads of layer 2), all, 2.1:24-31 (pairs 24 to 31; pair 0 rotates "
                  "fastest); separated by semicolons",
                  AnyText{4096}},
                 &Q::change, &C::ablate),
        field<Q>({"", "mute", "",
                  "deprecated; use ablate. Pairs to remove from the scores of the head given by layer and "
                  "head: 24-31",
                  AnyText{4096}},
                 &Q::change, &C::mute),
        field<Q>({"", "mute_heads", "",
                  "deprecated; use ablate. Ablate the head, or heads, selected by layer and head", Flag()},
                 &Q::change, &C::mute_heads),
        field<Q>({"", "no_rotation", "", "do not rotate queries and keys", Flag()}, &Q::change,
                 &C::no_rotation),
        field<Q>(
            {"", "no_value_rotation", "",
             "do not rotate values and outputs, which RoPER rotates in addition to queries and keys", Flag()},
            &Q::change, &C::no_value_rotation),
        field<Q>({"", "no_inverse", "",
                  "do not rotate outputs back, which RoPER does after summing rotated values", Flag()},
                 &Q::change, &C::no_inverse),
        field<Q>({"", "shift", "positions", "number added to every position before rotation",
                  IntegerRange{-100000000, 100000000}},
                 &Q::change, &C::shift),
        field<Q>({"", "base", "", "base of the rotation frequencies; 0: the model's own", RealRange{0, 1e15}},
                 &Q::change, &C::base),
        field<Q>({"", "scaling", "",
                  "how to change the rotation frequencies, usually for texts longer than those in training",
                  Choice{allNames<ScalingMethod>()}},
                 &Q::change, &C::scaling),
        field<Q>(
            {"", "factor", "", "for scaling: target context length divided by the training context length",
             RealRange{1, 10000}},
            &Q::change, &C::factor),
        field<Q>({"", "original_length", "tokens", "for scaling: training context length; 0: the model's own",
                  RealRange{0, 1e9}},
                 &Q::change, &C::original_length),
    };
}

}  // namespace

const std::vector<Field<Question>>& questionFields() {
    static const std::vector<Field<Question>> fields =
        concatenated<Field<Question>>({questionOnlyFields(), changeFields()});
    return fields;
}

bool isChangeSetting(std::string_view setting) {
    static const std::vector<Field<Question>> fields = changeFields();
    return std::ranges::any_of(fields, [&](const Field<Question>& field) { return field.name == setting; });
}

std::vector<std::pair<std::string, std::string>> questionSettings(const Question& question) {
    std::vector<std::pair<std::string, std::string>> settings;
    const Question nothing;
    for (const Field<Question>& field : questionFields())
        if (field.text(question) != field.text(nothing))
            settings.emplace_back(field.name, field.text(question));
    return settings;
}

Question parseQuestion(const std::vector<std::pair<std::string, std::string>>& settings) {
    Question question;
    applySettings(questionFields(), question, settings);
    return question;
}

}  // namespace roper
