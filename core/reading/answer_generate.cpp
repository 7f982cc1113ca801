#include "core/base/text.h"
#include "core/reading/answers.h"

namespace roper {
namespace {

using ReportedProgress = ContinuationOptions::ReportedProgress;

GeneratedText generated(const QuestionContext& context,
                        ReportedProgress reported_progress = ReportedProgress::all,
                        const std::function<bool(std::int64_t id)>& receive = {}) {
    const Question& question = context.question;
    return context.reader.generate(
        context.ids,
        {context.count(), question.temperature, static_cast<std::uint64_t>(question.seed), reported_progress},
        receive, context.change);
}

/// Prints the text during generation, token by token.
void printStreaming(const QuestionContext& context, std::ostream& out) {
    const TextCodec& codec = context.reader.codec();
    std::string unfinished;  // a character may span several tokens
    generated(context, ReportedProgress::prompt, [&](std::int64_t id) {
        if (codec.isSpecial(id)) return true;
        unfinished += codec.textOf(id);
        const std::size_t end = std::min(findInvalidUtf8(unfinished), unfinished.size());
        constexpr std::size_t kMaxCharacterBytes = 4;
        const std::size_t whole = unfinished.size() - end < kMaxCharacterBytes ? end : unfinished.size();
        out << replaceControlCharacters(unfinished.substr(0, whole)) << std::flush;
        unfinished.erase(0, whole);
        return true;
    });
    if (!unfinished.empty()) out << "\uFFFD";  // for a character cut off by the end
    out << std::endl;
}

void printGenerated(const QuestionContext& context, AnswerWriter& to) {
    if (to.isText()) return printStreaming(context, to.text());
    const GeneratedText written = generated(context);
    if (to.isJson())
        return to.line({{"ids", context.ids},
                        {"generated", written.generated},
                        {"probability", written.probability},
                        {"text", written.text}});
    to.columns("position,id,token,probability");
    for (std::size_t i = 0; i < written.generated.size(); ++i)
        to.row({std::to_string(context.ids.size() + i), std::to_string(written.generated[i]),
                tableCell(written.tokens[context.ids.size() + i]), formatRounded(written.probability[i], 5)});
}

}  // namespace

AnswerHandler generateAnswer() {
    return {[](const QuestionContext& context) { return formatAnswer(generated(context)); }, &printGenerated};
}

}  // namespace roper
