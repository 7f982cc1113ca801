#include "core/questions/question_kind.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {

const std::vector<QuestionKind>& questionKinds() {
    using Heads = QuestionKind::Heads;
    static const std::vector<QuestionKind> kinds = {
        {.name = "model", .help = "what the model is", .reads_text = false, .can_change = false},
        {.name = "loss", .help = "−ln p of every token, in nats"},
        {.name = "logits",
         .help = "the likeliest successors of every token",
         .counted = "candidates",
         .usual_count = 5},
        {.name = "generate",
         .help = "how the model continues the text",
         .counted = "tokens to generate",
         .usual_count = 32,
         .repeats_passes = true,
         .own = {"temperature", "seed"}},
        {.name = "heads", .help = "what every head does", .heads = Heads::chosen},
        {.name = "bands",
         .help = "what each pair of features contributes to the scores",
         .heads = Heads::chosen},
        {.name = "thumbnails",
         .help = "attention of all heads, in few cells",
         .counted = "cells of a side",
         .usual_count = 40},
        {.name = "attention", .help = "attention weights", .heads = Heads::one, .own = {"out"}},
        {.name = "kernels",
         .help = "the value kernel of every head by distance",
         .counted = "distances",
         .usual_count = 32,
         .heads = Heads::chosen,
         .reads_text = false,
         .can_change = false},
        {.name = "kernel_history",
         .help = "the value kernel of one head at every checkpoint of a run",
         .counted = "distances",
         .usual_count = 32,
         .heads = Heads::one,
         .reads_text = false,
         .can_change = false},
        {.name = "token_map",
         .help = "what one head adds to the logits for each token that it attends to",
         .heads = Heads::one,
         .can_change = false,
         .repeats_passes = true,
         .own = {"distance"}},
        {.name = "subsets",
         .help = "the loss with every subset of bands",
         .counted = "bands",
         .usual_count = 4,
         .repeats_passes = true},
        {.name = "lengths",
         .help = "the loss by position, with frequencies as they are and scaled",
         .repeats_passes = true,
         .own = {"factor", "original_length"}},
        {.name = "needle",
         .help = "whether the model finds a sentence hidden in the text",
         .counted = "depths",
         .usual_count = 5,
         .repeats_passes = true,
         .own = {"needle", "question", "answer"}},
        {.name = "lens", .help = "what every layer would predict (logit lens)", .repeats_passes = true},
        {.name = "solve",
         .help = "which of its task's problems a run solves",
         .counted = "problems",
         .usual_count = 64,
         .reads_text = false,
         .repeats_passes = true},
        {.name = "patch",
         .help = "which heads make the answers to two texts differ (activation patching)",
         .heads = Heads::chosen,
         .repeats_passes = true,
         .own = {"other", "positions"}},
    };
    return kinds;
}

const QuestionKind& questionKind(std::string_view name) {
    const auto found = std::find_if(questionKinds().begin(), questionKinds().end(),
                                    [&](const QuestionKind& kind) { return kind.name == name; });
    if (found != questionKinds().end()) return *found;
    throw Error(ErrorKind::usage, "no question is called \"" + onOneLine(std::string(name)) +
                                      "\"; there are " + join(questionNames(), ", "));
}

std::vector<std::string> questionNames() {
    std::vector<std::string> names;
    for (const QuestionKind& kind : questionKinds())
        names.push_back(kind.name);
    return names;
}

}  // namespace roper
