#include "core/specification/specification.h"

#include <cmath>

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {
namespace {

/// Members are reached through functions that take a mutable specification; reading leaves it as it is.
template <class Kind>
auto& read(const Kind& kind, const Specification& specification) {
    return kind.at(const_cast<Specification&>(specification));
}

std::string withUnit(const SpecificationField& field) {
    return field.unit.empty() ? "" : " (" + field.unit + ")";
}

[[noreturn]] void refuse(const SpecificationField& field, std::string_view text, const std::string& wanted) {
    throw Error(ErrorKind::usage,
                field.key() + " must be " + wanted + withUnit(field) + ", not \"" + std::string(text) + "\"");
}

struct Setter {
    const SpecificationField& field;
    Specification& specification;
    std::string_view text;

    void operator()(const SpecificationField::Integer& kind) const {
        const auto value = parseInteger(text);
        if (!value || *value < kind.low || *value > kind.high)
            refuse(field, text,
                   "a whole number from " + std::to_string(kind.low) + " to " + std::to_string(kind.high));
        kind.at(specification) = *value;
    }
    void operator()(const SpecificationField::Real& kind) const {
        const auto value = parseNumber(text);
        if (!value || !std::isfinite(*value) || *value < kind.low || *value > kind.high)
            refuse(field, text, "a number from " + formatNumber(kind.low) + " to " + formatNumber(kind.high));
        kind.at(specification) = *value;
    }
    void operator()(const SpecificationField::Text& kind) const {
        kind.at(specification) = std::string(text);
    }
    void operator()(const SpecificationField::Choice& kind) const {
        for (const std::string& choice : kind.choices) {
            if (choice == text) {
                kind.at(specification) = choice;
                return;
            }
        }
        const auto nearest = nearestName(text, kind.choices);
        refuse(field, text,
               "one of " + join(kind.choices, ", ") + (nearest ? " (did you mean " + *nearest + "?)" : ""));
    }
};

void checkModel(const Specification& s, std::vector<SpecificationProblem>& problems) {
    if (s.model.width % s.model.heads != 0) {
        problems.push_back({"model.heads", "the width " + std::to_string(s.model.width) +
                                               " cannot be shared among " + std::to_string(s.model.heads) +
                                               " heads: it must be a multiple"});
    } else if (s.headDim() % 2 != 0) {
        problems.push_back({"model.heads", "a head must have an even number of features, width/heads = " +
                                               std::to_string(s.headDim()) + " is odd"});
    }
    const bool biased = s.model.position == "t5" || s.model.position == "alibi";
    if (biased && s.model.attention != "softmax")
        problems.push_back(
            {"model.attention", "linear attention never makes the scores that " + s.model.position +
                                    " adds a bias to; use softmax, or another position method"});
    if (s.model.position == "t5" && s.model.bias_distance <= s.model.bias_buckets / 2)
        problems.push_back({"model.bias_distance",
                            "the first half of the buckets holds one distance each, so this must be above " +
                                std::to_string(s.model.bias_buckets / 2)});
    if (s.model.position == "learned" && s.snapshots.every > 0 && s.tablePositions() < s.snapshots.characters)
        problems.push_back({"snapshots.characters", "the learned table has " +
                                                        std::to_string(s.tablePositions()) +
                                                        " positions; a snapshot's text must not be longer"});
    if (s.model.position == "learned" && s.tablePositions() < s.training.length)
        problems.push_back({"model.table_positions", "training sequences have " +
                                                         std::to_string(s.training.length) +
                                                         " characters; the table must hold as many"});
}

void checkUnused(const Specification& s, std::vector<SpecificationProblem>& problems) {
    static const Specification defaults;
    for (const SpecificationField& field : specificationFields()) {
        const std::string usual = fieldText(field, defaults);
        if (fieldText(field, s) == usual) continue;
        if (const auto why = whyUnused(field, s))
            problems.push_back({field.key(), "would be ignored: " + *why + "; leave it at " + usual});
    }
}

void checkTask(const Specification& s, std::vector<SpecificationProblem>& problems) {
    if (s.task.name == "index" && s.task.string_min > s.task.string_max)
        problems.push_back({"task.string_min", "the shortest string is longer than the longest"});
    if (s.task.name == "prefix" && s.task.random_min > s.task.random_max)
        problems.push_back({"task.random_min", "the fewest random letters are more than the most"});
    if (s.task.isText()) {
        if (s.task.text.empty())
            problems.push_back(
                {"task.text", "name the text: a UTF-8 file, a folder of them, or a bundled text"});
        return;
    }
    if (!problems.empty()) return;
    const auto task = makeTask(s.task);
    const int longest = task->longestPrompt() + task->longestAnswer();
    if (longest >= s.training.length)
        problems.push_back({"training.length", "the longest problem has " + std::to_string(longest) +
                                                   " characters; a sequence must hold more than that"});
}

void checkTraining(const Specification& s, std::vector<SpecificationProblem>& problems) {
    if (s.training.learning_rate <= 0)
        problems.push_back(
            {"training.learning_rate", "the learning rate must be above 0, or nothing is learned"});
    if (s.training.warmup_steps > s.training.steps)
        problems.push_back({"training.warmup_steps", "warm-up is longer than the run"});
    if (!isDeviceName(s.device.name))
        problems.push_back(
            {"device.name", "a device is auto, cpu, cuda or cuda:N, not \"" + s.device.name + "\""});
}

}  // namespace

bool isDeviceName(const std::string& name) {
    if (name == "auto" || name == "cpu" || name == "cuda") return true;
    return name.starts_with("cuda:") && name.size() <= 8 &&
           name.find_first_not_of("0123456789", 5) == std::string::npos && name.size() > 5;
}

const SpecificationField& findField(std::string_view key) {
    const SpecificationField* by_name = nullptr;
    int matches = 0;
    std::vector<std::string> known;
    for (const SpecificationField& field : specificationFields()) {
        if (field.key() == key) return field;
        if (field.name == key) {
            by_name = &field;
            ++matches;
        }
        known.push_back(key.find('.') == std::string_view::npos ? field.name : field.key());
    }
    if (matches == 1) return *by_name;
    if (matches > 1)
        throw Error(ErrorKind::usage,
                    "\"" + std::string(key) + "\" is in several sections; write section." + std::string(key));
    const auto nearest = nearestName(key, known);
    throw Error(ErrorKind::usage, "unknown key \"" + std::string(key) + "\"" +
                                      (nearest ? "; did you mean \"" + *nearest + "\"?"
                                               : "; `roper-train describe` lists the known ones"));
}

std::string fieldText(const SpecificationField& field, const Specification& specification) {
    struct Getter {
        const Specification& s;
        std::string operator()(const SpecificationField::Integer& kind) const {
            return std::to_string(read(kind, s));
        }
        std::string operator()(const SpecificationField::Real& kind) const {
            return formatNumber(read(kind, s));
        }
        std::string operator()(const SpecificationField::Text& kind) const { return read(kind, s); }
        std::string operator()(const SpecificationField::Choice& kind) const { return read(kind, s); }
    };
    return std::visit(Getter{specification}, field.kind);
}

void setField(const SpecificationField& field, Specification& specification, std::string_view text) {
    std::visit(Setter{field, specification, text}, field.kind);
}

std::vector<SpecificationProblem> check(const Specification& specification) {
    std::vector<SpecificationProblem> problems;
    checkTask(specification, problems);
    checkModel(specification, problems);
    checkTraining(specification, problems);
    checkUnused(specification, problems);
    return problems;
}

void applySetting(Specification& specification, std::string_view setting) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string_view::npos)
        throw Error(ErrorKind::usage, "a setting is written key=value, not \"" + std::string(setting) + "\"");
    setField(findField(trimmed(setting.substr(0, equals))), specification,
             trimmed(setting.substr(equals + 1)));
}

