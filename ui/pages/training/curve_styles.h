#pragma once

#include <QHash>

#include "ui/charts/metric_chart.h"

namespace roper {

/// Line styles of runs in the charts, distinguishable without colors: a dash pattern per experiment (solid if
/// there is only one) and a marker per group, that is, per set of runs that differ only in their seeds. More
/// than kMaxCurvesWithoutLetters groups get a letter each, and a dash pattern instead of a marker. Runs keep
/// their dash patterns and letters while others are added, removed or chosen.
class CurveStyles {
  public:
    /// A run in the charts.
    struct Run {
        QString name;
        QString experiment;  ///< key of the experiment (`experimentKey`)
        QString title;       ///< title of the experiment
        QString group;       ///< what distinguishes the run in the experiment, except the seed: "RoPER"
        QString label;       ///< group with seed
        int place = 0;       ///< index of the group in the experiment, from 0
        QColor color;
    };

    /// Style of each run by its name; `chosen` is false in all of them.
    QHash<QString, MetricChart::CurveStyle> of(const QList<Run>& runs);

  private:
    void numberExperiments(const QList<Run>& runs);

    QHash<QString, int> dashes_;   ///< index of the dash pattern, by key of the experiment
    QHash<QString, int> letters_;  ///< index of the letter, by label in the legend
};

}  // namespace roper
