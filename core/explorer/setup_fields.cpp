#include "core/explorer/setup_fields.h"

#include <cmath>
#include <limits>

#include "core/base/text.h"

namespace roper {
namespace {

constexpr std::int64_t kAnyIndex =
    std::numeric_limits<int>::max();  // `sanitized` applies the actual bound, which depends on other members

template <class... Members>
SetupField make(std::string name, std::string unit, std::string help, AcceptedValues accepts,
                Members... members) {
    return field<Setup>({"", std::move(name), std::move(unit), std::move(help), std::move(accepts)},
                        members...);
}

Eigen::VectorXd numbersOf(const FieldInfo& field, const std::string& text) {
    if (text.empty()) return {};
    const std::vector<std::string> cells = split(text, ',');
    if (cells.size() > static_cast<std::size_t>(bounds::kMaxHeadDim))
        refuseValue(field, "at most " + std::to_string(bounds::kMaxHeadDim) + " numbers",
                    std::to_string(cells.size()) + " numbers");
    Eigen::VectorXd values(static_cast<Eigen::Index>(cells.size()));
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const auto value = parseNumber(trimmed(cells[i]));
        if (!value || !std::isfinite(*value)) refuseValue(field, "numbers", cells[i]);
        if (std::abs(*value) > bounds::kMaxFeature)
            refuseValue(field, "numbers between -1000000 and 1000000", cells[i]);
        values[static_cast<Eigen::Index>(i)] = *value;
    }
    return values;
}

std::string textOf(const Eigen::VectorXd& values) {
    return join(mapped(values, formatNumber), ",");
}

/// Factors of LongRoPE: positive numbers.
Eigen::VectorXd factorsOf(const FieldInfo& field, const std::string& text) {
    Eigen::VectorXd factors = numbersOf(field, text);
    if (factors.size() > 0 && factors.minCoeff() < bounds::kMinFactor)
        refuseValue(field, "numbers of at least 0.001", formatNumber(factors.minCoeff()));
    return factors;
}

/// A list of numbers. @param read  parses the text
template <class... Members>
SetupField vectorField(std::string key, std::string help,
                       Eigen::VectorXd (*read)(const FieldInfo&, const std::string&), Members... members) {
    const auto of = memberAt<Setup>(members...);
    SetupField made{{"", std::move(key), "", std::move(help), CustomFormat{"numbers, comma-separated"}}};
    made.text = [of](const Setup& s) { return textOf(of(const_cast<Setup&>(s))); };
    made.set = [self = FieldInfo(made), of, read](Setup& s, std::string_view text) {
        of(s) = read(self, std::string(text));
    };
    return made;
}

Eigen::MatrixXd rowsOf(const FieldInfo& field, const std::string& text) {
    if (text.empty()) return {};
    const std::vector<std::string> rows = split(text, '|');
    if (rows.size() > static_cast<std::size_t>(bounds::kMaxManualTokens))
        refuseValue(field, "at most 64 rows", std::to_string(rows.size()) + " rows");
    Eigen::MatrixXd made;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Eigen::VectorXd row = numbersOf(field, rows[i]);
        if (i == 0) made.resize(static_cast<Eigen::Index>(rows.size()), row.size());
        if (row.size() != made.cols()) refuseValue(field, "rows of equal length", rows[i]);
        made.row(static_cast<Eigen::Index>(i)) = row;
    }
    return made;
}

/// Rows separated by |, features by commas.
SetupField matrixField(std::string key, std::string help, Eigen::MatrixXd HeadVectors::*member) {
    SetupField made{
        {"", std::move(key), "", std::move(help), CustomFormat{"rows separated by |, numbers by commas"}}};
    made.text = [member](const Setup& s) {
        return join(mapped((s.manual_vectors.*member).rowwise(), textOf), "|");
    };
    made.set = [self = FieldInfo(made), member](Setup& s, std::string_view text) {
        s.manual_vectors.*member = rowsOf(self, std::string(text));
    };
    return made;
}

