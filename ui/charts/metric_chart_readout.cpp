#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/charts/metric_chart.h"
#include "ui/charts/series.h"
#include "ui/theme/elided_label.h"
#include "ui/theme/numbers.h"

// The readout of a MetricChart at the pointer.

namespace roper {
namespace {

constexpr std::size_t kMaxNamed = 4;

QString shortNumber(double value) {
    return std::isfinite(value) ? QString::number(value, 'g', 5) : QStringLiteral("NaN");
}

}  // namespace

QString MetricChart::positionText(double x) const {
    return QString::number(x, 'f', x_axis_ == XAxis::time ? 1 : 0);
}

/// The visible series, the nearest to y first.
std::vector<MetricChart::Reading> MetricChart::readingsAt(double x, double y) const {
    // The readout omits prefixes that all names share.
    QStringList names, labels;
    for (const auto& [key, series] : series_)
        if (isCurveVisible(key) && !series.style.letter_label.isEmpty()) {
            names << series.style.specificName();
            labels << series.style.label;
        }
    const qsizetype name_prefix = commonPrefixLength(names), label_prefix = commonPrefixLength(labels);
    std::vector<Reading> readings;
    for (const auto& [key, series] : series_) {
        if (!isCurveVisible(key) || series.raw.x().empty() || series.style.marker == kStar) continue;
        const std::size_t i = nearestIndex(series.raw.x(), x);
        const double value = series.raw.y()[i];
        const QString& letter_label = series.style.letter_label;
        const auto lettered = [&](const QString& name, qsizetype prefix) {
            return letter_label.isEmpty() ? name : CurveLetters::labeled(letter_label, name.mid(prefix));
        };
        QString text = tr("%1: %2 at %3")
                           .arg(lettered(series.style.specificName(), name_prefix), shortNumber(value),
                                positionText(series.raw.x()[i]));
        if (series.style.evaluated) text += tr(", perplexity %1").arg(shortNumber(std::exp(value)));
        if (halfWidth(series) > 0)
            text += tr(", smoothed %1").arg(shortNumber(series.mean.at(i, halfWidth(series))));
        readings.push_back(
            {std::abs(value - y), value, lettered(series.style.label, label_prefix), std::move(text)});
    }
    // NaN sorts last.
    std::ranges::stable_sort(readings, [](const Reading& a, const Reading& b) {
        return std::isnan(b.distance) ? !std::isnan(a.distance) : a.distance < b.distance;
    });
    return readings;
}

/// For many runs: a summary for each label, and the nearest run in full. Empty if all labels are different.
QStringList MetricChart::kindTexts(const std::vector<Reading>& readings) {
    std::vector<std::vector<const Reading*>> kinds;  // the nearest first
    for (const Reading& reading : readings) {
        const auto kind =
            std::ranges::find_if(kinds, [&](const auto& each) { return each.front()->kind == reading.kind; });
        if (kind == kinds.end())
            kinds.push_back({&reading});
        else
            kind->push_back(&reading);
    }
    if (kinds.size() == readings.size()) return {};
    QStringList texts;
    const std::size_t named = std::min(kMaxNamed, kinds.size());
    for (std::size_t i = 0; i < named; ++i)
        texts << kindText(kinds[i]);
    if (kinds.size() > named)
        texts << tr("and %1 more").arg(countText(static_cast<int>(kinds.size() - named), tr("group")));
    return texts << tr("nearest: %1").arg(readings.front().text);
}

/// "RoPE: mean 0.52 (0.5 to 0.55, 9 runs), 1 NaN"; a single run with a label is described in full.
QString MetricChart::kindText(const std::vector<const Reading*>& readings) {
    if (readings.size() == 1) return readings.front()->text;
    double sum = 0, least = std::numeric_limits<double>::infinity(), greatest = -least;
    int finite = 0;
    for (const Reading* reading : readings) {
        if (!std::isfinite(reading->value)) continue;
        ++finite;
        sum += reading->value;
        least = std::min(least, reading->value);
        greatest = std::max(greatest, reading->value);
    }
    QStringList parts;
    if (finite > 0) {
        QString range = countText(finite, tr("run"));
        if (least < greatest) range.prepend(tr("%1 to %2, ").arg(shortNumber(least), shortNumber(greatest)));
        parts << tr("mean %1 (%2)").arg(shortNumber(sum / finite), range);
    }
    if (const auto others = static_cast<int>(readings.size()) - finite; others > 0)
        parts << tr("%1 NaN").arg(others);
    return readings.front()->kind + QStringLiteral(": ") + parts.join(QStringLiteral(", "));
}

std::optional<PlotView::Readout> MetricChart::readAt(const QPointF& at) const {
    const double x = plot().xAxis->pixelToCoord(at.x());
    return Readout{x, readoutAt(x, plot().yAxis->pixelToCoord(at.y()))};
}

/// The values nearest to a point, each with its own x: of all curves, of the nearest curves, or summarized
/// for each label.
QString MetricChart::readoutAt(double x, double y) const {
    const std::vector<Reading> readings = readingsAt(x, y);
    QStringList parts{xAxisName() + ' ' + positionText(x)};
    const QStringList of_kinds = readings.size() > kMaxNamed ? kindTexts(readings) : QStringList();
    parts << of_kinds;
    if (of_kinds.isEmpty()) {
        for (std::size_t i = 0; i < std::min(kMaxNamed, readings.size()); ++i)
            parts << readings[i].text;
        if (readings.size() > kMaxNamed)
            parts << tr("and %1 more").arg(static_cast<int>(readings.size() - kMaxNamed));
    }
    // Minimum and maximum by name, since many series have a reference of the same name.
    std::map<QString, std::pair<double, double>> references;
    for (const auto& [key, series] : series_) {
        if (!isCurveVisible(key) || series.raw.x().empty() || series.reference_line == nullptr) continue;
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
