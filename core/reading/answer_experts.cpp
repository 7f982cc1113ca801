#include <ATen/ATen.h>

#include <stdexcept>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/questions/experts_answer.h"
#include "core/reading/answers.h"

namespace roper {
namespace {

ExpertsOfLayer choicesOf(const ExpertMixture& mixture, std::int64_t layer, const ChosenExperts& chosen) {
    ExpertsOfLayer choices{layer, {}, {}, {}};
    choices.counts.resize(static_cast<std::size_t>(mixture.choices()));
    const auto expert = chosen.experts.accessor<std::int64_t, 2>();
    const auto weight = chosen.weights.accessor<float, 2>();
    for (std::int64_t t = 0; t < expert.size(0); ++t) {
        choices.experts.emplace_back();
        choices.weights.emplace_back();
        for (std::int64_t k = 0; k < expert.size(1); ++k) {
            choices.experts.back().push_back(expert[t][k]);
            choices.weights.back().push_back(static_cast<double>(weight[t][k]));
            ++choices.counts[static_cast<std::size_t>(expert[t][k])];
        }
    }
    return choices;
}

ExpertsAnswer expertsOf(const QuestionContext& context) {
    const ExpertMixture& mixture = context.model().mixture;
    if (mixture.experts == 0)
        throw std::invalid_argument(context.reader.model().name +
                                    " has no mixtures of experts: every token uses all of its parameters");
    constexpr std::ptrdiff_t kMaxTokens = 1024;
    if (std::ssize(context.ids) > kMaxTokens)
        throw Error(ErrorKind::usage, "the text has " + std::to_string(context.ids.size()) +
                                          " tokens; experts can be shown for at most " +
                                          std::to_string(kMaxTokens));
    ExpertsAnswer answer;
    answer.tokens = context.reader.textsOf(context.ids);
    ForwardHooks recorder;
    recorder.experts = [&](std::int64_t layer, const ChosenExperts& chosen) {
        answer.layers.push_back(choicesOf(mixture, layer, chosen));
    };
    context.reader.hidden(context.ids, context.change, recorder);
    return answer;
}

/// For people, how many tokens are routed to each expert; as a table, every choice.
void printExperts(const ExpertsAnswer& answer, const QuestionContext&, AnswerWriter& to) {
    to.columns(to.isText() ? "layer,expert,tokens" : "layer,position,token,expert,weight");
    for (const ExpertsOfLayer& choices : answer.layers) {
        if (to.isJson()) {
            to.line(nlohmann::ordered_json(nlohmann::json(choices)));
            continue;
        }
        if (to.isText()) {
            for (std::size_t expert = 0; expert < choices.counts.size(); ++expert)
                to.row({std::to_string(choices.layer), std::to_string(expert),
                        std::to_string(choices.counts[expert])});
            continue;
        }
        for (std::size_t t = 0; t < answer.tokens.size(); ++t)
            for (std::size_t k = 0; k < choices.experts[t].size(); ++k)
                to.row({std::to_string(choices.layer), std::to_string(t), tableCell(answer.tokens[t]),
                        std::to_string(choices.experts[t][k]), formatRounded(choices.weights[t][k], 6)});
    }
}

}  // namespace

AnswerHandler expertsAnswer() {
    return answerHandler(expertsOf, printExperts);
}

}  // namespace roper
