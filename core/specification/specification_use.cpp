#include <map>
#include <set>
#include <utility>

#include "core/specification/specification.h"

namespace roper {
namespace {

/// The task that reads a field, if only one does.
const std::string* taskOf(const std::string& key) {
    static const std::map<std::string, std::string> tasks = {
        {"task.digits_max", "addition"}, {"task.string_min", "index"},
        {"task.string_max", "index"},    {"task.substring_length", "prefix"},
        {"task.random_min", "prefix"},   {"task.random_max", "prefix"},
        {"task.text", "text"},           {"task.pieces", "text"},
        {"task.vocabulary", "text"},     {"task.validation_share", "text"}};
    const auto found = tasks.find(key);
    return found == tasks.end() ? nullptr : &found->second;
}

std::optional<std::string> whyPositionsDoNot(const std::string& key, const Specification& s) {
    static const std::set<std::string> turning = {"model.pairing", "model.rotary_fraction", "model.schedule",
                                                  "model.frequencies"};
    const std::string& position = s.model.position;
    const auto only = [&](bool used, const std::string& who) {
        return used ? std::optional<std::string>() : "only " + who + ", and model.position is " + position;
    };
    if (turning.count(key) > 0) return only(s.turnsQueriesAndKeys(), "RoPE and RoPER turn anything");
    if (key == "model.base")
        return only(s.turnsQueriesAndKeys() || position == "sinusoidal",
                    "RoPE, RoPER and sinusoids have frequencies");
    if (key == "model.value_rotary_fraction") return only(position == "roper", "RoPER turns values");
    if (key == "model.table_positions") return only(position == "learned", "a learned table has a length");
    if (key == "model.bias_buckets" || key == "model.bias_distance")
        return only(position == "t5", "T5 sorts distances into buckets");
    if (key == "training.frequency_rate") {
        if (!s.turnsQueriesAndKeys()) return only(false, "RoPE and RoPER can train their frequencies");
        if (s.model.frequencies != "trained") return "model.frequencies is fixed";
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> whyUnused(const SpecificationField& field, const Specification& specification) {
    const std::string key = field.key();
    const std::string& task = specification.task.name;
    if (const std::string* reader = taskOf(key); reader != nullptr && *reader != task)
        return "only the task " + *reader + " reads it, and task.name is " + task;
    if (key == "training.final_fraction" && specification.training.decay == "constant")
        return "training.decay is constant";
    if (key == "evaluation.temperature" && task == "prefix")
        return "the prefix task is judged by its loss; nothing is written";
    if (key == "evaluation.temperature" && specification.isMasked())
        return "a model of masked tokens writes nothing, and training.objective is masked";
    if (key == "training.objective" && !specification.task.isText())
        return "only a text has tokens that can be masked, and task.name is " + task;
    if (key == "training.masked_share" && !specification.isMasked()) return "training.objective is causal";
    if (key == "snapshots.characters" && specification.snapshots.every == 0)
        return "snapshots.every is 0, so none is taken";
    return whyPositionsDoNot(key, specification);
}

Specification withoutUnused(Specification specification) {
    static const Specification defaults;
    const Specification asked = specification;
    for (const SpecificationField& field : specificationFields())
        if (whyUnused(field, asked)) setField(field, specification, fieldText(field, defaults));
    return specification;
}

Specification withPosition(Specification specification, const std::string& position) {
    specification.model.position = position;
    return withoutUnused(std::move(specification));
}

}  // namespace roper
