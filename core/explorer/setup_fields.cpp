#include "core/explorer/setup_fields.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {
namespace {

/// The names of a choice's values, in the order of the enumeration.
const std::vector<std::string> kSchedules = {"standard", "intro"};
const std::vector<std::string> kPairings = {"half", "interleaved"};
const std::vector<std::string> kScalings(kScalingNames.begin(), kScalingNames.end());
const std::vector<std::string> kSources = {"random", "hand", "run"};
const std::vector<std::string> kMethods = {
    "none", "rope", "roper", "xpos", "t5", "alibi", "linear_numerator", "linear_cosine"};
const std::vector<std::string> kMistakeNames = {"none",        "wrong_pairing",        "wrong_direction",
                                                "no_inverse",  "values_twice",         "positions_from_one",
                                                "model_width", "exponent_without_pair"};
const std::vector<std::string> kMaps = {"scores", "weights", "shift_difference", "form_difference"};

Error wrong(const std::string& key, const std::string& wanted, const std::string& text) {
    return Error(ErrorKind::usage, key + " must be " + wanted + ", not \"" + text + "\"");
}

double finiteNumber(const std::string& key, const std::string& text) {
    const auto value = parseNumber(trimmed(text));
    if (!value || !std::isfinite(*value)) throw wrong(key, "a number", text);
    return *value;
}

std::size_t choiceNumber(const std::string& key, const std::vector<std::string>& names,
                         const std::string& text) {
    const auto found = std::find(names.begin(), names.end(), text);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    const auto nearest = nearestName(text, names);
    throw Error(ErrorKind::usage, key + " must be one of " + join(names, ", ") + ", not \"" + text + "\"" +
                                      (nearest ? "; did you mean \"" + *nearest + "\"?" : ""));
}

SetupField real(std::string key, std::string help, std::function<double&(Setup&)> at) {
    return {key, std::move(help), [at](const Setup& s) { return formatNumber(at(const_cast<Setup&>(s))); },
            [key, at](Setup& s, const std::string& text) { at(s) = finiteNumber(key, text); }};
}

SetupField whole(std::string key, std::string help, int Setup::*member) {
    return {key, std::move(help), [member](const Setup& s) { return std::to_string(s.*member); },
            [key, member](Setup& s, const std::string& text) {
                const auto value = parseInteger(trimmed(text));
                if (!value || *value < std::numeric_limits<int>::min() ||
                    *value > std::numeric_limits<int>::max())
                    throw wrong(key, "a whole number", text);
                s.*member = static_cast<int>(*value);
            }};
}

template <class Enum>
SetupField choice(std::string key, std::string help, const std::vector<std::string>& names,
                  Enum Setup::*member) {
    return {key, std::move(help),
            [&names, member](const Setup& s) { return names.at(static_cast<std::size_t>(s.*member)); },
            [key, &names, member](Setup& s, const std::string& text) {
                s.*member = static_cast<Enum>(choiceNumber(key, names, text));
            }};
}

SetupField words(std::string key, std::string help, std::string Setup::*member) {
    return {key, std::move(help), [member](const Setup& s) { return s.*member; },
            [key, member](Setup& s, const std::string& text) {
                constexpr std::size_t kLongest = 20000;
                if (text.size() > kLongest) throw wrong(key, "at most 20000 bytes", text.substr(0, 40) + "…");
                s.*member = text;
            }};
}

Eigen::VectorXd numbersOf(const std::string& key, const std::string& text) {
    if (text.empty()) return {};
    const std::vector<std::string> cells = split(text, ',');
    if (cells.size() > static_cast<std::size_t>(bounds::kMostHeadDim))
        throw wrong(key, "at most 256 numbers", std::to_string(cells.size()) + " of them");
    Eigen::VectorXd values(static_cast<Eigen::Index>(cells.size()));
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const double value = finiteNumber(key, cells[i]);
        if (std::abs(value) > bounds::kLargestFeature)
            throw wrong(key, "numbers between -1000000 and 1000000", cells[i]);
        values[static_cast<Eigen::Index>(i)] = value;
    }
    return values;
}

std::string textOf(const Eigen::VectorXd& values) {
    std::vector<std::string> cells;
    for (const double value : values)
        cells.push_back(formatNumber(value));
    return join(cells, ",");
}

SetupField vectorField(std::string key, std::string help, Eigen::VectorXd Setup::*member) {
    return {key, std::move(help), [member](const Setup& s) { return textOf(s.*member); },
            [key, member](Setup& s, const std::string& text) { s.*member = numbersOf(key, text); }};
}