/// Items separated by commas; each is parsed and formatted by its own field.
template <class Item>
SetupField list(std::string key, std::string help, std::vector<Item> Setup::*member, AcceptedValues of_item) {
    struct One {
        Item value;
    };
    FieldInfo info{"", std::move(key), "", std::move(help), std::move(of_item)};
    const Field<One> item = field<One>(info, &One::value);
    SetupField made{info};
    made.accepts = CustomFormat{acceptsText(info) + "; several separated by commas"};
    made.text = [member, item](const Setup& s) {
        return join(mapped(s.*member, [&](Item value) { return item.text(One{value}); }), ",");
    };
    made.set = [member, item](Setup& s, std::string_view text) {
        std::vector<Item> values;
        for (const std::string& part :
             text.empty() ? std::vector<std::string>() : split(std::string(text), ',')) {
            One one{};
            item.set(one, part);
            values.push_back(one.value);
        }
        s.*member = values;
    };
    return made;
}

/// The position method. Linear attention was formerly one of the methods; its old names are still accepted.
SetupField methodField() {
    std::vector<std::string> names;
    for (const PositionMethod& method : positionMethods())
        if (!method.adds_to_embeddings)
            names.push_back(method.name);  // the other methods have no visible effect in a single head
    SetupField made =
        make("method", "", "Position method, by which positions affect scores (RoPER: also values)",
             Choice{names}, &Setup::method);
    made.set = [plain = made.set](Setup& s, std::string_view text) {
        if (text != "linear_numerator" && text != "linear_cosine") return plain(s, text);
        s.method = "rope";
        s.attention =
            text == "linear_cosine" ? AttentionKind::linear_cosine : AttentionKind::linear_numerator;
    };
    return made;
}

std::vector<SetupField> rotationFields() {
    return {
        make("head_dim", "features", "d, the number of features of a head: even, they form d/2 pairs",
             IntegerRange{bounds::kMinHeadDim, bounds::kMaxHeadDim}, &Setup::head_dim),
        make("base", "",
             "b in θᵢ = b^(−2i/d): 10000 in Su et al.; with a larger base the slow pairs rotate more slowly",
             RealRange{bounds::kMinBase, bounds::kMaxBase}, &Setup::base),
        formerly("schedule", make("frequency_formula", "",
                                  "How the frequency falls from pair to pair: b^(−2i/d) (standard), or "
                                  "b^(−i/d) as in the worked example",
                                  Choice{allNames<FrequencyFormula>(), {{"intro", "worked_example"}}},
                                  &Setup::frequency_formula)),
        make("pairing", "",
             "Which two features rotate together: i with i + d/2 (half), or 2i with 2i + 1 (interleaved)",
             Choice{allNames<Pairing>()}, &Setup::pairing),
        make("rotary_fraction", "", "Fraction of the features of q and k that rotate: r of d, θᵢ = b^(−2i/r)",
             RealRange{0, 1}, &Setup::rotary_fraction),
        make("rotated_part", "", "Whether the first or the last r features rotate",
             Choice{allNames<RotatedPart>()}, &Setup::rotated_part),
        make("value_rotary_fraction", "", "Fraction of the features of v that rotate", RealRange{0, 1},
             &Setup::value_rotary_fraction),
    };
}

