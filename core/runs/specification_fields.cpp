#include <limits>

#include "core/runs/specification.h"

namespace roper {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

using S = Specification;
using Integer = SpecificationField::Integer;
using Real = SpecificationField::Real;
using Text = SpecificationField::Text;
using Choice = SpecificationField::Choice;

std::vector<SpecificationField> aboutAndTask() {
    return {{"about", "title", "", "Name shown on the preset's card",
             Text{[](S & s) -> auto& {return s.about.title;
}
}  // namespace
}  // namespace roper
, {"about", "teaches", "", "What one learns from the run, in a sentence",
   Text{[](S & s) -> auto& {return s.about.teaches;
}
}
}
, {"about", "minutes", "minutes", "How long the run takes on two CPU cores, as measured; 0 if not known",
   Real{[](S & s) -> auto& {return s.about.minutes;
}
, 0, 1e7
}
}
,

    {"task", "name", "", "What is learned: step-by-step addition, substring by index, substring by prefix",
     Choice{[](S & s) -> auto& {return s.task.name;
}
, {
    "addition", "index", "prefix"
}
}
}
, {"task", "digits_max", "digits", "Addition: the most digits of an operand",
   Integer{[](S & s) -> auto& {return s.task.digits_max;
}
, 1, 18
}
}
, {"task", "string_min", "letters", "Index: the shortest string",
   Integer{[](S & s) -> auto& {return s.task.string_min;
}
, 1, 10000
}
}
, {"task", "string_max", "letters", "Index: the longest string",
   Integer{[](S & s) -> auto& {return s.task.string_max;
}
, 1, 10000
}
}
, {"task", "substring_length", "letters", "Prefix: letters repeated after each '>'",
   Integer{[](S & s) -> auto& {return s.task.substring_length;
}
, 1, 100000
}
}
, {"task", "random_min", "letters", "Prefix: the fewest fresh letters before each '>'",
   Integer{[](S & s) -> auto& {return s.task.random_min;
}
, 0, 100000
}
}
, {"task", "random_max", "letters", "Prefix: the most fresh letters before each '>'",
   Integer{[](S & s) -> auto& {return s.task.random_max;
}
, 0, 100000
}
}
,
}
;
}

std::vector<SpecificationField> model() {
    return {{"model", "position", "",
             "How the model knows positions: RoPE turns queries and keys, RoPER values too",
             Choice{[](S & s) -> auto& {return s.model.position;
}
, {
    "rope", "roper"
}
}
}
, {"model", "width", "features", "Width of the residual stream; divisible by heads",
   Integer{[](S & s) -> auto& {return s.model.width;
}
, 2, 65536
}
}
, {"model", "layers", "", "Transformer blocks", Integer{[](S & s) -> auto& {return s.model.layers;
}
, 1, 1024
}
}
, {"model", "heads", "", "Attention heads a layer; width/heads must be even",
   Integer{[](S & s) -> auto& {return s.model.heads;
}
, 1, 1024
}
}
, {"model", "feed_forward", "features", "Width inside the feed-forward part",
   Integer{[](S & s) -> auto& {return s.model.feed_forward;
}
, 1, 262144
}
}
, {"model", "norm", "", "LayerNorm before each part (pre) or after each sum (post)",
   Choice{[](S & s) -> auto& {return s.model.norm;
}
, {
    "pre", "post"
}
}
}
, {"model", "activation", "", "Non-linearity of the feed-forward part",
   Choice{[](S & s) -> auto& {return s.model.activation;
}
, {
    "gelu", "relu"
}
}
}
, {"model", "dropout", "probability", "Chance that a feature of a part's output is left out while training",
   Real{[](S & s) -> auto& {return s.model.dropout;
}
, 0, 0.95
}
}
, {"model", "pairing", "", "Which features turn together: i with i+d/2 (half) or 2i with 2i+1 (interleaved)",
   Choice{[](S & s) -> auto& {return s.model.pairing;
}
, {
    "half", "interleaved"
}
}
}
, {"model", "rotary_fraction", "of head_dim", "Share of the features of queries and keys that turn",
   Real{[](S & s) -> auto& {return s.model.rotary_fraction;
}
, 0, 1
}
}
, {"model", "value_rotary_fraction", "of head_dim", "Share of the features of values that turn (RoPER only)",
   Real{[](S & s) -> auto& {return s.model.value_rotary_fraction;
}
, 0, 1
}
}
, {"model", "base", "", "b in the frequencies θ_i = b^(−2i/d)", Real{[](S & s) -> auto& {return s.model.base;
}
, 1.000001, 1e15
}
}
, {"model", "schedule", "", "Frequencies b^(−2i/d) (standard) or b^(−i/d) (intro)",
   Choice{[](S & s) -> auto& {return s.model.schedule;
}
, {
    "standard", "intro"
}
}
}
,
}
;
}

std::vector<SpecificationField> training() {
    return {{"training", "steps", "steps", "Optimizer steps of the whole run",
             Integer{[](S & s) -> auto& {return s.training.steps;
}
, 1, 1000000000
}
}
, {"training", "batch", "sequences", "Sequences a step", Integer{[](S & s) -> auto& {return s.training.batch;
}
, 1, 65536
}
}
, {"training", "length", "characters", "Characters of a sequence; the model is fed all but the last",
   Integer{[](S & s) -> auto& {return s.training.length;
}
, 2, 1048576
}
}
, {"training", "learning_rate", "", "Highest learning rate, reached after warm-up",
   Real{[](S & s) -> auto& {return s.training.learning_rate;
}
, 0, 10
}
}
, {"training", "warmup_steps", "steps", "Steps over which the learning rate rises from 0",
   Integer{[](S & s) -> auto& {return s.training.warmup_steps;
}
, 0, 1000000000
}
}
, {"training", "decay", "", "Course of the learning rate after warm-up, to the last step",
   Choice{[](S & s) -> auto& {return s.training.decay;
}
, {
    "constant", "cosine", "linear"
}
}
}
, {"training", "final_fraction", "of learning_rate", "Where cosine and linear decay end",
   Real{[](S & s) -> auto& {return s.training.final_fraction;
}
, 0, 1
}
}
, {"training", "beta1", "", "AdamW: decay of the gradient's mean",
   Real{[](S & s) -> auto& {return s.training.beta1;
}
, 0, 0.999999
}
}
, {"training", "beta2", "", "AdamW: decay of the squared gradient's mean",
   Real{[](S & s) -> auto& {return s.training.beta2;
}
, 0, 0.9999999
}
}
, {"training", "epsilon", "", "AdamW: added to the root of the squared gradient's mean",
   Real{[](S & s) -> auto& {return s.training.epsilon;
}
, 0, 1
}
}
, {"training", "weight_decay", "", "AdamW: decoupled weight decay of the matrices; 0 makes it Adam",
   Real{[](S & s) -> auto& {return s.training.weight_decay;
}
, 0, 10
}
}
, {"training", "clip_norm", "", "Gradients with a larger total norm are scaled to it; 0 never clips",
   Real{[](S & s) -> auto& {return s.training.clip_norm;
}
, 0, 1e6
}
}
, {"training", "data_seed", "", "Seed of the training and evaluation problems",
   Integer{[](S & s) -> auto& {return s.training.data_seed;
}
, 0, kMost
}
}
, {"training", "model_seed", "", "Seed of the initial weights and of dropout",
   Integer{[](S & s) -> auto& {return s.training.model_seed;
}
, 0, kMost
}
}
, {"training", "report_every", "steps", "Steps between rows of metrics.csv",
   Integer{[](S & s) -> auto& {return s.training.report_every;
}
, 1, 1000000000
}
}
,
}
;
}

std::vector<SpecificationField> evaluationAndRest() {
    return {{"evaluation", "every", "steps", "Steps between evaluations; 0 evaluates only at the end",
             Integer{[](S & s) -> auto& {return s.evaluation.every;
}
, 0, 1000000000
}
}
, {"evaluation", "problems", "problems", "Problems (or, for the prefix task, sequences) of an evaluation",
   Integer{[](S & s) -> auto& {return s.evaluation.problems;
}
, 1, 65536
}
}
, {"checkpoints", "every", "steps", "Steps between checkpoints; 0 saves only at the end",
   Integer{[](S & s) -> auto& {return s.checkpoints.every;
}
, 0, 1000000000
}
}
, {"checkpoints", "keep", "checkpoints", "Newest checkpoints kept; the best one by evaluation stays as well",
   Integer{[](S & s) -> auto& {return s.checkpoints.keep;
}
, 1, 1000000
}
}
, {"device", "name", "", "auto, cpu, cuda or cuda:0, cuda:1, …",
   Text{[](S & s) -> auto& {return s.device.name;
}
}
}
, {"device", "threads", "threads", "CPU threads; 0 takes one a core",
   Integer{[](S & s) -> auto& {return s.device.threads;
}
, 0, 4096
}
}
,
}
;
}

}  // namespace

const std::vector<SpecificationField>& specificationFields() {
    static const std::vector<SpecificationField> fields = [] {
        std::vector<SpecificationField> all;
        for (const auto& part : {aboutAndTask(), model(), training(), evaluationAndRest()})
            all.insert(all.end(), part.begin(), part.end());
        return all;
    }();
    return fields;
}

}  // namespace roper
