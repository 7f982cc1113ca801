#include "ui/pages/attention/method_text.h"

#include <array>

#include "core/rotary/position_bias.h"
#include "ui/explorer/mistake_text.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

constexpr int kPartialEntry = 3;

/// The list's entries in order; the partial one is RoPE.
constexpr std::array kMethodOfEntry = {
    Method::none,         Method::rope, Method::roper, Method::rope,
    Method::xpos,         Method::t5,   Method::alibi, Method::linear_numerator,
    Method::linear_cosine};

}  // namespace

QStringList methodNames() {
    return {QObject::tr("none"),
            QObject::tr("RoPE"),
            QObject::tr("RoPER (weights as RoPE)"),
            QObject::tr("RoPE on part of the features"),
            QObject::tr("xPos"),
            QObject::tr("T5 bias"),
            QObject::tr("ALiBi"),
            QObject::tr("linear, numerator turned"),
            QObject::tr("linear, 1 + cosine")};
}

int methodEntry(const Setup& s) {
    if (s.method == Method::rope && s.rotary_fraction < 1) return kPartialEntry;
    for (std::size_t i = 0; i < kMethodOfEntry.size(); ++i)
        if (kMethodOfEntry[i] == s.method && i != kPartialEntry) return static_cast<int>(i);
    return 0;
}

void chooseMethod(Setup& s, int entry) {
    s.method = kMethodOfEntry[static_cast<std::size_t>(entry)];
    if (entry == kPartialEntry && s.rotary_fraction >= 1) s.rotary_fraction = 0.5;
    if (s.method == Method::rope && entry != kPartialEntry) s.rotary_fraction = 1;
    if (!s.rotates() || (isAboutValues(s.mistake) && s.method != Method::roper)) s.mistake = Mistake::none;
}

QString methodFormula(Method method) {
    switch (method) {
        case Method::rope:
            return QObject::tr("s = (R(n)q)·(R(j)k)/√d");
        case Method::roper:
            return QObject::tr(
                "s = (R(n)q)·(R(j)k)/√d: the same scores and weights as RoPE; only the values turn too");
        case Method::xpos:
            return QObject::tr(
                "s = (ζ<sup>n/512</sup>R(n)q)·(ζ<sup>−j/512</sup>R(j)k)/√d, ζ<sub>i</sub> = (2i/d + "
                "0.4)/1.4 <i>(Sun et al. 2022)</i>");
        case Method::t5:
            return QObject::tr(
                "s = q·k/√d + bias(bucket of n − j): a learned number a bucket, drawn from the seed where no "
                "run has learned it <i>(Raffel et al. 2020)</i>");
        case Method::alibi:
            return QObject::tr("s = q·k/√d − 2<sup>−8h/H</sup>·(n − j) <i>(Press et al. 2021)</i>");
        case Method::linear_numerator:
            return QObject::tr(
                "a = (R(n)φ(q))·(R(j)φ(k)) / Σ φ(q)·φ(k), φ(x) = elu(x) + 1: the denominator is not "
                "turned, so weights may be negative and need not sum to 1 <i>(Su 2021)</i>");
        case Method::linear_cosine:
            return QObject::tr(
                "a ∝ 1 + cos(R(n)q, R(j)k): never negative, so a row is a probability <i>(Su 2021)</i>");
        default:
            return QObject::tr("s = q·k/√d: no position at all");
    }
}

QString explainScore(const AttentionState& state) {
    const Setup& s = state.setup();
    QString text =
        QObject::tr("<h3>A score and where it comes from</h3><p>%1</p>").arg(methodFormula(s.method));
    if (state.isReady()) {
        const int query = state.query(), key = state.key();
        text += QObject::tr("<p>n = %1, j = %2: s = <b>%3</b>, a = <b>%4</b></p>")
                    .arg(query)
                    .arg(key)
                    .arg(noteNumber(state.scoreRow()[key]), noteNumber(state.weightRow()[key]));
        const double factor = state.rule().attention_factor;
        if (factor != 1)
            text += QObject::tr("<p>YaRN multiplies cos and sin by %1, so what turns of a score by %2.</p>")
                        .arg(noteNumber(factor), noteNumber(factor * factor));
    }
    text +=
        QObject::tr("<p>Each bar below is the part of one pair of features; they add up to the score%1.</p>")
            .arg(s.method == Method::t5 || s.method == Method::alibi ? QObject::tr(" together with the bias")
                 : s.method == Method::linear_cosine                 ? QObject::tr(" together with the 1")
                                                                     : QString());
    if (s.rotates() && s.mistake == Mistake::none)
        text += QObject::tr(
            "<p>The product of two turned vectors depends on n − j alone, so moving all positions by S "
            "changes "
            "nothing but the last digits.</p>");
    if (s.method == Method::t5 && state.isReady())
        text += QObject::tr("<p>The distance %1 falls into bucket %2 of %3.</p>")
                    .arg(state.query() - state.key())
                    .arg(t5Bucket(state.query() - state.key(), !s.causal,
                                  static_cast<int>(state.rule().t5_biases.size()), state.rule().t5_distance))
                    .arg(state.rule().t5_biases.size());
    if (s.mistake != Mistake::none)
        text +=
            QObject::tr("<h3>Mistake: %1</h3><p>%2. %3</p>")
                .arg(describe(s.mistake).name, describe(s.mistake).what,
                     isSeenByShift(s.mistake)
                         ? QObject::tr("Move all positions: what should stay does not.")
                         : QObject::tr("Moving all positions shows nothing: scores still depend on distance "
                                       "alone, but on "
                                       "the wrong one. Only the comparison with the right form shows it."));
    text += QObject::tr(
        "<p>Seen from afar, a cell of the map stands for the entry of largest size among those it "
        "covers.</p>");
    return text + QObject::tr("<p><i>Su et al., RoFormer, 2021</i></p>");
}

}  // namespace roper
