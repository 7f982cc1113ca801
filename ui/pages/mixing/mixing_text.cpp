#include "ui/pages/mixing/mixing_text.h"

#include <cmath>

#include "ui/explorer/mistake_text.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

/// The setup with the method RoPER, unless its method rotates only values or only outputs.
Setup asRoper(Setup setup) {
    if (mixedTensors(setup) == kRoperTensors) setup.method = "roper";
    return setup;
}

/// "j", "2j", "0.4 j": a position with a factor.
QString times(double factor, const QString& position) {
    if (factor == 1) return position;
    const bool is_whole = factor == std::round(factor);
    return numberText(factor, 4) + (is_whole ? QString() : QStringLiteral(" ")) + position;
}

/// Symbols as changed by a mistake: R and θ with a tilde have wrong frequencies.
struct Symbols {
    QString R = QStringLiteral("R"), theta = QStringLiteral("θ"), n = QStringLiteral("n");

    explicit Symbols(Mistake mistake) {
        if (mistake == Mistake::model_width || mistake == Mistake::exponent_without_pair) {
            R = QStringLiteral("R̃");
            theta = QStringLiteral("θ̃");
        }
        if (mistake == Mistake::positions_from_one) n = QStringLiteral("(n+1)");
    }
};

/// Formulas where outputs rotate back, but values do not rotate. Of the mistakes, those of positions,
/// frequencies and the inverse apply.
MixingFormulas formulasOfOutputsAlone(const Setup& setup) {
    const double strength = setup.value_rotation_strength;
    const bool is_unrotated = strength == 0 || setup.mistake == Mistake::no_inverse;
    const Symbols symbols(setup.mistake);
    const QString by = QChar(0x2212) + times(strength, symbols.n);
    MixingFormulas formulas;
    formulas.rotate = QObject::tr("v′ⱼ = vⱼ, not rotated");
    formulas.mix = QStringLiteral("ô = Σ a v′");
    formulas.rotate_back = is_unrotated ? QObject::tr("o = ô, not rotated back")
                                        : QStringLiteral("o = %1(%2)ô").arg(symbols.R, by);
    formulas.output =
        is_unrotated ? QStringLiteral("o = Σ a v") : QStringLiteral("o = Σ a %1(%2)v").arg(symbols.R, by);
    formulas.angle = setup.shift != 0 && strength == 1
                         ? QChar(0x2212) + QStringLiteral("(n+S)") + symbols.theta
                         : by + symbols.theta;
    formulas.direct_output = strength == 0
                                 ? QStringLiteral("Σ a v")
                                 : QStringLiteral("Σ a R(−%1)v").arg(times(strength, QStringLiteral("n")));
    return formulas;
}

}  // namespace

RotatedTensors mixedTensors(const Setup& setup) {
    const RotatedTensors rotated = setup.rotatedTensors();
    return rotated.outputsAreRelative() ? kRoperTensors : rotated;
}

QString mixingName(const Setup& setup) {
    const RotatedTensors rotated = mixedTensors(setup);
    return rotated.outputsAreRelative()
               ? QObject::tr("RoPER")
               : QObject::tr("%1 rotated").arg(QString::fromStdString(nameOf(rotated)));
}

QString mixingTitle(const Setup& setup) {
    const QString form = mixingName(setup);
    QString title = setup.value_rotation_strength >= 1
                        ? form
                        : QObject::tr("%1 % of the way to %2")
                              .arg(QString::number(std::lround(100 * setup.value_rotation_strength)), form);
    if (setup.mistake != Mistake::none)
        title += QObject::tr(", mistake: %1").arg(describe(setup.mistake).name);
    return title;
}

AttentionForm mixingForm(const Setup& setup) {
    return asRoper(setup).form();
}

AttentionForm correctMixingForm(const Setup& setup) {
    return asRoper(setup).correctForm();
}

MixingFormulas mixingFormulas(const Setup& setup) {
    const double strength = setup.value_rotation_strength;
    const RotatedTensors rotated = mixedTensors(setup);
    if (!rotated.value) return formulasOfOutputsAlone(setup);
    const bool twice = setup.mistake == Mistake::values_twice,
               back = rotated.output && setup.mistake != Mistake::no_inverse,
               from_one = setup.mistake == Mistake::positions_from_one;
    const Symbols symbols(setup.mistake);
    const QString j = times(twice ? 2 * strength : strength, QStringLiteral("j"));
    // The total rotation of a value, as a multiple of the difference of positions if the form allows it.
    QString by = j;
    bool is_sum = false;
    if (back && !twice && !from_one) {
        by = strength == 1 ? QStringLiteral("j−n") : times(strength, QStringLiteral("(j−n)"));
        is_sum = strength == 1;
    } else if (back) {
        by = from_one && strength == 1 ? QStringLiteral("j−n−1")
                                       : j + QChar(0x2212) + times(strength, symbols.n);
        is_sum = true;
    }
    MixingFormulas formulas;
    formulas.rotate = strength == 0 ? QObject::tr("v′ⱼ = vⱼ, not rotated")
                                    : QStringLiteral("v′ⱼ = %1(%2)vⱼ").arg(symbols.R, j);
    formulas.mix = QStringLiteral("ô = Σ a v′");
    formulas.rotate_back = !back ? QObject::tr("o = ô, not rotated back")
                           : strength == 0
                               ? QObject::tr("o = ô, nothing to rotate back")
                               : QStringLiteral("o = %1(−%2)ô").arg(symbols.R, times(strength, symbols.n));
    formulas.output =
        strength == 0 ? QStringLiteral("o = Σ a v") : QStringLiteral("o = Σ a %1(%2)v").arg(symbols.R, by);
    formulas.angle = is_sum ? QStringLiteral("(%1)%2").arg(by, symbols.theta) : by + symbols.theta;
    // If values are not rotated back by the angle of their rotation, the output changes with shifts.
    const bool moves = setup.shift != 0 && (!back || twice);
    if (moves && strength == 1) formulas.angle = QStringLiteral("(%1+S)%2").arg(by, symbols.theta);
    const QString relative = rotated.output ? QStringLiteral("j−n") : QStringLiteral("j");
    formulas.direct_output =
        strength == 0   ? QStringLiteral("Σ a v")
        : strength == 1 ? QStringLiteral("Σ a R(%1)v").arg(relative)
                        : QStringLiteral("Σ a R(%1)v")
                              .arg(times(strength, rotated.output ? '(' + relative + ')' : relative));
    return formulas;
}

}  // namespace roper
