#include <utility>

#include "core/base/text.h"
#include "core/specification/specification.h"

namespace roper {
namespace {

/// Such as "RoPE", "RoPE and RoPER", "RoPE, RoPER and sinusoids".
std::string joinWithAnd(std::vector<std::string> names) {
    if (names.size() < 2) return join(names, "");
    const std::string last = names.back();
    names.pop_back();
    return join(names, ", ") + " and " + last;
}

/// Why the task does not read a field that belongs to other tasks.
std::optional<std::string> taskUnusedReason(const SpecificationField& field, const Specification& s) {
    for (const TaskKind& kind : taskKinds()) {
        if (kind.name == s.task.name) continue;
        for (const DeclaredSetting& setting : kind.settings)
            if (setting.name == field.name)
                return "only the task " + kind.name + " reads it, and task.name is " + s.task.name;
    }
    return std::nullopt;
}

/// Which methods read a field, if the chosen one does not; nullopt for fields of all methods.
std::optional<std::string> otherReaders(const SpecificationField& field, const Specification& s) {
    std::vector<std::string> readers;
    for (const PositionMethod& method : positionMethods())
        if (method.readsField(field.name)) readers.push_back(method.title);
    if (readers.empty()) return std::nullopt;
    return "only " + joinWithAnd(readers) + (readers.size() == 1 ? " reads" : " read") +
           " it, and model.position is " + s.model.position;
}

/// Why the position method does not read a field that belongs to other methods.
std::optional<std::string> methodUnusedReason(const SpecificationField& field, const Specification& s) {
    if (!s.model.method().readsField(field.name)) return otherReaders(field, s);
    if (field.name == "frequency_rate" && !s.model.trainsFrequencies()) return "model.frequencies is fixed";
    const std::vector<std::string>& of_values = valueRotationFields();
    const bool is_about_values = hasElement(of_values, field.name);
    if (is_about_values && s.model.shared_kv) return "model.shared_kv is 1, so that values rotate as keys";
    const RotatedTensors rotated = s.model.rotatedTensors();
    if (is_about_values && !rotated.anyOfValues())
        return "model.rotates is " + nameOf(rotated) + ", so that neither values nor outputs rotate";
    if (field.name == "value_rotation_warmup" && s.model.value_rotation_strength == 0)
        return "model.value_rotation_strength is 0";
    const bool has_whole_scores =
        s.model.rotary_fraction == 1 || !(rotated.anyOfScores() || s.model.shared_kv);
    const bool has_whole_values =
        s.model.value_rotary_fraction == 1 || s.model.shared_kv || !rotated.anyOfValues();
    if (field.name == "rotated_part" && has_whole_scores && has_whole_values)
        return "all features of a head rotate";
    if (field.name == "rotary_fraction" && !rotated.anyOfScores() && !s.model.shared_kv)
        return "model.rotates is " + nameOf(rotated) + ", so that neither queries nor keys rotate";
    return std::nullopt;
}

}  // namespace

bool isKnown(const SpecificationField& field, const Specification& specification) {
    return specification.about.known.empty() || isKnown(field.key(), specification);
}

bool isKnown(std::string_view key, const Specification& specification) {
    if (specification.about.known.empty() || key.starts_with("about.")) return true;
    const std::vector<std::string> known = split(specification.about.known, ' ');
    return hasElement(known, key);
}

bool seedsAreKnown(const Specification& specification) {
    return isKnown("training.data_seed", specification) && isKnown("training.model_seed", specification);
}

std::optional<std::string> unusedReason(const SpecificationField& field, const Specification& specification) {
    const std::string key = field.key();
    const std::string& task = specification.task.name;
    if (field.section == "task") return taskUnusedReason(field, specification);
    if (key == "training.final_fraction" && specification.training.lr_schedule == "constant")
        return "training.lr_schedule is constant";
    if (key == "evaluation.temperature" && !specification.task.hasProblems() && !specification.task.isText())
        return "the " + task + " task is evaluated by its loss; nothing is generated";
    if (key == "evaluation.temperature" && specification.isMasked())
        return "a masked language model generates nothing, and training.objective is masked";
    if (key == "training.objective" && !specification.task.isText())
        return "only tokens of a text can be masked, and task.name is " + task;
    if (key == "model.activation" && specification.isModern())
        return "model.block is modern, whose feed-forward layers are SwiGLU (set it to gelu)";
    if (key == "training.masked_share" && !specification.isMasked()) return "training.objective is causal";
    if (key == "snapshots.tokens" && specification.snapshots.every == 0)
        return "snapshots.every is 0, so no snapshots are taken";
    if (field.section == "model" || key == "training.frequency_rate" ||
        key == "training.value_rotation_warmup")
        return methodUnusedReason(field, specification);
    return std::nullopt;
}

Specification withoutUnused(Specification specification) {
    static const Specification defaults;
    const Specification given = specification;
    for (const SpecificationField& field : specificationFields())
        if (unusedReason(field, given)) field.set(specification, field.text(defaults));
    return specification;
}

Specification withPosition(Specification specification, const std::string& position) {
    specification.model.position = position;
    specification.about.method.clear();
    return withoutUnused(std::move(specification));
}

}  // namespace roper
