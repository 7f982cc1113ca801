#include "ui/pages/models/models_fields.h"

namespace roper {
namespace {

/// A setting of the question as one of the picture.
Field<ModelsPicture> ofQuestion(const Field<Question>& field) {
    Field<ModelsPicture> made;
    static_cast<FieldInfo&>(made) = field;
    made.text = [field](const ModelsPicture& picture) { return field.text(picture.look); };
    made.set = [field](ModelsPicture& picture, std::string_view text) { field.set(picture.look, text); };
    return made;
}

}  // namespace

const std::vector<Field<ModelsPicture>>& modelsFields() {
    using P = ModelsPicture;
    const auto make = [](FieldInfo info, auto member) {
        return field<P>(
            std::move(info), [member](P & picture) -> auto& { return picture.*member; });
    };
    static const std::vector<Field<P>> fields = [&] {
        std::vector<Field<P>> all;
        for (const Field<Question>& one : questionFields())
            if (one.name != "what") all.push_back(ofQuestion(one));
        all.push_back(make({"", "shade", "", "of surprise: what tokens are shaded by",
                            Choice{{"trained", "changed", "difference"}}},
                           &P::shade));
        all.push_back(make({"", "colour", "", "of head-atlas: what dots are coloured by",
                            Choice{{"label", "slow_share", "layer"}}},
                           &P::colour));
        all.push_back(make({"", "quantity", "", "of bands: what is shown of each pair",
                            Choice{{"score_share", "query_norm", "key_norm", "value_norm"}}},
                           &P::quantity));
        all.push_back(make(
            {"", "reach", "", "of reach: mean weight or mean score by distance", Choice{{"weight", "score"}}},
            &P::reach));
        all.push_back(optionalField<P>(
            {"", "token", "", "of predictions: after which token, from 0", IntegerRange{0, 1 << 20}},
            [](P & picture) -> auto& { return picture.token; }));
        all.push_back(make({"", "mean", "", "of head-bands, 1: the mean of all heads", Flag()}, &P::mean));
        all.push_back(make(
            {"", "over_training", "",
             "of kernels and kernel-directions, 1: of a run, the chosen head at every checkpoint", Flag()},
            &P::over_training));
        all.push_back(make({"", "beside", "",
                            "of head-bands and kernels: another run, or a published model's path", AnyText()},
                           &P::beside));
        return all;
    }();
    return fields;
}

}  // namespace roper
