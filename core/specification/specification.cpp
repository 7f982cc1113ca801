#include "core/specification/specification.h"

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {
namespace {

/// Latent attention computes the keys and values of every head from one vector, and a part of the keys, which
/// rotates, from the token itself (DeepSeek-AI 2024, arXiv 2405.04434).
void checkLatentAttention(const Specification& s, std::vector<SettingProblem>& problems) {
    const auto refuse = [&](const std::string& why) {
        problems.push_back({"model.latent_rank", "latent attention " + why});
    };
    if (s.model.kv_heads > 0) refuse("has keys and values for every head: set model.kv_heads to 0");
    if (s.model.shared_kv) refuse("has separate keys and values: set model.shared_kv to 0");
    if (s.model.qk_norm) refuse("normalizes its latent vector, not queries and keys: set model.qk_norm to 0");
    if (s.model.width % s.model.heads != 0) return;
    const RotaryConfig rotation = s.model.rotation(s.headDim());
    if (!s.model.rotatedTensors().anyOfScores())
        refuse("rotates a part of each key, and model.position = " + s.model.position +
               " rotates none: use rope or roper, or set model.latent_rank to 0");
    else if (rotation.rotatedWidth() == 0 || rotation.rotatedWidth() == rotation.head_dim)
        refuse("rotates a part of each key, at least one pair and not all: set model.rotary_fraction to 0.5");
    else if (rotation.rotated_part != RotatedPart::last)
        refuse("rotates the last features of a head: set model.rotated_part to last");
}

void checkModel(const Specification& s, std::vector<SettingProblem>& problems) {
    if (s.model.width % s.model.heads != 0) {
        problems.push_back({"model.heads", "the width " + std::to_string(s.model.width) +
                                               " must be divisible by the number of heads, " +
                                               std::to_string(s.model.heads)});
    } else if (s.headDim() % 2 != 0) {
        problems.push_back({"model.heads", "a head must have an even number of features; width/heads = " +
                                               std::to_string(s.headDim()) + " is odd"});
    }
    if (s.model.kv_heads > 0 && s.model.heads % s.model.kv_heads != 0)
        problems.push_back(
            {"model.kv_heads", "each key/value head serves the same number of heads: " +
                                   std::to_string(s.model.heads) + " heads are not divisible by " +
                                   std::to_string(s.model.kv_heads) + "; choose a divisor, or 0 for all"});
    if (s.model.latent_rank > 0) checkLatentAttention(s, problems);
    if (s.model.attention_sinks && s.model.attention != "softmax")
        problems.push_back({"model.attention_sinks",
                            "linear attention has no softmax to whose scores a sink could be added; use "
                            "softmax, or 0"});
    if (s.model.window > 0 && s.model.attention != "softmax")
        problems.push_back({"model.window", "linear attention has no sliding window; use softmax, or 0"});
    if (s.model.window > 0 && s.isMasked())
        problems.push_back({"model.window",
                            "a masked language model attends in both directions, and windows are causal; "
                            "use training.objective causal, or 0"});
    if (s.model.no_rotation_every == 1)
        problems.push_back({"model.no_rotation_every",
                            "1 leaves every layer unrotated: use position none, or from 2 on, or 0"});
    if (s.model.no_rotation_every > 1 && s.model.trainsFrequencies())
        problems.push_back(
            {"model.no_rotation_every",
             "the frequencies of every layer are trained (model.frequencies): use fixed ones"});
    const PositionMethod& method = s.model.method();
    if (method.biases_scores && s.model.attention != "softmax")
        problems.push_back(
            {"model.attention", "linear attention computes no scores to which " + method.name +
                                    " could add a bias; use softmax, or another position method"});
    if (method.check) {
        const auto of_method = method.check(s.model, s.shape());
        problems.insert(problems.end(), of_method.begin(), of_method.end());
    }
}

/// Choices with an invalid value, which a specification built in code may have.
std::vector<SettingProblem> unknownChoices(const Specification& s) {
    std::vector<SettingProblem> problems;
    for (const SpecificationField& field : specificationFields()) {
        if (!field.isChoice()) continue;
        try {
            readChoice(field, field.text(s));
        } catch (const Error& error) {
            problems.push_back({field.key(), error.what()});
        }
    }
    return problems;
}

void checkUnused(const Specification& s, std::vector<SettingProblem>& problems) {
    static const Specification defaults;
    for (const SpecificationField& field : specificationFields()) {
        const std::string by_default = field.text(defaults);
        if (field.text(s) == by_default) continue;
        if (const auto why = unusedReason(field, s))
            problems.push_back({field.key(), "would be ignored: " + *why + "; its default is " + by_default});
    }
}

void checkTask(const Specification& s, std::vector<SettingProblem>& problems) {
    const TaskKind& kind = s.task.kind();
    if (kind.check) {
        const auto of_task = kind.check(s.task.specific_settings);
        problems.insert(problems.end(), of_task.begin(), of_task.end());
    }
    if (kind.is_text) return;
    if (!problems.empty()) return;
    const auto task = makeTask(s.task);
    const int longest = task->maxProblemLength();
    if (longest >= s.training.length)
        problems.push_back({"training.length", "the longest problem has " + std::to_string(longest) +
                                                   " characters; a sequence must be longer"});
}

void checkTraining(const Specification& s, std::vector<SettingProblem>& problems) {
    if (s.training.learning_rate <= 0)
        problems.push_back(
            {"training.learning_rate", "the learning rate must be above 0, or nothing is learned"});
    if (s.training.warmup_steps > s.training.steps)
        problems.push_back({"training.warmup_steps", "warm-up is longer than the run"});
    if (!isDeviceName(s.device.name))
        problems.push_back(
            {"device.name", "a device must be auto, cpu, cuda or cuda:N, not \"" + s.device.name + "\""});
}

}  // namespace

double Specification::valueRotationStrengthAfter(std::int64_t step) const {
    const std::int64_t warmup = training.value_rotation_warmup;
    if (step >= warmup) return model.value_rotation_strength;
    return model.value_rotation_strength * static_cast<double>(step) / static_cast<double>(warmup);
}

Specification Specification::afterSteps(std::int64_t step) const {
    Specification reached = *this;
    reached.model.value_rotation_strength = valueRotationStrengthAfter(step);
    reached.training.value_rotation_warmup = 0;
    return reached;
}

bool isDeviceName(const std::string& name) {
    if (name == "auto" || name == "cpu" || name == "cuda") return true;
    return name.starts_with("cuda:") && name.size() <= 8 &&
           name.find_first_not_of("0123456789", 5) == std::string::npos && name.size() > 5;
}

std::vector<SettingProblem> check(const Specification& specification) {
    std::vector<SettingProblem> problems = unknownChoices(specification);
    // The remaining checks look up the chosen names in the registries.
    if (!problems.empty()) return problems;
    if (specification.isImported())
        problems.push_back(
            {"about.known",
             "these are the settings of imported metrics, not all of which are known: to train with the "
             "defaults of the unknown ones, remove about.method and about.known"});
    checkTask(specification, problems);
    checkModel(specification, problems);
    checkTraining(specification, problems);
    checkUnused(specification, problems);
    return problems;
}

void applySetting(Specification& specification, std::string_view setting) {
    const auto [key, value] = splitSetting(setting);
    findField(key).set(specification, value);
}

void requireValid(const Specification& specification, const std::string& origin) {
    const auto problems = check(specification);
    if (problems.empty()) return;
    const auto line = [&](const SettingProblem& one) { return origin + ": " + one.key + ": " + one.message; };
    throw Error(ErrorKind::usage, join(mapped(problems, line), "\n"));
}

std::string fieldsAsMarkdown() {
    const Specification defaults;
    std::string text = "| key | default | unit | accepts | meaning |\n|---|---|---|---|---|\n";
    for (const SpecificationField& field : specificationFields()) {
        const std::string value = field.text(defaults);
        text += markdownRow({"`" + field.key() + "`", value.empty() ? "" : "`" + value + "`", field.unit,
                             acceptsText(field), field.help});
    }
    return text;
}

}  // namespace roper
