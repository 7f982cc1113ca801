#include <limits>

#include "core/fields/registry.h"
#include "core/rotary/attention_kind.h"
#include "core/rotary/frequencies.h"
#include "core/rotary/pairing.h"
#include "core/specification/specification.h"

namespace roper {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

using S = Specification;

/// Returns a function that makes the fields of a section, such as model.width.
template <class Section>
auto fieldsOf(const char* name, Section S::*section) {
    return [=](std::string field_name, std::string unit, std::string help, AcceptedValues accepts,
               auto member) {
        return field<S>({name, std::move(field_name), std::move(unit), std::move(help), std::move(accepts)},
                        section, member);
    };
}

std::vector<SpecificationField> aboutAndTask() {
    const auto about = fieldsOf("about", &S::about);
    const auto task = fieldsOf("task", &S::task);
    return {
        about("title", "", "Name shown on the preset's card", AnyText(), &S::About::title),
        about("teaches", "", "What the run shows, in a sentence", AnyText(), &S::About::teaches),
        about("evidence", "", "Result of RoPE and RoPER over many seeds, in a sentence", AnyText(),
              &S::About::evidence),
        about("measure", "",
              "Primary measure of its runs, chosen before training (docs/experiments.md); auto: problems "
              "solved",
              Choice{{"auto", "final_correct", "best_correct", "final_loss", "training_loss",
                      "final_token_accuracy", "steps_until", "mean_correct", "final_fully_correct"}},
              &S::About::measure),
        about("minutes", "minutes", "Measured time of the run on two CPU cores; 0 if unknown",
              RealRange{0, 1e7}, &S::About::minutes),
        about("method", "",
              "For imported metrics: name of their position method; empty: as in model.position", AnyText(),
              &S::About::method),
        about("known", "",
              "For imported metrics: keys of the known settings, separated by spaces; empty: all are known",
              AnyText(), &S::About::known),

        task("name", "", "What the model learns; “roper-train sample NAME” shows problems",
             Choice{namesOf(taskKinds())}, &TaskSettings::name),
    };
}

std::vector<SpecificationField> model() {
    const auto make = fieldsOf("model", &S::model);
    return {
        make("position", "",
             "Position method: rotates q, k (RoPER: also v), or adds to embeddings or scores; none: no "
             "positions",
             Choice{namesOf(positionMethods())}, &S::Model::position),
        make("attention", "",
             "Softmax, or linear attention: φ(q)·φ(k), rotated in the numerator only, or 1 + cosine",
             Choice{allNames<AttentionKind>()}, &S::Model::attention),
        make("width", "features", "Width of the residual stream; divisible by heads", IntegerRange{2, 65536},
             &S::Model::width),
        make("layers", "", "Transformer blocks", IntegerRange{1, 1024}, &S::Model::layers),
        make("heads", "", "Attention heads per layer; width/heads must be even", IntegerRange{1, 1024},
             &S::Model::heads),
        make("kv_heads", "",
             "Key/value heads, each shared by heads/kv_heads query heads (grouped-query attention); 0: as "
             "many as heads",
             IntegerRange{0, 1024}, &S::Model::kv_heads),
        make("shared_kv", "",
             "1: one vector is key and value (K = V, as in DeepSeek V4); it is rotated once, as a key",
             Flag(), &S::Model::shared_kv),
        make("latent_rank", "features",
             "Latent attention (DeepSeek V2): size of the vector that yields a token's keys and values; 0: "
             "off",
             IntegerRange{0, 65536}, &S::Model::latent_rank),
        make("qk_norm", "",
             "1: each query and key is normalized before it is rotated, as in ViT-22B and Qwen3", Flag(),
             &S::Model::qk_norm),
        make("attention_sinks", "",
             "1: softmax has one more trained score per head, which has no value (gpt-oss, DeepSeek V4)",
             Flag(), &S::Model::attention_sinks),
        make("window", "tokens",
             "Sliding window: number of latest tokens, its own included, to which a token attends; 0: all",
             IntegerRange{0, 1 << 20}, &S::Model::window),
        make("feed_forward", "features", "Hidden width of the feed-forward layer", IntegerRange{1, 262144},
             &S::Model::feed_forward),
        make("block", "",
             "classic: LayerNorm, biases, activation (GPT-2); modern: RMSNorm, SwiGLU, no biases (Llama)",
             Choice{{"classic", "modern"}}, &S::Model::block),
        make("norm", "", "Norm before each sublayer (pre) or after each residual sum (post)",
             Choice{{"pre", "post"}}, &S::Model::norm),
        make("activation", "", "Activation of the feed-forward layer", Choice{{"gelu", "relu"}},
             &S::Model::activation),
        make("dropout", "probability",
             "Probability of dropping a feature of a sublayer's output during training", RealRange{0, 0.95},
             &S::Model::dropout),
        make("pairing", "",
             "Which features rotate together: i with i+d/2 (half) or 2i with 2i+1 (interleaved)",
             Choice{allNames<Pairing>()}, &S::Model::pairing),
        make("rotated_part", "",
             "Which features of a head rotate, if not all: the first, or the last as in DeepSeek V4",
             Choice{allNames<RotatedPart>()}, &S::Model::rotated_part),
        make("rotary_fraction", "of head_dim", "Fraction of the features of queries and keys that rotate",
             RealRange{0, 1}, &S::Model::rotary_fraction),
        make("value_rotary_fraction", "of head_dim",
             "Fraction of the features of values and outputs that rotate, if they do (RoPER, rotary)",
             RealRange{0, 1}, &S::Model::value_rotary_fraction),
        make("value_rotation_strength", "",
             "Factor of the frequencies of values and outputs, if they rotate; 0: they do not, as with RoPE",
             RealRange{0, 1}, &S::Model::value_rotation_strength),
        make("no_rotation_every", "layers",
             "Every n-th layer does not rotate, as in SmolLM3 and Llama 4 (there n = 4); 0: all layers do",
             IntegerRange{0, 1024}, &S::Model::no_rotation_every),
        make("base", "", "b in the frequencies θ_i = b^(−2i/d); also for sinusoids",
             RealRange{1.000001, 1e15}, &S::Model::base),
        formerly("model.schedule",
                 make("frequency_formula", "",
                      "Frequencies b^(−2i/d) (standard) or b^(−i/d), as in the worked example",
                      Choice{allNames<FrequencyFormula>(), {{"intro", "worked_example"}}},
                      &S::Model::frequency_formula)),
        make("frequencies", "", "Fixed, or trained parameters of each layer that start at the same values",
             Choice{{"fixed", "trained"}}, &S::Model::frequencies),
    };
}

std::vector<SpecificationField> training() {
    const auto make = fieldsOf("training", &S::training);
    return {
        make("objective", "",
             "Predict each token from the previous ones (causal), or masked tokens from both sides (masked, "
             "RoFormer)",
             Choice{{"causal", "masked"}}, &S::Training::objective),
        make("masked_share", "of the tokens",
             "Masked objective: tokens to predict; 80 % of them are masked, 10 % replaced, 10 % unchanged",
             RealRange{0.01, 0.9}, &S::Training::masked_share),
        make("steps", "steps", "Optimizer steps of the whole run", IntegerRange{1, 1000000000},
             &S::Training::steps),
        make("batch", "sequences", "Sequences per step", IntegerRange{1, 65536}, &S::Training::batch),
        make("length", "tokens",
             "Tokens per sequence (in synthetic tasks: characters); a causal model reads all but the last",
             IntegerRange{2, 1048576}, &S::Training::length),
        make("learning_rate", "", "Peak learning rate, reached after warm-up; above 0", RealRange{0, 10},
             &S::Training::learning_rate),
        make("warmup_steps", "steps", "Steps over which the learning rate rises from 0",
             IntegerRange{0, 1000000000}, &S::Training::warmup_steps),
        formerly("training.decay",
                 make("lr_schedule", "", "Learning rate schedule from warm-up to the last step",
                      Choice{{"constant", "cosine", "linear"}}, &S::Training::lr_schedule)),
        make("final_fraction", "of learning_rate", "Final learning rate of cosine and linear schedules",
             RealRange{0, 1}, &S::Training::final_fraction),
        make("beta1", "", "AdamW: decay rate of the first moment", RealRange{0, 0.999999},
             &S::Training::beta1),
        make("beta2", "", "AdamW: decay rate of the second moment", RealRange{0, 0.9999999},
             &S::Training::beta2),
        make("epsilon", "", "AdamW: added to the square root of the second moment", RealRange{0, 1},
             &S::Training::epsilon),
        make("weight_decay", "", "AdamW: decoupled weight decay of the matrices; 0 makes it Adam",
             RealRange{0, 10}, &S::Training::weight_decay),
        make("clip_norm", "", "Gradients with a larger total norm are scaled to it; 0 never clips",
             RealRange{0, 1e6}, &S::Training::clip_norm),
        make("data_seed", "", "Seed of the training and evaluation problems", IntegerRange{0, kMax},
             &S::Training::data_seed),
        make("model_seed", "", "Seed of the initial weights and of dropout", IntegerRange{0, kMax},
             &S::Training::model_seed),
        make("initial_weights", "",
             "Run, by name or path, or checkpoint file whose weights training starts from; empty: random",
             AnyText(), &S::Training::initial_weights),
        make("value_rotation_warmup", "steps",
             "Steps over which the frequencies of values and outputs rise from 0 to their full strength",
             IntegerRange{0, 1000000000}, &S::Training::value_rotation_warmup),
        make("frequency_rate", "of learning_rate",
             "Learning rate of trained frequencies; AdamW moves each by about this rate per step, even the "
             "smallest",
             RealRange{0, 1}, &S::Training::frequency_rate),
        make("report_every", "steps", "Steps between rows of metrics.csv", IntegerRange{1, 1000000000},
             &S::Training::report_every),
    };
}

std::vector<SpecificationField> evaluationAndRest() {
    const auto evaluation = fieldsOf("evaluation", &S::evaluation);
    const auto snapshots = fieldsOf("snapshots", &S::snapshots);
    const auto checkpoints = fieldsOf("checkpoints", &S::checkpoints);
    const auto device = fieldsOf("device", &S::device);
    return {
        evaluation("every", "steps", "Steps between evaluations; 0 evaluates only at the end",
                   IntegerRange{0, 1000000000}, &S::Evaluation::every),
        evaluation("problems", "problems",
                   "Problems (or, for the prefix task and texts, sequences) per evaluation",
                   IntegerRange{1, 65536}, &S::Evaluation::problems),
        evaluation("temperature", "",
                   "0: always the most likely token; above 0, tokens are sampled from "
                   "softmax(logits/temperature)",
                   RealRange{0, 100}, &S::Evaluation::temperature),
        evaluation(
            "patience", "evaluations",
            "Early stopping: the run ends after this many evaluations in a row without improvement; 0 never "
            "stops early",
            IntegerRange{0, 1000000}, &S::Evaluation::patience),
        snapshots("every", "steps",
                  "Steps between snapshots of all attention maps, shown on the Inspect page; 0: none",
                  IntegerRange{0, 1000000000}, &S::Snapshots::every),
        formerly("snapshots.characters",
                 snapshots("tokens", "tokens", "Length of the text used for snapshots", IntegerRange{2, 1024},
                           &S::Snapshots::tokens)),
        checkpoints("every", "steps", "Steps between checkpoints; 0 saves only at the end",
                    IntegerRange{0, 1000000000}, &S::Checkpoints::every),
        checkpoints("keep", "checkpoints",
                    "Number of newest checkpoints to keep; the best one by evaluation is kept as well",
                    IntegerRange{1, 1000000}, &S::Checkpoints::keep),
        device("name", "", "auto, cpu, cuda or cuda:0, cuda:1, …", AnyText(), &S::Device::name),
        device("threads", "threads", "CPU threads; 0: one for each core that the process may use",
               IntegerRange{0, 4096}, &S::Device::threads),
        device("kernel", "", "auto: our own kernels where possible; plain: only LibTorch's operations",
               Choice{{"auto", "plain"}}, &S::Device::kernel),
        device("precision", "",
               "bf16: operands of matrix products in bf16, the rest in fp32; auto: bf16 where it is faster",
               Choice{{"auto", "fp32", "bf16"}}, &S::Device::precision),
    };
}

}  // namespace

const std::vector<SpecificationField>& specificationFields() {
    const auto of_task = [](const DeclaredSetting& setting) {
        return declaredField<S>(setting, "task",
                                [](S& s) -> DeclaredSettings& { return s.task.specific_settings; });
    };
    const auto of_method = [](const DeclaredSetting& setting) {
        return declaredField<S>(setting, "model",
                                [](S& s) -> DeclaredSettings& { return s.model.specific_settings; });
    };
    static const std::vector<SpecificationField> fields = concatenated<SpecificationField>(
        {aboutAndTask(), mapped(taskSettings(), of_task), model(), mapped(methodSettings(), of_method),
         training(), evaluationAndRest()});
    return fields;
}

const SpecificationField& findField(std::string_view key) {
    return findField(specificationFields(), key);
}

}  // namespace roper
