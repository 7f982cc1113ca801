#include "ui/pages/spectrum/spectrum_state.h"

#include <QColor>

namespace roper {

ScalingText describe(ScalingMethod method) {
    switch (method) {
        case ScalingMethod::linear:
            return {QObject::tr("linear"), QStringLiteral("θ/s"),
                    QStringLiteral("Chen et al. 2023, arXiv 2306.15595")};
        case ScalingMethod::ntk:
            return {QObject::tr("NTK-aware"), QStringLiteral("b′ = b·s^(r/(r−2))"),
                    QObject::tr("Hugging Face rope utilities")};
        case ScalingMethod::dynamic_ntk:
            return {QObject::tr("dynamic NTK"), QStringLiteral("b′ = b·(s·L′/L − (s−1))^(r/(r−2)) beyond L"),
                    QObject::tr("Hugging Face rope utilities")};
        case ScalingMethod::yarn:
            return {QObject::tr("YaRN"),
                    QObject::tr("θ/s and θ blended from pair c(β_fast) to c(β_slow), c(β) = r·ln(L/2πβ)/(2 "
                                "ln b); cos, sin × "
                                "(0.1 ln s + 1)"),
                    QStringLiteral("Peng et al. 2023, arXiv 2309.00071")};
        case ScalingMethod::llama3:
            return {QObject::tr("Llama 3"),
                    QObject::tr("λ < L/high: θ; λ > L/low: θ/s; between: blend by (L/λ − low)/(high − low)"),
                    QStringLiteral("Llama 3.1; Hugging Face")};
        case ScalingMethod::longrope:
            return {QObject::tr("LongRoPE"),
                    QObject::tr(
                        "θᵢ/fᵢ, one list of factors up to L, another beyond; cos, sin × √(1 + ln s/ln L)"),
                    QStringLiteral("Ding et al. 2024, arXiv 2402.13753")};
        case ScalingMethod::p_rope:
            return {QObject::tr("p-RoPE"), QStringLiteral("θ for i < ⌊p·r/2⌋, else 0"),
                    QStringLiteral("Barbero et al. 2024, arXiv 2410.06205")};
        default:
            return {QObject::tr("unscaled"), QObject::tr("θ as the formula has it"),
                    QStringLiteral("Su et al. 2021")};
    }
}

QColor colorOf(ScalingMethod method) {
    // Tol's muted colours, none of which means a method of attention.
    switch (method) {
        case ScalingMethod::linear:
            return QColor(0xAA, 0x44, 0x99);
        case ScalingMethod::ntk:
            return QColor(0x44, 0xAA, 0x99);
        case ScalingMethod::dynamic_ntk:
            return QColor(0x99, 0x99, 0x33);
        case ScalingMethod::yarn:
            return QColor(0xCC, 0x66, 0x77);
        case ScalingMethod::llama3:
            return QColor(0x88, 0x77, 0xDD);
        case ScalingMethod::longrope:
            return QColor(0x88, 0x22, 0x55);
        case ScalingMethod::p_rope:
            return QColor(0x99, 0x77, 0x44);
        default:
            return QColor(0x77, 0x7d, 0x86);
    }
}

SpectrumState::SpectrumState(Selection& selection, QObject* parent) : QObject(parent), selection_(selection) {
    connect(&selection_, &Selection::changed, this, &SpectrumState::follow);
    follow();
}

void SpectrumState::follow() {
    const Setup& s = setup();
    curves_.clear();
    const auto add = [&](ScalingMethod method, bool in_use) {
        const ScaledFrequencies scaled = s.scaled(method);
        const ScalingText text = describe(method);
        const QColor color = in_use && method == ScalingMethod::none ? QColor() : colorOf(method);
        if (scaled.theta.size() > 0)
            curves_.push_back({text.name.toLower().replace(' ', '-'), text, color, in_use, scaled.theta});
    };
    add(s.scaling.method, true);
    for (const ScalingMethod method : kScalingMethods)
        if (method != s.scaling.method &&
            std::find(s.overlays.begin(), s.overlays.end(), method) != s.overlays.end())
            add(method, false);
    if (s.other_formula && !curves_.empty()) {
        Setup other = s;
        const bool worked = s.frequency_formula != FrequencyFormula::worked_example;
        other.frequency_formula = worked ? FrequencyFormula::worked_example : FrequencyFormula::standard;
        curves_.push_back(
            {worked ? QStringLiteral("worked-example-formula") : QStringLiteral("standard-formula"),
             {worked ? tr("formula of the worked example") : tr("standard formula"),
              worked ? QStringLiteral("b^(−i/r)") : QStringLiteral("b^(−2i/r)"),
              {}},
             QColor(0x33, 0x22, 0x88),
             false,
             other.scaled(ScalingMethod::none).theta});
    }
    theta_ = curves_.empty() ? Eigen::VectorXd() : curves_.front().theta;
    emit changed();
}

}  // namespace roper