std::vector<SetupField> scalingFields() {
    return {
        make("scaling", "", "Frequency scaling, used on all explorer pages",
             Choice{allNames<ScalingMethod>()}, &Setup::scaling, &Scaling::method),
        make("factor", "", "Scaling factor s: how many times longer the text may become",
             RealRange{1, bounds::kMaxFactor}, &Setup::scaling, &Scaling::factor),
        make("original_length", "positions", "L, positions seen in training",
             RealRange{1, bounds::kMaxContextLength}, &Setup::scaling, &Scaling::original_length),
        make("context_length", "positions", "L′, positions of the text being read",
             RealRange{1, bounds::kMaxContextLength}, &Setup::context_length),
        make("beta_fast", "", "YaRN: pairs that rotate more often than this within L keep their frequency",
             RealRange{0.001, 1e6}, &Setup::scaling, &Scaling::beta_fast),
        make("beta_slow", "", "YaRN: pairs that rotate less often than this within L have frequency θ/s",
             RealRange{0.001, 1e6}, &Setup::scaling, &Scaling::beta_slow),
        make("attention_factor", "",
             "YaRN and LongRoPE: multiplies cos and sin; 0: YaRN 0.1 ln s + 1, LongRoPE √(1 + ln s/ln L)",
             RealRange{0, 100}, &Setup::scaling, &Scaling::attention_factor),
        make("long_attention_factor", "",
             "LongRoPE: attention_factor in texts longer than L; 0: no separate value", RealRange{0, 100},
             &Setup::scaling, &Scaling::long_attention_factor),
        make("truncate", "", "YaRN: 1 rounds the ends of the ramp to whole pairs", Flag(), &Setup::scaling,
             &Scaling::truncate),
        make("low_freq_factor", "", "Llama 3: frequencies with wavelengths above L/(this factor) become θ/s",
             RealRange{0.001, 1e6}, &Setup::scaling, &Scaling::low_frequency_factor),
        make("high_freq_factor", "", "Llama 3: frequencies with wavelengths below L/(this factor) are kept",
             RealRange{0.001, 2e6}, &Setup::scaling, &Scaling::high_frequency_factor),
        vectorField("short_factor",
                    "LongRoPE: divisor of the frequency of each pair in texts up to L; empty: 1", factorsOf,
                    &Setup::scaling, &Scaling::short_factors),
        vectorField("long_factor",
                    "LongRoPE: divisor of the frequency of each pair in texts longer than L; empty: 1",
                    factorsOf, &Setup::scaling, &Scaling::long_factors),
        make("proportion", "", "p-RoPE: fraction of the pairs, the fastest ones, that rotate",
             RealRange{0, 1}, &Setup::scaling, &Scaling::proportion),
        make("proportion_factor", "", "p-RoPE: divisor of all frequencies", RealRange{1, bounds::kMaxFactor},
             &Setup::scaling, &Scaling::proportion_factor),
    };
}

/// Fields of the Rotation and Spectrum pages.
std::vector<SetupField> vectorFields() {
    const RealRange position{-bounds::kMaxPosition, bounds::kMaxPosition};
    return {
        make("position", "positions",
             "m, the position of the vector x on the Rotation page: R(m) rotates pair i by mθᵢ; with "
             "two vectors, it is n, the position of the query",
             position, &Setup::position),
        make("pair", "", "The rotary pair shown, from 0 (fastest); pair i has wavelength λᵢ = 2π/θᵢ",
             IntegerRange{0, kAnyIndex}, &Setup::pair),
        vectorField("x", "The vector x on the Rotation page; with two vectors, the query", numbersOf,
                    &Setup::x),
        vectorField("y", "The key, if the Rotation page shows two vectors", numbersOf, &Setup::y),
        make("key_position", "positions",
             "j, the position of the key k on the Rotation page: ⟨R(n)q, R(j)k⟩ = ⟨q, R(j − n)k⟩", position,
             &Setup::key_position),
        make("shift", "positions",
             "S, added to the positions n of queries and j of keys; in the correct form no score or "
             "output changes: R(n + S)ᵀR(j + S) = R(j − n)",
             RealRange{-bounds::kMaxShift, bounds::kMaxShift}, &Setup::shift),
        make("words", "",
             "The sentence of the Rotation page: words separated by spaces, the first at position 0",
             AnyText{20000}, &Setup::words),
        make("distances", "",
             "Number of distances δ that the map and the decay curve of the Spectrum page show",
             IntegerRange{2, bounds::kMaxDistances}, &Setup::distances),
        list("overlays", "Frequency scalings that the Spectrum page draws for comparison", &Setup::overlays,
             Choice{allNames<ScalingMethod>()}),
        make("xpos_decay", "",
             "1: decay curve of xPos (Sun et al. 2022), where pair i also decays by ζᵢ^(δ/512), ζᵢ = (2i/d + "
             "0.4)/1.4",
             Flag(), &Setup::xpos_decay),
        formerly("other_schedule",
                 make("other_formula", "",
                      "1: draw the frequency formula that is not in use, unscaled, for comparison", Flag(),
                      &Setup::other_formula)),
    };
}

