#include "core/base/text.h"
#include "core/reading/answers.h"

namespace roper {
namespace {

using Tells = ContinuationOptions::Tells;

GeneratedText generated(const Asked& asked, Tells tells = Tells::all,
                        const std::function<bool(std::int64_t id)>& take = {}) {
    const Question& question = asked.question;
    return asked.reader.generate(
        asked.ids, {asked.count(), question.temperature, static_cast<std::uint64_t>(question.seed), tells},
        take, asked.change);
}

/// Prints the text during generation, token by token.
void printAsItIsWritten(const Asked& asked, std::ostream& out) {
    const TextCodec& codec = asked.reader.codec();
    std::string unfinished;  // a character may span several tokens
    generated(asked, Tells::prompt, [&](std::int64_t id) {
        if (codec.isSpecial(id)) return true;
        unfinished += codec.textOf(id);
        const std::size_t end = std::min(firstNotUtf8(unfinished), unfinished.size());
        constexpr std::size_t kLongestCharacter = 4;
        const std::size_t whole = unfinished.size() - end < kLongestCharacter ? end : unfinished.size();
        out << withoutControls(unfinished.substr(0, whole)) << std::flush;
        unfinished.erase(0, whole);
        return true;
    });
    out << std::endl;
}

void printGenerated(const Asked& asked, AnswerWriter& to) {
    if (to.isText()) return printAsItIsWritten(asked, to.text());
    const GeneratedText written = generated(asked);
    if (to.isJson())
        return to.line({{"ids", asked.ids},
                        {"generated", written.generated},
                        {"probability", written.probability},
                        {"text", written.text}});
    to.columns("position,id,token,probability");
    for (std::size_t i = 0; i < written.generated.size(); ++i)
        to.row({std::to_string(asked.ids.size() + i), std::to_string(written.generated[i]),
                cellOf(written.tokens[asked.ids.size() + i]), formatRounded(written.probability[i], 5)});
}

}  // namespace

Answering generateAnswer() {
    return {[](const Asked& asked) { return formatAnswer(generated(asked)); }, &printGenerated};
}

}  // namespace roper
