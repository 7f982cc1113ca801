#include "ui/pages/spectrum/spectrum_curves.h"

#include <QObject>
#include <algorithm>
#include <map>

namespace roper {

const ScalingText& describe(ScalingMethod method) {
    static const std::map<ScalingMethod, ScalingText> all = {
        {ScalingMethod::none,
         {QObject::tr("unscaled"), QObject::tr("θ as given by the formula"), "Su et al. 2021", "#777d86"}},
        {ScalingMethod::linear,
         {QObject::tr("linear"), "θ/s", "Chen et al. 2023, arXiv 2306.15595", "#aa4499"}},
        {ScalingMethod::ntk,
         {QObject::tr("NTK-aware"), "b′ = b·s^(r/(r−2))", QObject::tr("Hugging Face rope utilities"),
          "#44aa99"}},
        {ScalingMethod::dynamic_ntk,
         {QObject::tr("dynamic NTK"), "b′ = b·(s·L′/L − (s−1))^(r/(r−2)) beyond L",
          QObject::tr("Hugging Face rope utilities"), "#999933"}},
        {ScalingMethod::yarn,
         {QObject::tr("YaRN"),
          QObject::tr("θ/s and θ blended from pair c(β_fast) to c(β_slow), c(β) = r·ln(L/2πβ)/(2 ln b); "
                      "cos, sin × (0.1 ln s + 1)"),
          "Peng et al. 2023, arXiv 2309.00071", "#cc6677"}},
        {ScalingMethod::llama3,
         {QObject::tr("Llama 3"),
          QObject::tr("λ < L/high: θ; λ > L/low: θ/s; between: blend by (L/λ − low)/(high − low)"),
          "Llama 3.1; Hugging Face", "#8877dd"}},
        {ScalingMethod::longrope,
         {QObject::tr("LongRoPE"),
          QObject::tr("θᵢ/fᵢ, one list of factors up to L, another beyond; cos, sin × √(1 + ln s/ln L)"),
          "Ding et al. 2024, arXiv 2402.13753", "#882255"}},
        {ScalingMethod::p_rope,
         {QObject::tr("p-RoPE"), "θ for i < ⌊p·r/2⌋, else 0", "Barbero et al. 2024, arXiv 2410.06205",
          "#997744"}}};
    return all.at(method);
}

QString frequenciesText(const Setup& setup) {
    return QObject::tr("d = %1, base %2, scaling %3")
        .arg(setup.head_dim)
        .arg(setup.base)
        .arg(describe(setup.scaling.method).name);
}

std::vector<SpectrumCurve> spectrumCurves(const Setup& s) {
    std::vector<SpectrumCurve> curves;
    const auto add = [&](ScalingMethod method, bool in_use) {
        const ScaledFrequencies scaled = s.scaled(method);
        ScalingText text = describe(method);
        if (in_use && method == ScalingMethod::none) text.color = QColor();  // the text color
        if (scaled.theta.size() > 0)
            curves.push_back({text.name.toLower().replace(' ', '-'), text, in_use, scaled.theta});
    };
    add(s.scaling.method, true);
    for (const ScalingMethod method : kScalingMethods)
        if (method != s.scaling.method && std::ranges::count(s.overlays, method) > 0) add(method, false);
    if (s.other_formula && !curves.empty()) {
        Setup other = s;
        const bool worked = s.frequency_formula != FrequencyFormula::worked_example;
        other.frequency_formula = worked ? FrequencyFormula::worked_example : FrequencyFormula::standard;
        curves.push_back(
            {worked ? QStringLiteral("worked-example-formula") : QStringLiteral("standard-formula"),
             {worked ? QObject::tr("formula of the worked example") : QObject::tr("standard formula"),
              worked ? QStringLiteral("b^(−i/r)") : QStringLiteral("b^(−2i/r)"),
              {},
              QColor(0x33, 0x22, 0x88)},
             false,
             other.scaled(ScalingMethod::none).theta});
    }
    return curves;
}

}  // namespace roper
