#pragma once

#include <QByteArray>
#include <memory>
#include <string_view>
#include <vector>

#include "core/questions/answers.h"
#include "core/questions/question.h"
#include "ui/pages/inspect/head_maps.h"

namespace roper {

/// A question about a model, as data. Whether the answer depends on the text, the change or the chosen head
/// follows from its kind (core/questions/question_kind.h).
struct AnswerSpec {
    enum class Change {
        if_supported,  ///< the model with the change, if the kind supports changes
        never,         ///< the model as trained
        required,      ///< the changed model; not asked without a change
    };
    using Read = std::shared_ptr<const void> (*)(const QByteArray& payload);

    std::string_view name, kind;
    Read read = nullptr;     ///< null: read outside the GUI thread
    std::int64_t count = 0;  ///< number of items, as the kind counts them; 0: the default
    Change change = Change::if_supported;
    bool on_request = false;  ///< asked only on request, because it takes many passes
    /// If no checkpoint is chosen, a run in training answers it with its current weights.
    bool is_live = false;
    bool provides_text = false;  ///< the request provides the text

    const QuestionKind& questionKind() const { return roper::questionKind(kind); }
    bool dependsOnText() const { return questionKind().reads_text && !provides_text; }
    bool dependsOnHead() const { return questionKind().heads == QuestionKind::Heads::one; }
    bool dependsOnChange() const { return change != Change::never && questionKind().can_change; }
};

using AnswerSpecs = std::vector<const AnswerSpec*>;

/// A need whose answer has type `Answer`.
template <class Answer>
struct TypedAnswerSpec : AnswerSpec {};

/// @throws Error (checkpoint) if the answer has another type
template <class Answer>
std::shared_ptr<const void> readAnswer(const QByteArray& payload) {
    return std::make_shared<const Answer>(
        parseAnswer<Answer>({payload.constData(), static_cast<std::size_t>(payload.size())}));
}
template <auto read>
std::shared_ptr<const void> readTensors(const QByteArray& payload) {
    const auto answer = read(SafetensorsFile::parse(payload.toStdString(), "the model's answer"));
    return std::make_shared<std::add_const_t<decltype(answer)>>(answer);
}

namespace answers {

/// Candidates that a page shows; those among which a candidate of one model is found in the other's list.
inline constexpr std::int64_t kCandidates = 10, kComparedCandidates = 200, kDistances = 64;

inline constexpr TypedAnswerSpec<ModelSummary> model{{"model", "model", readAnswer<ModelSummary>}};
inline constexpr TypedAnswerSpec<TextReading> reading{
    {"reading", "logits", readAnswer<TextReading>, kCandidates, AnswerSpec::Change::never}};
inline constexpr TypedAnswerSpec<TextReading> changed{
    {"changed", "logits", readAnswer<TextReading>, kCandidates, AnswerSpec::Change::required}};
inline constexpr TypedAnswerSpec<HeadsAnswer> heads{{"heads", "heads", readAnswer<HeadsAnswer>}};
inline constexpr TypedAnswerSpec<HeadThumbnails> thumbnails{
    {"thumbnails", "thumbnails", readTensors<readThumbnails>}};
inline constexpr TypedAnswerSpec<HeadMap> attention{{"attention", "attention"}};
inline constexpr TypedAnswerSpec<HeadMaps> maps{
    {.name = "maps", .kind = "maps", .read = readTensors<readHeadMaps>, .is_live = true}};
inline constexpr TypedAnswerSpec<KernelsAnswer> kernels{
    {"kernels", "kernels", readAnswer<KernelsAnswer>, kDistances}};
inline constexpr TypedAnswerSpec<InductionAnswer> induction{
    {"induction", "induction", readAnswer<InductionAnswer>}};
inline constexpr TypedAnswerSpec<CopyingAnswer> copying{{"copying", "copying", readAnswer<CopyingAnswer>}};
inline constexpr TypedAnswerSpec<SinksAnswer> sinks{{"sinks", "sinks", readAnswer<SinksAnswer>}};
inline constexpr TypedAnswerSpec<ScorePartsAnswer> score_parts{
    {"score_parts", "score_parts", readAnswer<ScorePartsAnswer>}};
inline constexpr TypedAnswerSpec<OvByDistance> ov_by_distance{
    {"ov_by_distance", "ov_by_distance", readAnswer<OvByDistance>}};
inline constexpr TypedAnswerSpec<KernelHistory> kernel_history{
    {"kernel_history", "kernel_history", readAnswer<KernelHistory>, kDistances}};
inline constexpr TypedAnswerSpec<TokenMap> token_map{{"token_map", "token_map", readAnswer<TokenMap>}};
inline constexpr TypedAnswerSpec<Walkthrough> walkthrough{
    {"walkthrough", "walkthrough", readAnswer<Walkthrough>, kComparedCandidates}};
inline constexpr TypedAnswerSpec<LensAnswer> lens{{"lens", "lens", readAnswer<LensAnswer>}};
inline constexpr TypedAnswerSpec<ExpertsAnswer> experts{{"experts", "experts", readAnswer<ExpertsAnswer>}};
inline constexpr TypedAnswerSpec<SubsetsAnswer> subsets{
    {.name = "subsets", .kind = "subsets", .read = readAnswer<SubsetsAnswer>, .on_request = true}};
inline constexpr TypedAnswerSpec<Continuation> continuation{{.name = "continuation",
                                                             .kind = "continuation",
                                                             .read = readTensors<readContinuation>,
                                                             .on_request = true,
                                                             .is_live = true,
                                                             .provides_text = true}};
inline constexpr TypedAnswerSpec<GeneratedText> generated_text{{.name = "written",
                                                                .kind = "generate",
                                                                .read = readAnswer<GeneratedText>,
                                                                .on_request = true,
                                                                .provides_text = true}};
inline constexpr TypedAnswerSpec<LengthsAnswer> lengths{
    {.name = "lengths", .kind = "lengths", .read = readAnswer<LengthsAnswer>, .on_request = true}};
inline constexpr TypedAnswerSpec<NeedleAnswer> needle{
    {.name = "needle", .kind = "needle", .read = readAnswer<NeedleAnswer>, .on_request = true}};
inline constexpr TypedAnswerSpec<SolvedAnswer> solved{
    {.name = "solved", .kind = "solve", .read = readAnswer<SolvedAnswer>, .on_request = true}};
inline constexpr TypedAnswerSpec<PatchAnswer> patch{
    {.name = "patch", .kind = "patch", .read = readAnswer<PatchAnswer>, .on_request = true}};
inline constexpr TypedAnswerSpec<PatchAnswer> patch_positions{
    {.name = "patch_positions", .kind = "patch", .read = readAnswer<PatchAnswer>, .on_request = true}};

}  // namespace answers

}  // namespace roper
