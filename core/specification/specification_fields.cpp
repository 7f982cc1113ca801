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

/// A field for a member of a section, such as model.width.
template <class Section, class Base, class Value>
SpecificationField make(FieldInfo info, Section S::*section, Value Base::*member) {
    return field<S>(std::move(info), [section, member](S& s) -> Value& { return s.*section.*member; });
}

/// A field that had other names in older versions.
SpecificationField renamedField(std::vector<std::string> keys, FieldInfo info, auto section, auto member) {
    info.former_keys = std::move(keys);
    return make(std::move(info), section, member);
}

std::vector<SpecificationField> aboutAndTask() {
    return {
        make({"about", "title", "", "Name shown on the preset's card", AnyText()}, &S::about,
             &S::About::title),
        make({"about", "teaches", "", "What the run shows, in a sentence", AnyText()}, &S::about,
             &S::About::teaches),
        make({"about", "evidence", "", "Result of RoPE and RoPER over many seeds, in a sentence", AnyText()},
             &S::about, &S::About::evidence),
        make({"about", "measure", "",
              "Primary measure of its runs, chosen before training (docs/experiments.md); auto: problems "
              "solved",
              Choice{{"auto", "final_correct", "best_correct", "final_loss", "training_loss",
                      "final_token_accuracy", "steps_until", "mean_correct", "final_fully_correct"}}},
             &S::about, &S::About::measure),
        make({"about", "minutes", "minutes", "Measured time of the run on two CPU cores; 0 if unknown",
              RealRange{0, 1e7}},
             &S::about, &S::About::minutes),
        make({"about", "method", "",
              "For imported metrics: name of their method; empty: as in model.position", AnyText()},
             &S::about, &S::About::method),
        make({"about", "known", "",
              "For imported metrics: keys of the known settings, separated by spaces; empty: all are known",
              AnyText()},
             &S::about, &S::About::known),

        make({"task", "name", "", "What the model learns; “roper-train sample NAME” shows problems",
              Choice{namesOf(taskKinds())}},
             &S::task, &TaskSettings::name),
    };
}

std::vector<SpecificationField> model() {
    return {
        make({"model", "position", "",
              "How positions enter the model: by rotating q, k (and v: RoPER), adding to embeddings or "
              "scores, "
              "or not at "
              "all",
              Choice{namesOf(positionMethods())}},
             &S::model, &S::Model::position),
        make({"model", "attention", "",
              "Softmax of the scores, or linear in T: φ(q)·φ(k) rotated in the numerator only, or 1 + cosine",
              Choice{attentionKindNames()}},
             &S::model, &S::Model::attention),
        make({"model", "width", "features", "Width of the residual stream; divisible by heads",
              IntegerRange{2, 65536}},
             &S::model, &S::Model::width),
        make({"model", "layers", "", "Transformer blocks", IntegerRange{1, 1024}}, &S::model,
             &S::Model::layers),
        make({"model", "heads", "", "Attention heads per layer; width/heads must be even",
              IntegerRange{1, 1024}},
             &S::model, &S::Model::heads),
        make({"model", "kv_heads", "",
              "Heads of keys and values, each for heads/kv_heads queries (grouped-query attention); 0: heads",
              IntegerRange{0, 1024}},
             &S::model, &S::Model::kv_heads),
        make({"model", "shared_kv", "",
              "1: one vector is key and value (K = V, as in DeepSeek V4); it is rotated once, as a key",
              Flag()},
             &S::model, &S::Model::shared_kv),
        make({"model", "latent_rank", "features",
              "Latent attention (DeepSeek V2): size of the vector that gives all keys and values; 0: none",
              IntegerRange{0, 65536}},
             &S::model, &S::Model::latent_rank),
        make({"model", "qk_norm", "",
              "1: each query and key is normalized before it is rotated, as in ViT-22B and Qwen3", Flag()},
             &S::model, &S::Model::qk_norm),
        make({"model", "attention_sinks", "",
              "1: softmax has a further trained score for each head, without a value (gpt-oss, DeepSeek V4)",
              Flag()},
             &S::model, &S::Model::attention_sinks),
        make({"model", "window", "tokens",
              "Number of tokens, up to its own, to which each token attends (sliding window); 0: all",
              IntegerRange{0, 1 << 20}},
             &S::model, &S::Model::window),
        make({"model", "feed_forward", "features", "Width inside the feed-forward layer",
              IntegerRange{1, 262144}},
             &S::model, &S::Model::feed_forward),
        make({"model", "block", "",
              "classic: LayerNorm, biases, activation (GPT-2); modern: RMSNorm, SwiGLU, no biases (Llama)",
              Choice{{"classic", "modern"}}},
             &S::model, &S::Model::block),
        make({"model", "norm", "", "Norm before each sublayer (pre) or after each residual sum (post)",
              Choice{{"pre", "post"}}},
             &S::model, &S::Model::norm),
        make({"model", "activation", "", "Activation of the feed-forward layer", Choice{{"gelu", "relu"}}},
             &S::model, &S::Model::activation),
        make({"model", "dropout", "probability",
              "Probability of dropping a feature of a sublayer's output during training", RealRange{0, 0.95}},
             &S::model, &S::Model::dropout),
        make({"model", "pairing", "",
              "Which features rotate together: i with i+d/2 (half) or 2i with 2i+1 (interleaved)",
              Choice{pairingNames()}},
             &S::model, &S::Model::pairing),
        make({"model", "rotated_part", "",
              "If only a part of a head rotates: its first features, or its last ones, as in DeepSeek V4",
              Choice{rotatedPartNames()}},
             &S::model, &S::Model::rotated_part),
        make({"model", "rotary_fraction", "of head_dim",
              "Fraction of the features of queries and keys that rotate", RealRange{0, 1}},
             &S::model, &S::Model::rotary_fraction),
        make({"model", "value_rotary_fraction", "of head_dim",
              "Fraction of the features of values and outputs that rotate, if they do (RoPER, rotary)",
              RealRange{0, 1}},
             &S::model, &S::Model::value_rotary_fraction),
        make({"model", "value_rotation_strength", "",
              "Factor of the frequencies of values and outputs, if they rotate; 0: they do not, as with RoPE",
              RealRange{0, 1}},
             &S::model, &S::Model::value_rotation_strength),
        make({"model", "no_rotation_every", "layers",
              "Every n-th layer does not rotate, as in SmolLM3 and Llama 4 (there n = 4); 0: all layers do",
              IntegerRange{0, 1024}},
             &S::model, &S::Model::no_rotation_every),
        make({"model", "base", "", "b in the frequencies θ_i = b^(−2i/d); also for sinusoids",
              RealRange{1.000001, 1e15}},
             &S::model, &S::Model::base),
        renamedField({"model.schedule"},
                     {"model", "frequency_formula", "",
                      "Frequencies b^(−2i/d) (standard) or b^(−i/d), as in the worked example",
                      Choice{frequencyFormulaNames(), {{"intro", "worked_example"}}}},
                     &S::model, &S::Model::frequency_formula),
        make({"model", "frequencies", "",
              "Fixed, or trained parameters of each layer that start at the same values",
              Choice{{"fixed", "trained"}}},
             &S::model, &S::Model::frequencies),
    };
}