void requireValid(const Specification& specification, const std::string& origin) {
    const auto problems = check(specification);
    if (problems.empty()) return;
    std::vector<std::string> lines;
    for (const auto& problem : problems)
        lines.push_back(origin + ": " + problem.key + ": " + problem.message);
    throw Error(ErrorKind::usage, join(lines, "\n"));
}

std::string fieldsAsMarkdown() {
    const Specification defaults;
    std::string text = "| key | default | unit | accepts | meaning |\n|---|---|---|---|---|\n";
    for (const SpecificationField& field : specificationFields()) {
        std::string accepts = "text";
        if (const auto* choice = std::get_if<SpecificationField::Choice>(&field.kind)) {
            accepts = join(choice->choices, ", ");
        } else if (const auto* integer = std::get_if<SpecificationField::Integer>(&field.kind)) {
            accepts = std::to_string(integer->low) + " … " + std::to_string(integer->high);
        } else if (const auto* real = std::get_if<SpecificationField::Real>(&field.kind)) {
            accepts = formatNumber(real->low) + " … " + formatNumber(real->high);
        }
        const std::string value = fieldText(field, defaults);
        text += "| `" + field.key() + "` | " + (value.empty() ? "" : "`" + value + "`") + " | " + field.unit +
                " | " + accepts + " | " + field.help + " |\n";
    }
    return text;
}

}  // namespace roper
