#include "ui/pages/training/curve_looks.h"

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

void CurveLooks::numberExperiments(const QList<Run>& runs) {
    QStringList keys;
    for (const Run& run : runs)
        if (!keys.contains(run.experiment)) keys << run.experiment;
    // Dash patterns repeat when they run out; a few experiments always have distinct ones.
    if (keys.size() <= kMostWithoutLetters)
        dashes_.removeIf([](const auto& each) { return each.value() >= kMostWithoutLetters; });
    if (keys.size() == 1) dashes_.clear();
    number(dashes_, keys);
}

QHash<QString, MetricChart::Look> CurveLooks::of(const QList<Run>& runs) {
    numberExperiments(runs);
    const bool are_several = dashes_.size() > 1;
    QHash<QString, MetricChart::Look> looks;
    std::set<std::tuple<int, int, QString>> labels;  // in the order of experiments and groups
    for (const Run& run : runs) {
        const QString experiment = are_several ? run.title + QStringLiteral(": ") : QString();
        MetricChart::Look look;
        look.label = experiment + run.group;
        look.name = experiment + run.label;
        look.color = run.color;
        look.dash = dashes_.value(run.experiment);
        look.marker = run.place;
        labels.emplace(look.dash, look.marker, look.label);
        looks[run.name] = look;
    }
    QStringList ordered;
    for (const auto& [experiment, group, label] : labels)
        if (!ordered.contains(label)) ordered << label;
    if (ordered.size() <= kMostWithoutLetters) ordered.clear();
    number(letters_, ordered);
    for (MetricChart::Look& look : looks) {
        const auto letter = letters_.constFind(look.label);
        if (letter == letters_.cend()) continue;
        look.letter = CurveLetters::letter(*letter);
        look.dash = std::exchange(look.marker, 0);
    }
    return looks;
}

}  // namespace roper
