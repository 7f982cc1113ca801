#include <algorithm>
#include <cmath>

#include "ui/charts/metric_chart.h"
#include "ui/theme/elided_label.h"

// What a MetricChart reads at the pointer.

namespace roper {
namespace {

constexpr std::size_t kMostNamed = 4;

QString nameOf(const MetricChart::Look& look) {
    return look.name.isEmpty() ? look.label : look.name;
}

QString shortNumber(double value) {
    return std::isfinite(value) ? QString::number(value, 'g', 5) : QStringLiteral("NaN");
}

/// The place of the number that is nearest to x.
/// @param xs  rising, not empty
std::size_t nearestPlace(const std::vector<double>& xs, double x) {
    auto nearest = std::lower_bound(xs.begin(), xs.end(), x);
    if (nearest == xs.end() || (nearest != xs.begin() && x - *(nearest - 1) < *nearest - x)) --nearest;
    return static_cast<std::size_t>(nearest - xs.begin());
}

}  // namespace

QString MetricChart::positionText(double x) const {
    return QString::number(x, 'f', across_ == XAxis::time ? 1 : 0);
}

/// The shown series, those nearest to y first.
std::vector<MetricChart::Reading> MetricChart::readingsAt(double x, double y) const {
    // What tells them apart is read, not what all of them are called.
    QStringList names, labels;
    for (const auto& [key, series] : series_)
        if (series.shown && !series.look.letter.isEmpty()) {
            names << nameOf(series.look);
            labels << series.look.label;
        }
    const qsizetype name_prefix = commonPrefixLength(names), label_prefix = commonPrefixLength(labels);
    std::vector<Reading> readings;
    for (const auto& [key, series] : series_) {
        if (!series.shown || series.raw.x().empty() || series.look.marker == kStar) continue;
        const std::size_t i = nearestPlace(series.raw.x(), x);
        const double value = series.raw.y()[i];
        const QString& letter = series.look.letter;
        const auto lettered = [&](const QString& name, qsizetype prefix) {
            return letter.isEmpty() ? name : CurveLetters::labelled(letter, name.mid(prefix));
        };
        QString text = tr("%1: %2 at %3")
                           .arg(lettered(nameOf(series.look), name_prefix), shortNumber(value),
                                positionText(series.raw.x()[i]));
        if (series.look.evaluated) text += tr(", perplexity %1").arg(shortNumber(std::exp(value)));
        if (halfWidth(series) > 0)
            text += tr(", smoothed %1").arg(shortNumber(series.mean.at(i, halfWidth(series))));
        readings.push_back(
            {std::abs(value - y), value, lettered(series.look.label, label_prefix), std::move(text)});
    }
    std::stable_sort(readings.begin(), readings.end(),
                     [](const Reading& a, const Reading& b) { return a.distance < b.distance; });
    return readings;
}

/// Of many runs each kind is summed up, and the nearest one is read in full.
QStringList MetricChart::kindTexts(const std::vector<Reading>& readings) {
    struct Kind {
        QString label;
        std::vector<double> values = {};
    };
    std::vector<Kind> kinds;  // the nearest first
    for (const Reading& reading : readings) {
        auto kind = std::find_if(kinds.begin(), kinds.end(),
                                 [&](const Kind& each) { return each.label == reading.kind; });
        if (kind == kinds.end()) kind = kinds.insert(kinds.end(), {reading.kind});
        if (std::isfinite(reading.value)) kind->values.push_back(reading.value);
    }
    if (kinds.size() == readings.size()) return {};
    QStringList texts;
    for (std::size_t i = 0; i < std::min(kMostNamed, kinds.size()); ++i) {
        const auto& [label, values] = kinds[i];
        if (values.empty()) {
            texts << tr("%1: NaN").arg(label);
            continue;
        }
        double sum = 0;
        for (const double value : values)
            sum += value;
        const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
        texts << tr("%1: mean %2 (%3 to %4, %5 runs)")
                     .arg(label, shortNumber(sum / static_cast<double>(values.size())), shortNumber(*least),
                          shortNumber(*greatest))
                     .arg(values.size());
    }
    if (kinds.size() > kMostNamed)
        texts << tr("and %1 more kinds").arg(static_cast<int>(kinds.size() - kMostNamed));
    return texts << tr("nearest: %1").arg(readings.front().text);
}

QString MetricChart::readoutAt(double x, double y) const {
    const std::vector<Reading> readings = readingsAt(x, y);
    QStringList parts{acrossName() + ' ' + positionText(x)};
    const QStringList of_kinds = readings.size() > kMostNamed ? kindTexts(readings) : QStringList();
    parts << of_kinds;
    if (of_kinds.isEmpty()) {
        for (std::size_t i = 0; i < std::min(kMostNamed, readings.size()); ++i)
            parts << readings[i].text;
        if (readings.size() > kMostNamed)
            parts << tr("and %1 more").arg(static_cast<int>(readings.size() - kMostNamed));
    }
    std::map<QString, std::pair<double, double>> references;  // least and greatest: many have the same
    for (const auto& [key, series] : series_) {
        if (!series.shown || series.raw.x().empty() || series.reference_line == nullptr) continue;
        const double value = series.reference;
        auto& [low, high] = references.emplace(series.reference_name, std::pair(value, value)).first->second;
        low = std::min(low, value);
        high = std::max(high, value);
    }
    for (const auto& [name, range] : references) {
        parts << QStringLiteral("%1 %2").arg(name).arg(range.first, 0, 'f', 4);
        if (range.second > range.first) parts.last() += tr(" to %1").arg(range.second, 0, 'f', 4);
    }
    return parts.join(QStringLiteral("    "));
}

}  // namespace roper
