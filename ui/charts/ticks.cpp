#include "ui/charts/ticks.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace roper {

std::vector<double> niceTicks(double low, double high, int count) {
    if (!(high > low) || !std::isfinite(high - low)) return {low};
    const double rough = (high - low) / count;
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    double step = 10 * power;
    for (const double factor : {5.0, 2.0, 1.0})
        if (factor * power >= rough) step = factor * power;
    std::vector<double> ticks;
    for (double index = std::ceil(low / step); index * step <= high + 1e-9 * step; ++index)
        ticks.push_back(index * step);
    return ticks;
}

std::vector<double> wholeTicks(double low, double high, int count) {
    std::vector<double> ticks = niceTicks(low, high, count);
    std::erase_if(ticks, [](double tick) { return std::abs(tick - std::round(tick)) > 1e-6; });
    return ticks;
}

int wholeStep(double count, double most) {
    int step = 1;
    for (int i = 0; count / step > std::max(most, 1.0); ++i)
        step = (i % 3 == 1) ? step / 2 * 5 : step * 2;
    return step;
}

QVector<double> LogTicker::createTickVector(double, const QCPRange& range) {
    constexpr double kFewDecades = 3, kAboutOneDecade = 1.4;
    constexpr int kMaxTicks = 8;
    using Factors = std::vector<double>;
    QVector<double> ticks;
    if (range.lower <= 0 || range.upper <= range.lower) return ticks;
    const double decades = std::log10(range.upper / range.lower);
    const auto first = static_cast<int>(std::floor(std::log10(range.lower)));
    const auto last = static_cast<int>(std::ceil(std::log10(range.upper)));
    const int every = std::max(1, (last - first) / kMaxTicks);
    const Factors factors = decades > kFewDecades       ? Factors{1}
                            : decades > kAboutOneDecade ? Factors{1, 2, 5}
                                                        : Factors{1, 2, 3, 4, 6, 8};
    for (int power = first; power <= last; power += every)
        for (const double factor : factors) {
            const double tick = factor * std::pow(10.0, power);
            if (tick >= range.lower && tick <= range.upper) ticks.append(tick);
        }
    // A range below an octave may contain no power of ten; it has even steps, as on a linear axis.
    return ticks.size() >= 2 ? ticks
                             : QCPAxisTicker::createTickVector(QCPAxisTicker::getTickStep(range), range);
}

int LogTicker::getSubTickCount(double) {
    return 0;
}

QString LinearTicker::getTickLabel(double tick, const QLocale& locale, QChar format, int precision) {
    QString label = QCPAxisTicker::getTickLabel(tick, locale, format, precision);
    if (label.startsWith('-')) label[0] = QChar(0x2212);
    return label;
}

double WholeTicker::getTickStep(const QCPRange& range) {
    const double step = QCPAxisTicker::getTickStep(range);
    return step < 1 ? 1 : std::floor(step);  // of the steps above 1, only 2.5 is not whole
}

int WholeTicker::getSubTickCount(double step) {
    return step <= 1 ? 0 : QCPAxisTicker::getSubTickCount(step);
}

}  // namespace roper
