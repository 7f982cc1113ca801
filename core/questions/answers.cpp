#include "core/questions/answers.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/error.h"

namespace nlohmann {

template <>
struct adl_serializer<Eigen::VectorXd> {
    static void to_json(json& to, const Eigen::VectorXd& numbers) {
        to = std::vector<double>(numbers.begin(), numbers.end());
    }
    static void from_json(const json& from, Eigen::VectorXd& numbers) {
        const auto read = from.get<std::vector<double>>();
        numbers = Eigen::Map<const Eigen::VectorXd>(read.data(), static_cast<Eigen::Index>(read.size()));
    }
};

}  // namespace nlohmann

namespace roper {

// Members are sent under their own names.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ModelSummary, name, family, layers, heads, key_value_heads, head_dim,
                                   width, feed_forward, vocabulary, context, parameters, causal, rotates,
                                   rotates_values, theta, notes, has_problems, checkpoints, gflops)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Prediction, id, token, logit, probability)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TextReading, ids, tokens, nll, loss, predictions)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BandUse, share, rest, variance)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HeadReport, layer, head, entropy, mean_distance, first, self, previous,
                                   local, same, induction, bands, slow_share, query_norms, key_norms,
                                   value_norms)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HeadsAnswer, tokens, theta, heads)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GeneratedText, ids, generated, tokens, probability, text)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ValueKernel, norm, cosine)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelsAnswer, kernels)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelHistory, layer, head, steps, kernels)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TokenMap, layer, head, distance, tokens, logits)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BandSubset, kept, loss)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SubsetsAnswer, bands, subsets)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SolvedAnswer, prompts, solved, changed)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LengthsAnswer::Variant, scaling, nll)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LengthsAnswer, factor, trained, variants)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NeedleAnswer, lengths, depths, nll, found)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LensAnswer, tokens, top, probability, nll)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PatchAnswer, layer, head, tokens, other_tokens, answer, other_answer,
                                   difference, other_difference, restored)

namespace {

/// JSON has no NaN and no infinity: a number that is none was written as null.
void nullsToNaN(nlohmann::json& json) {
    if (json.is_null()) json = std::numeric_limits<double>::quiet_NaN();
    if (!json.is_structured()) return;
    for (nlohmann::json& member : json)
        nullsToNaN(member);
}

}  // namespace

std::int64_t SolvedAnswer::lost() const {
    std::int64_t all = 0;
    for (std::size_t i = 0; i < solved.size(); ++i)
        all += solved[i] && !changed[i] ? 1 : 0;
    return all;
}

std::int64_t SolvedAnswer::gained() const {
    return lost() + count(changed) - count(solved);
}

template <class Answer>
std::string formatAnswer(const Answer& answer) {
    return nlohmann::json(answer).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

template <class Answer>
Answer parseAnswer(std::string_view json) {
    try {
        nlohmann::json parsed = nlohmann::json::parse(json);
        nullsToNaN(parsed);
        return parsed.get<Answer>();
    } catch (const nlohmann::json::exception& error) {
        throw Error(
            ErrorKind::checkpoint,
            std::string("the model's answer cannot be read, it may be of another version: ") + error.what());
    }
}

template std::string formatAnswer<ModelSummary>(const ModelSummary&);
template ModelSummary parseAnswer<ModelSummary>(std::string_view);
template std::string formatAnswer<TextReading>(const TextReading&);
template TextReading parseAnswer<TextReading>(std::string_view);
template std::string formatAnswer<HeadsAnswer>(const HeadsAnswer&);
template HeadsAnswer parseAnswer<HeadsAnswer>(std::string_view);
template std::string formatAnswer<GeneratedText>(const GeneratedText&);
template GeneratedText parseAnswer<GeneratedText>(std::string_view);
template std::string formatAnswer<KernelsAnswer>(const KernelsAnswer&);
template KernelsAnswer parseAnswer<KernelsAnswer>(std::string_view);
template std::string formatAnswer<KernelHistory>(const KernelHistory&);
template KernelHistory parseAnswer<KernelHistory>(std::string_view);
template std::string formatAnswer<SubsetsAnswer>(const SubsetsAnswer&);
template SubsetsAnswer parseAnswer<SubsetsAnswer>(std::string_view);
template std::string formatAnswer<TokenMap>(const TokenMap&);
template TokenMap parseAnswer<TokenMap>(std::string_view);
template std::string formatAnswer<SolvedAnswer>(const SolvedAnswer&);
template SolvedAnswer parseAnswer<SolvedAnswer>(std::string_view);
template std::string formatAnswer<LengthsAnswer>(const LengthsAnswer&);
template LengthsAnswer parseAnswer<LengthsAnswer>(std::string_view);
template std::string formatAnswer<NeedleAnswer>(const NeedleAnswer&);
template NeedleAnswer parseAnswer<NeedleAnswer>(std::string_view);
template std::string formatAnswer<LensAnswer>(const LensAnswer&);
template LensAnswer parseAnswer<LensAnswer>(std::string_view);
template std::string formatAnswer<PatchAnswer>(const PatchAnswer&);
template PatchAnswer parseAnswer<PatchAnswer>(std::string_view);

}  // namespace roper
