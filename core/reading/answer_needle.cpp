#include <cmath>

#include "core/base/error.h"
#include "core/questions/needle_answer.h"
#include "core/reading/answers.h"

namespace roper {
namespace {

using Ids = std::vector<std::int64_t>;

/// The beginning of the text with the needle inserted, followed by the question and the answer.
struct Haystack {
    const Ids& text;
    Ids needle, question, answer;
    std::size_t marks = 0;  ///< special tokens at the beginning of the text, which remain there

    std::size_t added() const { return needle.size() + question.size() + answer.size(); }
    Ids with(std::size_t tokens, double depth) const {
        const auto insertion = static_cast<std::ptrdiff_t>(
            marks + static_cast<std::size_t>(std::lround(depth * static_cast<double>(tokens - marks))));
        Ids ids(text.begin(), text.begin() + insertion);
        ids.insert(ids.end(), needle.begin(), needle.end());
        ids.insert(ids.end(), text.begin() + insertion, text.begin() + static_cast<std::ptrdiff_t>(tokens));
        ids.insert(ids.end(), question.begin(), question.end());
        ids.insert(ids.end(), answer.begin(), answer.end());
        return ids;
    }
};

/// @throws Error (usage) for a needle or an answer without tokens, or a text that is too short for them
Haystack makeHaystack(const QuestionContext& context) {
    const TextCodec& codec = context.reader.codec();
    // Special tokens of the beginning must not occur inside the text.
    const auto encoded = [&](const std::string& text) {
        Ids ids = codec.encode(text);
        std::erase_if(ids, [&](std::int64_t id) { return codec.isSpecial(id); });
        return ids;
    };
    const Question& q = context.question;
    Haystack hay{context.ids, encoded(q.needle), encoded(q.question), encoded(q.answer)};
    while (hay.marks < context.ids.size() && codec.isSpecial(context.ids[hay.marks]))
        ++hay.marks;
    if (hay.answer.empty() || hay.needle.empty())
        throw Error(ErrorKind::usage, "the needle and its answer must each have at least one token");
    if (context.ids.size() < 2 * hay.added())
        throw Error(ErrorKind::usage, "the text has " + std::to_string(context.ids.size()) +
                                          " tokens; this needle needs a text of at least " +
                                          std::to_string(2 * hay.added()));
    return hay;
}

/// Uses four lengths of the text, with the needle at several depths in each.
NeedleAnswer needleOf(const QuestionContext& context) {
    constexpr std::int64_t kLengths = 4;
    const std::int64_t depths = context.count();
    const Haystack hay = makeHaystack(context);
    NeedleAnswer all;
    for (std::int64_t depth = 0; depth < depths; ++depth)
        all.depths.push_back(depths == 1 ? 0.5
                                         : static_cast<double>(depth) / static_cast<double>(depths - 1));
    for (std::int64_t i = 0; i < kLengths; ++i) {
        const std::size_t tokens = context.ids.size() * static_cast<std::size_t>(i + 1) / kLengths;
        all.lengths.push_back(static_cast<std::int64_t>(tokens + hay.added()));
        all.nll.emplace_back();
        all.found.emplace_back();
        for (std::int64_t depth = 0; depth < depths; ++depth) {
            const Ids text = hay.with(tokens, all.depths[static_cast<std::size_t>(depth)]);
            const TextPredictions reading =
                context.reader.read(text, 1, context.change, {i * depths + depth, kLengths * depths});
            double sum = 0;
            bool found = true;
            for (std::size_t k = text.size() - hay.answer.size(); k < text.size(); ++k) {
                sum += reading.nll[k - 1];
                found = found && reading.predictions[k - 1].front().id == text[k];
            }
            all.nll.back().push_back(sum / static_cast<double>(hay.answer.size()));
            all.found.back().push_back(found);
        }
    }
    return all;
}

void printNeedle(const NeedleAnswer& answer, const QuestionContext&, AnswerWriter& to) {
    to.columns("length,depth,nll,found");
    for (std::size_t i = 0; i < answer.lengths.size(); ++i)
        for (std::size_t depth = 0; depth < answer.depths.size(); ++depth) {
            const bool found = answer.found[i][depth];
            to.record({{"length", answer.lengths[i]},
                       {"depth", answer.depths[depth], 3},
                       {"nll", answer.nll[i][depth], 5},
                       {"found", found}});
        }
}

}  // namespace

AnswerHandler needleAnswer() {
    return answerHandler(needleOf, printNeedle);
}

}  // namespace roper
