#include <limits>

#include "core/specification/specification.h"

namespace roper {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

using S = Specification;
using Integer = SpecificationField::Integer;
using Real = SpecificationField::Real;
using Text = SpecificationField::Text;
using Choice = SpecificationField::Choice;

/// Reaches a member of a section, such as model.width.
template <auto section, auto member>
auto& at(S& specification) {
    return specification.*section.*member;
}

std::vector<SpecificationField> aboutAndTask() {
    return {
        {"about", "title", "", "Name shown on the preset's card", Text{at<&S::about, &S::About::title>}},
        {"about", "teaches", "", "What one learns from the run, in a sentence",
         Text{at<&S::about, &S::About::teaches>}},
        {"about", "minutes", "minutes",
         "How long the run takes on two CPU cores, as measured; 0 if not known",
         Real{at<&S::about, &S::About::minutes>, 0, 1e7}},

        {"task", "name", "",
         "What is learned: step-by-step addition, substring by index, substring by prefix, any text",
         Choice{at<&S::task, &TaskSettings::name>, {"addition", "index", "prefix", "text"}}},
        {"task", "digits_max", "digits", "Addition: the most digits of an operand",
         Integer{at<&S::task, &TaskSettings::digits_max>, 1, 18}},
        {"task", "string_min", "letters", "Index: the shortest string",
         Integer{at<&S::task, &TaskSettings::string_min>, 1, 10000}},
        {"task", "string_max", "letters", "Index: the longest string",
         Integer{at<&S::task, &TaskSettings::string_max>, 1, 10000}},
        {"task", "substring_length", "letters", "Prefix: letters repeated after each '>'",
         Integer{at<&S::task, &TaskSettings::substring_length>, 1, 100000}},
        {"task", "random_min", "letters", "Prefix: the fewest fresh letters before each '>'",
         Integer{at<&S::task, &TaskSettings::random_min>, 0, 100000}},
        {"task", "random_max", "letters", "Prefix: the most fresh letters before each '>'",
         Integer{at<&S::task, &TaskSettings::random_max>, 0, 100000}},
        {"task", "text", "", "Text: a UTF-8 file, a folder of them, or the name of a bundled text (opticks)",
         Text{at<&S::task, &TaskSettings::text>}},
        {"task", "pieces", "pieces", "Text: size of the vocabulary that SentencePiece learns from it",
         Integer{at<&S::task, &TaskSettings::pieces>, 300, 1000000}},
        {"task", "vocabulary", "", "Text: how the pieces are learned",
         Choice{at<&S::task, &TaskSettings::vocabulary>, {"unigram", "bpe"}}},
        {"task", "validation_share", "of the text", "Text: its last part, never trained on, for validation",
         Real{at<&S::task, &TaskSettings::validation_share>, 0.001, 0.5}},
    };
}

std::vector<SpecificationField> model() {
    return {
        {"model", "position", "",
         "How positions are known: by turning q, k (and v: RoPER), adding to embeddings or scores, not at "
         "all",
         Choice{at<&S::model, &S::Model::position>,
                {"none", "learned", "sinusoidal", "t5", "alibi", "rope", "roper"}}},
        {"model", "attention", "",
         "Softmax of the scores, or linear in T: φ(q)·φ(k) turned in the numerator only, or 1 + cosine",
         Choice{at<&S::model, &S::Model::attention>, {"softmax", "linear_numerator", "linear_cosine"}}},
        {"model", "width", "features", "Width of the residual stream; divisible by heads",
         Integer{at<&S::model, &S::Model::width>, 2, 65536}},
        {"model", "layers", "", "Transformer blocks", Integer{at<&S::model, &S::Model::layers>, 1, 1024}},
        {"model", "heads", "", "Attention heads a layer; width/heads must be even",
         Integer{at<&S::model, &S::Model::heads>, 1, 1024}},
        {"model", "feed_forward", "features", "Width inside the feed-forward part",
         Integer{at<&S::model, &S::Model::feed_forward>, 1, 262144}},
        {"model", "norm", "", "LayerNorm before each part (pre) or after each sum (post)",
         Choice{at<&S::model, &S::Model::norm>, {"pre", "post"}}},
        {"model", "activation", "", "Non-linearity of the feed-forward part",
         Choice{at<&S::model, &S::Model::activation>, {"gelu", "relu"}}},
        {"model", "dropout", "probability",
         "Chance that a feature of a part's output is left out while training",
         Real{at<&S::model, &S::Model::dropout>, 0, 0.95}},
        {"model", "pairing", "",
         "Which features turn together: i with i+d/2 (half) or 2i with 2i+1 (interleaved)",
         Choice{at<&S::model, &S::Model::pairing>, {"half", "interleaved"}}},
        {"model", "rotary_fraction", "of head_dim", "Share of the features of queries and keys that turn",
         Real{at<&S::model, &S::Model::rotary_fraction>, 0, 1}},
        {"model", "value_rotary_fraction", "of head_dim",
         "Share of the features of values that turn (RoPER only)",
         Real{at<&S::model, &S::Model::value_rotary_fraction>, 0, 1}},
        {"model", "base", "", "b in the frequencies θ_i = b^(−2i/d); of sinusoids too",
         Real{at<&S::model, &S::Model::base>, 1.000001, 1e15}},
        {"model", "schedule", "", "Frequencies b^(−2i/d) (standard) or b^(−i/d) (intro)",
         Choice{at<&S::model, &S::Model::schedule>, {"standard", "intro"}}},
        {"model", "frequencies", "", "Fixed, or parameters of each layer that begin at the same values",
         Choice{at<&S::model, &S::Model::frequencies>, {"fixed", "trained"}}},
        {"model", "table_positions", "positions",
         "Learned table: its length; a longer text is refused. 0 takes training.length",
         Integer{at<&S::model, &S::Model::table_positions>, 0, 1048576}},
        {"model", "bias_buckets", "buckets", "T5: biases a head, shared by all layers",
         Integer{at<&S::model, &S::Model::bias_buckets>, 4, 4096}},
        {"model", "bias_distance", "positions", "T5: distances from here on share the last bucket",
         Integer{at<&S::model, &S::Model::bias_distance>, 3, 1048576}},
    };
}

std::vector<SpecificationField> training() {
    return {
        {"training", "objective", "",
         "Guess each token from those before (causal), or masked tokens from both sides (masked, RoFormer)",
         Choice{at<&S::training, &S::Training::objective>, {"causal", "masked"}}},
        {"training", "masked_share", "of the tokens",
         "Tokens to be guessed: 80 % of them masked, 10 % another token, 10 % as they are",
         Real{at<&S::training, &S::Training::masked_share>, 0.01, 0.9}},
        {"training", "steps", "steps", "Optimizer steps of the whole run",
         Integer{at<&S::training, &S::Training::steps>, 1, 1000000000}},
        {"training", "batch", "sequences", "Sequences a step",
         Integer{at<&S::training, &S::Training::batch>, 1, 65536}},
        {"training", "length", "tokens",
         "Characters (of a text: pieces) of a sequence; a causal model is fed all but the last",
         Integer{at<&S::training, &S::Training::length>, 2, 1048576}},
        {"training", "learning_rate", "", "Highest learning rate, reached after warm-up",
         Real{at<&S::training, &S::Training::learning_rate>, 0, 10}},
        {"training", "warmup_steps", "steps", "Steps over which the learning rate rises from 0",
         Integer{at<&S::training, &S::Training::warmup_steps>, 0, 1000000000}},
        {"training", "decay", "", "Course of the learning rate after warm-up, to the last step",
         Choice{at<&S::training, &S::Training::decay>, {"constant", "cosine", "linear"}}},
        {"training", "final_fraction", "of learning_rate", "Where cosine and linear decay end",
         Real{at<&S::training, &S::Training::final_fraction>, 0, 1}},
        {"training", "beta1", "", "AdamW: decay of the gradient's mean",
         Real{at<&S::training, &S::Training::beta1>, 0, 0.999999}},
        {"training", "beta2", "", "AdamW: decay of the squared gradient's mean",
         Real{at<&S::training, &S::Training::beta2>, 0, 0.9999999}},
        {"training", "epsilon", "", "AdamW: added to the root of the squared gradient's mean",
         Real{at<&S::training, &S::Training::epsilon>, 0, 1}},
        {"training", "weight_decay", "", "AdamW: decoupled weight decay of the matrices; 0 makes it Adam",
         Real{at<&S::training, &S::Training::weight_decay>, 0, 10}},
        {"training", "clip_norm", "", "Gradients with a larger total norm are scaled to it; 0 never clips",
         Real{at<&S::training, &S::Training::clip_norm>, 0, 1e6}},
        {"training", "data_seed", "", "Seed of the training and evaluation problems",
         Integer{at<&S::training, &S::Training::data_seed>, 0, kMost}},
        {"training", "model_seed", "", "Seed of the initial weights and of dropout",
         Integer{at<&S::training, &S::Training::model_seed>, 0, kMost}},
        {"training", "frequency_rate", "of learning_rate",
         "Learning rate of trained frequencies: AdamW moves each by about its rate a step; most are small",
         Real{at<&S::training, &S::Training::frequency_rate>, 0, 1}},
        {"training", "report_every", "steps", "Steps between rows of metrics.csv",
         Integer{at<&S::training, &S::Training::report_every>, 1, 1000000000}},
    };
}

std::vector<SpecificationField> evaluationAndRest() {
    return {
        {"evaluation", "every", "steps", "Steps between evaluations; 0 evaluates only at the end",
         Integer{at<&S::evaluation, &S::Evaluation::every>, 0, 1000000000}},
        {"evaluation", "problems", "problems",
         "Problems (or, for the prefix task and texts, sequences) of an evaluation",
         Integer{at<&S::evaluation, &S::Evaluation::problems>, 1, 65536}},
        {"evaluation", "temperature", "",
         "0 writes the likeliest character; above, characters are drawn from softmax(logits/temperature)",
         Real{at<&S::evaluation, &S::Evaluation::temperature>, 0, 100}},
        {"snapshots", "every", "steps",
         "Steps between snapshots of all attention maps, for the time scrubber; 0 takes none",
         Integer{at<&S::snapshots, &S::Snapshots::every>, 0, 1000000000}},
        {"snapshots", "characters", "tokens", "Length of the text that snapshots are taken of",
         Integer{at<&S::snapshots, &S::Snapshots::characters>, 2, 1024}},
        {"checkpoints", "every", "steps", "Steps between checkpoints; 0 saves only at the end",
         Integer{at<&S::checkpoints, &S::Checkpoints::every>, 0, 1000000000}},
        {"checkpoints", "keep", "checkpoints",
         "Newest checkpoints kept; the best one by evaluation stays as well",
         Integer{at<&S::checkpoints, &S::Checkpoints::keep>, 1, 1000000}},
        {"device", "name", "", "auto, cpu, cuda or cuda:0, cuda:1, …",
         Text{at<&S::device, &S::Device::name>}},
        {"device", "threads", "threads", "CPU threads; 0 takes one a core",
         Integer{at<&S::device, &S::Device::threads>, 0, 4096}},
        {"device", "kernel", "",
         "auto: our own kernels wherever they can; plain: LibTorch's operations alone",
         Choice{at<&S::device, &S::Device::kernel>, {"auto", "plain"}}},
        {"device", "precision", "",
         "Mixed precision: operands of matrix products in bf16, the rest in fp32; auto: where it is faster",
         Choice{at<&S::device, &S::Device::precision>, {"auto", "fp32", "bf16"}}},
    };
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