std::vector<SetupField> attentionFields() {
    return {
        make("source", "",
             "Where q, k and v come from: random numbers, your own numbers (hand), or a layer and head of a "
             "run",
             Choice{{"random", "hand", "run"}}, &Setup::source),
        make("tokens", "", "T, number of tokens; at most 64 if set by hand",
             IntegerRange{1, bounds::kMaxTokens}, &Setup::tokens),
        make("seed", "", "Seed of the random numbers, and of T5's biases",
             IntegerRange{0, std::numeric_limits<std::int64_t>::max()}, &Setup::seed),
        formerly("likeness", make("similarity", "",
                                  "0: each token has its own vectors; 1: all tokens are identical, so that "
                                  "the map shows only position",
                                  RealRange{0, 1}, &Setup::similarity)),
        matrixField("q", "Queries set by hand, a row for each token", &HeadVectors::Q),
        matrixField("k", "Keys set by hand", &HeadVectors::K),
        matrixField("v", "Values set by hand", &HeadVectors::V),
        make("run", "", "Name of the run", AnyText{20000}, &Setup::run),
        make("run_text", "", "Text that the run's model reads", AnyText{20000}, &Setup::run_text),
        make("layer", "", "Layer of the run, from 0 (nearest to the input)", IntegerRange{0, 4095},
             &Setup::layer),
        make("head", "", "Head, from 0, of the run, ALiBi's slopes or T5's biases",
             IntegerRange{0, kAnyIndex}, &Setup::head),
        make("heads", "", "H, number of heads, for ALiBi's slopes", IntegerRange{1, 1024}, &Setup::heads),
        methodField(),
        make("rotates", "", "Which of q, k, v and o the method rotary rotates", Choice{rotatedTensorsNames()},
             &Setup::rotates),
        make("attention", "", "How scores become attention weights: by softmax, or linear attention",
             Choice{allNames<AttentionKind>()}, &Setup::attention),
        make("causal", "", "A query sees only itself and earlier tokens; if off, all tokens", Flag(),
             &Setup::causal),
        make("mistake", "", "Common implementation error to simulate; none: correct rotation",
             Choice{allNames<Mistake>()}, &Setup::mistake),
        make("map", "", "Which map the Attention page shows",
             Choice{{"scores", "weights", "shift_difference", "form_difference"}}, &Setup::map),
        make("query", "",
             "n, the query whose scores and output are shown, from 0: aₙⱼ = softmax of qₙᵀR(j − n)kⱼ/√d "
             "over j",
             IntegerRange{0, kAnyIndex}, &Setup::query),
        make("key", "", "j, the marked key, from 0; its distance is δ = n − j", IntegerRange{0, kAnyIndex},
             &Setup::key),
        formerly("muted", list("ablated_pairs", "Pairs ablated in the scores, from 0 (fastest)",
                               &Setup::ablated_pairs, IntegerRange{0, bounds::kMaxHeadDim})),
        make("shared_key_value", "",
             "Each token has one vector that is both its key and its value, as in DeepSeek V4; not for "
             "vectors of a run",
             Flag(), &Setup::shared_key_value),
        make("blend", "", "β in o = Σ aₙⱼ R(β(j − n))vⱼ: 0 is RoPE, without rotation of values; 1 is RoPER",
             RealRange{0, 1}, &Setup::value_rotation_strength),
        make("mixture", "",
             "Which random values are mixed: one token with all the weight; two equal values, one of them at "
             "the query; or all tokens with their attention weights",
             Choice{{"one", "two", "all"}}, &Setup::mixed_tokens),
    };
}

}  // namespace

const std::vector<SetupField>& setupFields() {
    static const std::vector<SetupField> fields =
        concatenated<SetupField>({rotationFields(), scalingFields(), vectorFields(), attentionFields()});
    return fields;
}

const SetupField& findSetupField(std::string_view key, const std::vector<std::string>& other_names) {
    return findField(setupFields(), key, other_names);
}

}  // namespace roper
