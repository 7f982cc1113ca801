#include "ui/pages/training/curve_styles.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "ui/charts/curve_letters.h"

namespace roper {
namespace {

/// Gives each key the smallest free number, and frees the numbers of all other keys.
void number(QHash<QString, int>& numbers, const QStringList& keys) {
    numbers.removeIf([&](const auto& each) { return !keys.contains(each.key()); });
    for (const QString& key : keys) {
        if (numbers.contains(key)) continue;
        int free = 0;
        while (std::find(numbers.cbegin(), numbers.cend(), free) != numbers.cend())
            ++free;
        numbers[key] = free;
    }
}

}  // namespace

void CurveStyles::numberExperiments(const QList<Run>& runs) {
    QStringList keys;
    for (const Run& run : runs)
        if (!keys.contains(run.experiment)) keys << run.experiment;
    // Dash patterns repeat when they run out; once few experiments remain, repeated ones are replaced.
    if (keys.size() <= kMaxCurvesWithoutLetters)
        dashes_.removeIf([](const auto& each) { return each.value() >= kMaxCurvesWithoutLetters; });
    if (keys.size() == 1) dashes_.clear();
    number(dashes_, keys);
}

QHash<QString, MetricChart::CurveStyle> CurveStyles::of(const QList<Run>& runs) {
    numberExperiments(runs);
    const bool are_several = dashes_.size() > 1;
    QHash<QString, MetricChart::CurveStyle> styles;
    std::set<std::tuple<int, int, QString>> labels;  // in the order of experiments and groups
    for (const Run& run : runs) {
        const QString experiment = are_several ? run.title + QStringLiteral(": ") : QString();
        MetricChart::CurveStyle style;
        style.label = experiment + run.group;
        style.name = experiment + run.label;
        style.color = run.color;
        style.dash = dashes_.value(run.experiment);
        style.marker = run.place;
        labels.emplace(style.dash, style.marker, style.label);
        styles[run.name] = style;
    }
    QStringList ordered;
    for (const auto& [experiment, group, label] : labels)
        if (!ordered.contains(label)) ordered << label;
    if (ordered.size() <= kMaxCurvesWithoutLetters) ordered.clear();
    number(letters_, ordered);
    for (MetricChart::CurveStyle& style : styles) {
        const auto letter_label = letters_.constFind(style.label);
        if (letter_label == letters_.cend()) continue;
        style.letter_label = CurveLetters::letterLabel(*letter_label);
        style.dash = std::exchange(style.marker, 0);
    }
    return styles;
}

}  // namespace roper