/// Rows separated by |, features by commas.
SetupField matrixField(std::string key, std::string help, Eigen::MatrixXd HeadVectors::*member) {
    const auto text = [member](const Setup& s) {
        std::vector<std::string> rows;
        for (const auto& row : (s.by_hand.*member).rowwise())
            rows.push_back(textOf(row));
        return join(rows, "|");
    };
    const auto set = [key, member](Setup& s, const std::string& all) {
        Eigen::MatrixXd& made = s.by_hand.*member;
        made.resize(0, 0);
        if (all.empty()) return;
        const std::vector<std::string> rows = split(all, '|');
        if (rows.size() > static_cast<std::size_t>(bounds::kMostTokensByHand))
            throw wrong(key, "at most 64 rows", std::to_string(rows.size()) + " of them");
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const Eigen::VectorXd row = numbersOf(key, rows[i]);
            if (i == 0) made.resize(static_cast<Eigen::Index>(rows.size()), row.size());
            if (row.size() != made.cols()) throw wrong(key, "rows of one length", rows[i]);
            made.row(static_cast<Eigen::Index>(i)) = row;
        }
    };
    return {key, std::move(help), text, set};
}

template <class Item>
SetupField list(std::string key, std::string help, std::vector<Item> Setup::*member,
                std::function<std::string(Item)> name, std::function<Item(const std::string&)> read) {
    return {key, std::move(help),
            [member, name](const Setup& s) {
                std::vector<std::string> names;
                for (const Item item : s.*member)
                    names.push_back(name(item));
                return join(names, ",");
            },
            [member, read](Setup& s, const std::string& text) {
                (s.*member).clear();
                if (text.empty()) return;
                for (const std::string& part : split(text, ','))
                    (s.*member).push_back(read(trimmed(part)));
            }};
}

SetupField scalingMethod() {
    return {"scaling", "Frequency scaling in use on all pages: " + join(kScalings, ", "),
            [](const Setup& s) { return nameOf(s.scaling.method); },
            [](Setup& s, const std::string& text) {
                s.scaling.method = static_cast<ScalingMethod>(choiceNumber("scaling", kScalings, text));
            }};
}

SetupField seed() {
    return {"seed", "Seed of the random vectors", [](const Setup& s) { return std::to_string(s.seed); },
            [](Setup& s, const std::string& text) {
                const auto value = parseInteger(trimmed(text));
                if (!value || *value < 0) throw wrong("seed", "a whole number from 0", text);
                s.seed = static_cast<std::uint64_t>(*value);
            }};
}

/// Written 0 or 1.
SetupField flag(std::string key, std::string help, bool Setup::*member) {
    return {key, std::move(help), [member](const Setup& s) { return std::string(s.*member ? "1" : "0"); },
            [key, member](Setup& s, const std::string& text) {
                if (text != "0" && text != "1") throw wrong(key, "0 or 1", text);
                s.*member = text == "1";
            }};
}

std::vector<SetupField> rotationFields() {
    return {
        whole("head_dim", "d, features of one head: even, 2 to 256", &Setup::head_dim),
        real("base", "b, 1.01 to 1e15", [](Setup& s) -> double& { return s.base; }),
        choice("schedule", "standard (b^(-2i/d)) or intro (b^(-i/d))", kSchedules, &Setup::schedule),
        choice("pairing", "half or interleaved", kPairings, &Setup::pairing),
        real("rotary_fraction", "Share of the features of q and k that turn, 0 to 1",
             [](Setup& s) -> double& { return s.rotary_fraction; }),
        real("value_rotary_fraction", "Share of the features of v that turn, 0 to 1",
             [](Setup& s) -> double& { return s.value_rotary_fraction; }),
        scalingMethod(),
        real("factor", "s of the scaling", [](Setup& s) -> double& { return s.scaling.factor; }),
        real("original_length", "L, positions seen in training",
             [](Setup& s) -> double& { return s.scaling.original_length; }),
        real("context_length", "L', positions of the text that is read",
             [](Setup& s) -> double& { return s.context_length; }),
        real("beta_fast", "YaRN", [](Setup& s) -> double& { return s.scaling.beta_fast; }),
        real("beta_slow", "YaRN", [](Setup& s) -> double& { return s.scaling.beta_slow; }),
        real("attention_factor", "YaRN; 0: 0.1 ln s + 1",
             [](Setup& s) -> double& { return s.scaling.attention_factor; }),
        {"truncate", "YaRN: 1 rounds the ends of the ramp to whole pairs",
         [](const Setup& s) { return std::string(s.scaling.truncate ? "1" : "0"); },
         [](Setup& s, const std::string& text) {
             if (text != "0" && text != "1") throw wrong("truncate", "0 or 1", text);
             s.scaling.truncate = text == "1";
         }},
        real("low_freq_factor", "Llama 3",
             [](Setup& s) -> double& { return s.scaling.low_frequency_factor; }),
        real("high_freq_factor", "Llama 3",
             [](Setup& s) -> double& { return s.scaling.high_frequency_factor; }),
        real("proportion", "p-RoPE: share of the pairs that turn",
             [](Setup& s) -> double& { return s.scaling.proportion; }),
        real("position", "m of the Rotation page", [](Setup& s) -> double& { return s.position; }),
        whole("pair", "Pair that is looked at, from 0", &Setup::pair),
        vectorField("x", "The vector of the Rotation page, comma-separated", &Setup::x),
        vectorField("y", "The key of the two vectors", &Setup::y),
        real("key_position", "n of the two vectors", [](Setup& s) -> double& { return s.key_position; }),
        real("shift", "S, added to every position", [](Setup& s) -> double& { return s.shift; }),
        words("words", "The sentence, tokens separated by spaces", &Setup::words),
        whole("distances", "How many distances the Spectrum page shows", &Setup::distances),
        list<ScalingMethod>(
            "overlays", "Scalings drawn for comparison", &Setup::overlays,
            [](ScalingMethod method) { return nameOf(method); },
            [](const std::string& text) {
                return static_cast<ScalingMethod>(choiceNumber("overlays", kScalings, text));
            }),
        flag("xpos_decay", "1: xPos is drawn in the decay curve", &Setup::xpos_decay),
        flag("other_schedule", "1: the schedule not in use is drawn for comparison", &Setup::other_schedule),
    };
}

