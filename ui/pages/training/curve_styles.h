#pragma once

#include <QHash>

#include "ui/charts/metric_chart.h"

namespace roper {

/// Looks of runs in the charts, distinguishable without colours. A few experiments differ by dashes, and
/// their groups by markers; if there are more kinds of curves than dashes, each kind has a letter, and groups
/// have dashes. Charted runs keep their dashes and letters when others are added, removed or chosen; a single
/// experiment is solid.
class CurveStyles {
  public:
    /// A run in the charts.
    struct Run {
        QString name;
        QString experiment;  ///< key of the experiment
        QString title;       ///< title of the experiment
        QString group;       ///< what distinguishes the run in the experiment, except the seed: "RoPER"
        QString label;       ///< group with seed
        int place = 0;       ///< index of the group in the experiment
        QColor color;
    };

    /// Looks by name of the run; none of them is marked as chosen.
    QHash<QString, MetricChart::CurveStyle> of(const QList<Run>& runs);

  private:
    void numberExperiments(const QList<Run>& runs);

    QHash<QString, int> dashes_;   ///< by charted experiment
    QHash<QString, int> letters_;  ///< by charted label, from 0
};

}  // namespace roper