std::vector<SpecificationField> training() {
    return {
        make({"training", "objective", "",
              "Predict each token from the previous ones (causal), or masked tokens from both sides (masked, "
              "RoFormer)",
              Choice{{"causal", "masked"}}},
             &S::training, &S::Training::objective),
        make({"training", "masked_share", "of the tokens",
              "Tokens selected for prediction: 80 % of them masked, 10 % replaced by another token, 10 % "
              "unchanged",
              RealRange{0.01, 0.9}},
             &S::training, &S::Training::masked_share),
        make({"training", "steps", "steps", "Optimizer steps of the whole run", IntegerRange{1, 1000000000}},
             &S::training, &S::Training::steps),
        make({"training", "batch", "sequences", "Sequences per step", IntegerRange{1, 65536}}, &S::training,
             &S::Training::batch),
        make({"training", "length", "tokens",
              "Tokens per sequence (in synthetic tasks: characters); a causal model reads all but the last",
              IntegerRange{2, 1048576}},
             &S::training, &S::Training::length),
    };
}

std::vector<SpecificationField> optimizer() {
    return {
        make({"training", "learning_rate", "", "Peak learning rate, reached after warm-up; above 0",
              RealRange{0, 10}},
             &S::training, &S::Training::learning_rate),
        make({"training", "warmup_steps", "steps", "Steps over which the learning rate rises from 0",
              IntegerRange{0, 1000000000}},
             &S::training, &S::Training::warmup_steps),
        renamedField({"training.decay"},
                     {"training", "lr_schedule", "", "Learning rate schedule from warm-up to the last step",
                      Choice{{"constant", "cosine", "linear"}}},
                     &S::training, &S::Training::lr_schedule),
        make({"training", "final_fraction", "of learning_rate",
              "Final learning rate of cosine and linear schedules", RealRange{0, 1}},
             &S::training, &S::Training::final_fraction),
        make({"training", "beta1", "", "AdamW: decay rate of the first moment", RealRange{0, 0.999999}},
             &S::training, &S::Training::beta1),
        make({"training", "beta2", "", "AdamW: decay rate of the second moment", RealRange{0, 0.9999999}},
             &S::training, &S::Training::beta2),
        make({"training", "epsilon", "", "AdamW: added to the square root of the second moment",
              RealRange{0, 1}},
             &S::training, &S::Training::epsilon),
        make({"training", "weight_decay", "",
              "AdamW: decoupled weight decay of the matrices; 0 makes it Adam", RealRange{0, 10}},
             &S::training, &S::Training::weight_decay),
        make({"training", "clip_norm", "",
              "Gradients with a larger total norm are scaled to it; 0 never clips", RealRange{0, 1e6}},
             &S::training, &S::Training::clip_norm),
        make({"training", "data_seed", "", "Seed of the training and evaluation problems",
              IntegerRange{0, kMax}},
             &S::training, &S::Training::data_seed),
        make({"training", "model_seed", "", "Seed of the initial weights and of dropout",
              IntegerRange{0, kMax}},
             &S::training, &S::Training::model_seed),
        make({"training", "initial_weights", "",
              "Run, by name or path, or checkpoint file whose weights training starts from; empty: random",
              AnyText()},
             &S::training, &S::Training::initial_weights),
        make({"training", "value_rotation_warmup", "steps",
              "Steps over which the frequencies of values and outputs rise from 0 to their full strength",
              IntegerRange{0, 1000000000}},
             &S::training, &S::Training::value_rotation_warmup),
        make({"training", "frequency_rate", "of learning_rate",
              "Learning rate of trained frequencies: AdamW moves each by about its rate per step; most are "
              "small",
              RealRange{0, 1}},
             &S::training, &S::Training::frequency_rate),
        make({"training", "report_every", "steps", "Steps between rows of metrics.csv",
              IntegerRange{1, 1000000000}},
             &S::training, &S::Training::report_every),
    };
}