std::vector<SetupField> attentionFields() {
    return {
        choice("source", "Where q, k and v come from: random, hand, run", kSources, &Setup::source),
        whole("tokens", "T", &Setup::tokens),
        seed(),
        real("likeness", "0: random tokens are independent; 1: all alike",
             [](Setup& s) -> double& { return s.likeness; }),
        matrixField("q", "Hand-set queries: rows separated by |", &HeadVectors::Q),
        matrixField("k", "Hand-set keys", &HeadVectors::K),
        matrixField("v", "Hand-set values", &HeadVectors::V),
        words("run", "Name of the run", &Setup::run),
        words("run_text", "Text that the run's model reads", &Setup::run_text),
        whole("layer", "Layer of the run, from 0", &Setup::layer),
        whole("head", "Head, from 0: of the run, of ALiBi's slopes, of T5's biases", &Setup::head),
        whole("heads", "H of ALiBi's slopes", &Setup::heads),
        choice("method", join(kMethods, ", "), kMethods, &Setup::method),
        flag("causal", "1: a query sees itself and what is before it; 0: everything", &Setup::causal),
        choice("mistake", join(kMistakeNames, ", "), kMistakeNames, &Setup::mistake),
        choice("map", join(kMaps, ", "), kMaps, &Setup::map),
        whole("query", "Query that is looked at, from 0", &Setup::query),
        whole("key", "Key that is looked at, from 0", &Setup::key),
        list<int>(
            "muted", "Pairs left out of scores, comma-separated", &Setup::muted,
            [](int pair) { return std::to_string(pair); },
            [](const std::string& text) {
                const auto value = parseInteger(text);
                if (!value || *value < 0 || *value > bounds::kMostHeadDim)
                    throw wrong("muted", "pairs", text);
                return static_cast<int>(*value);
            }),
        real("blend", "Share of the value rotation: 0 RoPE, 1 RoPER",
             [](Setup& s) -> double& { return s.blend; }),
    };
}

}  // namespace

const std::vector<SetupField>& setupFields() {
    static const std::vector<SetupField> fields = [] {
        std::vector<SetupField> all = rotationFields();
        for (SetupField& field : attentionFields())
            all.push_back(std::move(field));
        return all;
    }();
    return fields;
}

const SetupField& findSetupField(std::string_view key, const std::vector<std::string>& also) {
    std::vector<std::string> names = also;
    for (const SetupField& field : setupFields()) {
        if (field.key == key) return field;
        names.push_back(field.key);
    }
    const auto nearest = nearestName(key, names);
    throw Error(ErrorKind::usage,
                "unknown key \"" + std::string(key) + "\"; " +
                    (nearest ? "did you mean \"" + *nearest + "\"?" : "known are " + join(names, ", ")));
}

std::string nameOf(Schedule schedule) {
    return kSchedules.at(static_cast<std::size_t>(schedule));
}

std::string nameOf(Pairing pairing) {
    return kPairings.at(static_cast<std::size_t>(pairing));
}

std::string nameOf(ScalingMethod method) {
    return kScalings.at(static_cast<std::size_t>(method));
}

std::string nameOf(Method method) {
    return kMethods.at(static_cast<std::size_t>(method));
}

std::string nameOf(Mistake mistake) {
    return kMistakeNames.at(static_cast<std::size_t>(mistake));
}

}  // namespace roper
