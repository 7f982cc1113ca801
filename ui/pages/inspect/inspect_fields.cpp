#include "ui/pages/inspect/inspect_fields.h"

#include <limits>

#include "ui/pages/inspect/walkthrough_panel.h"

namespace roper {
namespace {

/// A field of the question, as a field of a figure's settings.
Field<InspectFigureSettings> ofQuestion(const Field<Question>& field) {
    Field<InspectFigureSettings> made;
    static_cast<FieldInfo&>(made) = field;
    made.text = [field](const InspectFigureSettings& picture) { return field.text(picture.question); };
    made.set = [field](InspectFigureSettings& picture, std::string_view text) {
        field.set(picture.question, text);
    };
    return made;
}

/// The setting `quantity`, which chooses what the figures of pairs show, and what learned-positions shows.
Field<InspectFigureSettings> quantityField() {
    static const std::vector<std::string> of_pairs = {"score_share", "query_norm", "key_norm", "value_norm"};
    std::vector<std::string> names = of_pairs;
    for (const char* learned :
         {"query_key_frequency", "value_frequency", "relative_bias", "least_denominator"})
        names.emplace_back(learned);
    Field<InspectFigureSettings> made;
    static_cast<FieldInfo&>(made) = {
        "", "quantity", "",
        "for bands and head-bands: the quantity of each pair; for learned-positions: one of the last four",
        Choice{names}};
    made.text = [](const InspectFigureSettings& picture) {
        return picture.learned.value_or(of_pairs.at(static_cast<std::size_t>(picture.quantity)));
    };
    made.set = [info = static_cast<FieldInfo>(made)](InspectFigureSettings& picture, std::string_view text) {
        const std::size_t chosen = readChoice(info, text);
        if (chosen < of_pairs.size())
            picture.quantity = static_cast<PairQuantity>(chosen);
        else
            picture.learned = std::string(text);
    };
    return made;
}

}  // namespace

const std::vector<Field<InspectFigureSettings>>& inspectFields() {
    using P = InspectFigureSettings;
    static const std::vector<Field<P>> fields = [] {
        std::vector<Field<P>> all;
        for (const Field<Question>& one : questionFields())
            if (one.name != "what" && one.name != "token") all.push_back(ofQuestion(one));
        all.push_back(field<P>({"", "shade", "", "for surprise: what the shading of tokens shows",
                                Choice{{"trained", "changed", "difference"}}},
                               &P::shade));
        all.push_back(field<P>({"", "colour", "", "for head-atlas: what the colors of the dots show",
                                Choice{{"label", "slow_share", "layer", "induction", "copying", "first_token",
                                        "learned_sink", "rotated_share"}}},
                               &P::color_by));
        all.push_back(field<P>({"", "expert_color", "",
                                "for experts: the number of the expert with the largest score, or its weight",
                                Choice{{"index", "weight"}}},
                               &P::expert_color));
        all.push_back(quantityField());
        all.push_back(field<P>({"", "reach", "", "for reach: mean weight or mean score by distance",
                                Choice{{"weight", "score"}}},
                               &P::reach));
        all.push_back(formerly(
            "character", optionalField<P>({"", "token", "",
                                           "predictions: after which token; walkthrough: of which token; "
                                           "continuation: which generated one; from 0",
                                           IntegerRange{0, 1 << 20}},
                                          memberAt<P>(&P::token))));
        all.push_back(
            optionalField<P>({"", "key", "",
                              "for walkthrough: token whose key and value are shown, from 0 (default: "
                              "the one with the largest weight)",
                              IntegerRange{0, 1 << 20}},
                             memberAt<P>(&P::key)));
        all.push_back(optionalField<P>(
            {"", "stage", "",
             "for walkthrough: stage of the computation; those that rotate are drawn by walkthrough-pairs",
             Choice{WalkthroughPanel::stageNames()}},
            memberAt<P>(&P::stage)));
        all.push_back(optionalField<P>({"", "at", "", "step of a snapshot or, with a text, of a checkpoint",
                                        IntegerRange{0, std::numeric_limits<std::int64_t>::max()}},
                                       memberAt<P>(&P::step)));
        all.push_back(
            field<P>({"", "problems", "", "for solved-by-size: problems of each size", IntegerRange{1, 1024}},
                     &P::problems));
        all.push_back(
            field<P>({"", "mean", "", "for head-bands, 1: the mean of all heads", Flag()}, &P::mean));
        all.push_back(field<P>(
            {"", "over_training", "",
             "for kernels and kernel-directions, 1: the chosen head at every checkpoint of a run", Flag()},
            &P::over_training));
        all.push_back(
            field<P>({"", "beside", "",
                      "for head-bands and kernels: another run, or a published model's path", AnyText()},
                     &P::comparison));
        return all;
    }();
    return fields;
}

}  // namespace roper
