#pragma once

#include <QByteArray>
#include <memory>
#include <string_view>
#include <vector>

#include "core/questions/answers.h"
#include "core/questions/question.h"
#include "ui/pages/inspect/head_maps.h"

namespace roper {

/// A question that the Inspect page asks a model, and how its answer is read. Whether the answer depends on
/// the text, the change (`ModelChange`) or the chosen head follows from its `QuestionKind`.
struct AnswerSpec {
    enum class Change {
        if_supported,  ///< asks about the changed model, if the kind supports changes
        never,         ///< asks about the model as trained
        required,      ///< asks about the changed model, and only if there is a change
    };
    using Read = std::shared_ptr<const void> (*)(const QByteArray& payload);

    std::string_view name = {};  ///< unique among the specs
    std::string_view kind = {};  ///< name of the QuestionKind
    Read read = nullptr;         ///< null: `InspectState` reads it outside the GUI thread
    std::int64_t count = 0;      ///< setting `count` (`QuestionKind::count_meaning`); 0: the default
    Change change = Change::if_supported;
    bool on_request = false;  ///< asked only when the user requests it, because it takes many forward passes
    /// If no checkpoint is chosen, a run in training answers it with its current weights.
    bool is_live = false;
    bool provides_text = false;  ///< the request has its own text, which replaces that of the page

    const QuestionKind& questionKind() const { return roper::questionKind(kind); }
    bool dependsOnText() const { return questionKind().reads_text && !provides_text; }
    bool dependsOnHead() const { return questionKind().heads == QuestionKind::Heads::one; }
    bool dependsOnChange() const { return change != Change::never && questionKind().accepts_changes; }
};

using AnswerSpecs = std::vector<const AnswerSpec*>;

/// A spec whose answer has type `Answer`.
template <class Answer>
struct TypedAnswerSpec : AnswerSpec {};

/// Parses an answer in JSON. @throws Error (checkpoint) if it has another type
template <class Answer>
std::shared_ptr<const void> readAnswer(const QByteArray& payload) {
    return std::make_shared<const Answer>(
        parseAnswer<Answer>({payload.constData(), static_cast<std::size_t>(payload.size())}));
}
/// Reads an answer in safetensors with `read`.
template <auto read>
std::shared_ptr<const void> readTensors(const QByteArray& payload) {
    const auto answer = read(SafetensorsFile::parse(payload.toStdString(), "the model's answer"));
    return std::make_shared<std::add_const_t<decltype(answer)>>(answer);
}

/// The spec of a question whose kind has the same name, unless `more.kind` is set.
template <class Answer, AnswerSpec::Read read = readAnswer<Answer>>
constexpr TypedAnswerSpec<Answer> answerSpec(std::string_view name, AnswerSpec more = {}) {
    more.name = name;
    if (more.kind.empty()) more.kind = name;
    more.read = read;
    return {more};
}

namespace answers {

/// Candidates for a token that the page shows; candidates requested for a prediction with and without a head,
/// so that those of one list are found in the other; distances of a value kernel.
inline constexpr std::int64_t kCandidates = 10, kComparedCandidates = 200, kDistances = 64;

inline constexpr auto model = answerSpec<ModelSummary>("model");
inline constexpr auto predictions = answerSpec<TextPredictions>(
    "reading", {.kind = "logits", .count = kCandidates, .change = AnswerSpec::Change::never});
inline constexpr auto changed_predictions = answerSpec<TextPredictions>(
    "changed", {.kind = "logits", .count = kCandidates, .change = AnswerSpec::Change::required});
inline constexpr auto heads = answerSpec<HeadsAnswer>("heads");
inline constexpr auto thumbnails = answerSpec<HeadThumbnails, readTensors<readThumbnails>>("thumbnails");
inline constexpr TypedAnswerSpec<HeadMap> attention{{"attention", "attention"}};
inline constexpr auto maps = answerSpec<HeadMaps, readTensors<readHeadMaps>>("maps", {.is_live = true});
inline constexpr auto kernels = answerSpec<KernelsAnswer>("kernels", {.count = kDistances});
inline constexpr auto induction = answerSpec<InductionAnswer>("induction");
inline constexpr auto copying = answerSpec<CopyingAnswer>("copying");
inline constexpr auto sinks = answerSpec<SinksAnswer>("sinks");
inline constexpr auto score_parts = answerSpec<ScorePartsAnswer>("score_parts");
inline constexpr auto ov_by_distance = answerSpec<OvByDistance>("ov_by_distance");
inline constexpr auto kernel_history = answerSpec<KernelHistory>("kernel_history", {.count = kDistances});
inline constexpr auto token_map = answerSpec<TokenMap>("token_map");
inline constexpr auto walkthrough = answerSpec<Walkthrough>("walkthrough", {.count = kComparedCandidates});
inline constexpr auto lens = answerSpec<LensAnswer>("lens");
inline constexpr auto experts = answerSpec<ExpertsAnswer>("experts");
inline constexpr auto subsets = answerSpec<SubsetsAnswer>("subsets", {.on_request = true});
inline constexpr auto continuation = answerSpec<Continuation, readTensors<readContinuation>>(
    "continuation", {.on_request = true, .is_live = true, .provides_text = true});
inline constexpr auto generated_text =
    answerSpec<GeneratedText>("written", {.kind = "generate", .on_request = true, .provides_text = true});
inline constexpr auto lengths = answerSpec<LengthsAnswer>("lengths", {.on_request = true});
inline constexpr auto needle = answerSpec<NeedleAnswer>("needle", {.on_request = true});
inline constexpr auto solved = answerSpec<SolvedAnswer>("solved", {.kind = "solve", .on_request = true});
inline constexpr auto patch = answerSpec<PatchAnswer>("patch", {.on_request = true});
inline constexpr auto patch_positions =
    answerSpec<PatchAnswer>("patch_positions", {.kind = "patch", .on_request = true});

}  // namespace answers

}  // namespace roper
