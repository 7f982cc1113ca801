#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/questions/induction.h"
#include "core/reading/answers.h"

namespace roper {
namespace {

constexpr std::int64_t kRepetitions = 4;

/// A repeated sequence of random tokens, after the special tokens that begin the model's texts.
struct RepeatedTokens {
    std::vector<std::int64_t> ids;
    std::int64_t marks = 0;   ///< number of these special tokens
    std::int64_t period = 0;  ///< length of the sequence, in tokens
};

/// All tokens that represent text.
std::vector<std::int64_t> tokensOfText(const ModelReader& reader) {
    std::vector<std::int64_t> ids;
    for (std::int64_t id = 0; id < reader.architecture().vocabulary; ++id)
        if (!reader.codec().isSpecial(id)) ids.push_back(id);
    return ids;
}

/// Number of random tokens: as the question says; by default fewer if the model does not have enough tokens
/// or positions.
/// @throws Error (usage) if the question asks for more than possible
std::int64_t periodOf(const QuestionContext& context, std::int64_t known, std::int64_t marks) {
    const PretrainedModel& model = context.reader.model();
    std::int64_t most = known;
    if (model.architecture.learned_positions)
        most = std::min(
            most, (model.weights.positions->out - model.architecture.first_position - marks) / kRepetitions);
    if (most < 2)
        throw Error(ErrorKind::usage, "the model has no room for two tokens that repeat " +
                                          std::to_string(kRepetitions) + " times");
    if (context.question.count && (*context.question.count > most || *context.question.count < 2))
        throw Error(ErrorKind::usage, "2 to " + std::to_string(most) +
                                          " tokens of this model can be drawn, not " +
                                          std::to_string(*context.question.count));
    return std::min(context.count(), most);
}

RepeatedTokens repeatedTokens(const QuestionContext& context) {
    const ModelReader& reader = context.reader;
    RepeatedTokens text{reader.codec().encode("")};
    std::erase_if(text.ids, [&](std::int64_t id) { return !reader.codec().isSpecial(id); });
    text.marks = std::ssize(text.ids);
    std::vector<std::int64_t> drawn = tokensOfText(reader);
    text.period = periodOf(context, std::ssize(drawn), text.marks);
    Random random(static_cast<std::uint64_t>(context.question.seed), Stream::sampling, 0);
    for (std::int64_t i = 0; i < text.period; ++i)  // the first part of a Fisher–Yates shuffle
        std::swap(drawn[static_cast<std::size_t>(i)],
                  drawn[static_cast<std::size_t>(random.between(i, std::ssize(drawn) - 1))]);
    for (std::int64_t i = 0; i < kRepetitions; ++i)
        text.ids.insert(text.ids.end(), drawn.begin(), drawn.begin() + text.period);
    return text;
}

InductionAnswer inductionOf(const QuestionContext& context) {
    const RepeatedTokens text = repeatedTokens(context);
    const std::int64_t P = text.period, T = std::ssize(text.ids);
    const at::Tensor sums = at::zeros({context.model().layers, context.model().heads}, at::kDouble);
    ForwardHooks recorder;
    recorder.attention = [&](std::int64_t layer, std::int64_t first, const at::Tensor& weights) {
        for (std::int64_t n = std::max(first, text.marks + P); n < first + weights.size(1); ++n)
            for (std::int64_t follower = n - P + 1; follower > text.marks; follower -= P)
                sums.select(0, layer).add_(weights.select(1, n - first).select(1, follower));
    };
    context.reader.hidden(text.ids, context.change, recorder);
    const at::Tensor means = sums / static_cast<double>(T - text.marks - P);
    const std::span<const std::int64_t> drawn(text.ids.begin() + text.marks, static_cast<std::size_t>(P));
    InductionAnswer answer{kRepetitions, context.reader.textsOf(drawn), {}};
    for (std::int64_t layer = 0; layer < context.model().layers; ++layer) {
        const double* const row = means[layer].const_data_ptr<double>();
        answer.score.emplace_back(row, row + context.model().heads);
        if (!context.model().hasHeads(layer))
            std::fill(answer.score.back().begin(), answer.score.back().end(), NAN);
    }
    return answer;
}

void printInduction(const InductionAnswer& answer, const QuestionContext& context, AnswerWriter& to) {
    writeScores("prefix_matching", answer.score, context, to,
                {{"repetitions", answer.repetitions}, {"tokens", answer.tokens}});
}

}  // namespace

AnswerHandler inductionAnswer() {
    return answerHandler(inductionOf, printInduction);
}

}  // namespace roper