std::vector<SpecificationField> evaluationAndRest() {
    return {
        make({"evaluation", "every", "steps", "Steps between evaluations; 0 evaluates only at the end",
              IntegerRange{0, 1000000000}},
             &S::evaluation, &S::Evaluation::every),
        make({"evaluation", "problems", "problems",
              "Problems (or, for the prefix task and texts, sequences) per evaluation",
              IntegerRange{1, 65536}},
             &S::evaluation, &S::Evaluation::problems),
        make({"evaluation", "temperature", "",
              "0: always the most likely token; above 0, tokens are sampled from "
              "softmax(logits/temperature)",
              RealRange{0, 100}},
             &S::evaluation, &S::Evaluation::temperature),
        make(
            {"evaluation", "patience", "evaluations",
             "Early stopping: the run ends after this many evaluations in a row without improvement; 0 never "
             "stops early",
             IntegerRange{0, 1000000}},
            &S::evaluation, &S::Evaluation::patience),
        make({"snapshots", "every", "steps",
              "Steps between snapshots of all attention maps, for the time scrubber; 0: none",
              IntegerRange{0, 1000000000}},
             &S::snapshots, &S::Snapshots::every),
        renamedField(
            {"snapshots.characters"},
            {"snapshots", "tokens", "tokens", "Length of the text used for snapshots", IntegerRange{2, 1024}},
            &S::snapshots, &S::Snapshots::tokens),
        make({"checkpoints", "every", "steps", "Steps between checkpoints; 0 saves only at the end",
              IntegerRange{0, 1000000000}},
             &S::checkpoints, &S::Checkpoints::every),
        make({"checkpoints", "keep", "checkpoints",
              "Number of newest checkpoints to keep; the best one by evaluation is kept as well",
              IntegerRange{1, 1000000}},
             &S::checkpoints, &S::Checkpoints::keep),
        make({"device", "name", "", "auto, cpu, cuda or cuda:0, cuda:1, …", AnyText()}, &S::device,
             &S::Device::name),
        make({"device", "threads", "threads", "CPU threads; 0: one for each core that the process may use",
              IntegerRange{0, 4096}},
             &S::device, &S::Device::threads),
        make({"device", "kernel", "",
              "auto: our own kernels where possible; plain: only LibTorch's operations",
              Choice{{"auto", "plain"}}},
             &S::device, &S::Device::kernel),
        make({"device", "precision", "",
              "Mixed precision: operands of matrix products in bf16, the rest in fp32; auto: where it is "
              "faster",
              Choice{{"auto", "fp32", "bf16"}}},
             &S::device, &S::Device::precision),
    };
}

}  // namespace

const std::vector<SpecificationField>& specificationFields() {
    static const std::vector<SpecificationField> fields = [] {
        std::vector<SpecificationField> all = aboutAndTask();
        for (const DeclaredSetting& setting : taskSettings())
            all.push_back(declaredField<S>(
                setting, "task", [](S& s) -> DeclaredSettings& { return s.task.specific_settings; }));
        const auto add = [&](const std::vector<SpecificationField>& part) {
            all.insert(all.end(), part.begin(), part.end());
        };
        add(model());
        for (const DeclaredSetting& setting : methodSettings())
            all.push_back(declaredField<S>(
                setting, "model", [](S& s) -> DeclaredSettings& { return s.model.specific_settings; }));
        add(training());
        add(optimizer());
        add(evaluationAndRest());
        return all;
    }();
    return fields;
}

const SpecificationField& findField(std::string_view key) {
    return findField(specificationFields(), key);
}

}  // namespace roper
