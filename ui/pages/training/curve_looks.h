#pragma once

#include <QHash>

#include "ui/charts/metric_chart.h"

namespace roper {

/// How runs are told apart in the charts, also without colours. A few experiments have dashes, and their
/// groups marks; with more kinds of curves than there are dashes each has a letter, and groups have dashes.
/// What is charted keeps its dashes and letters, whatever comes, goes or is chosen; one alone is solid.
class CurveLooks {
  public:
    /// A run in the charts.
    struct Run {
        QString name;
        QString experiment;  ///< its key
        QString title;       ///< of the experiment
        QString group;       ///< what tells the run apart within it but the seed: "RoPER"
        QString label;       ///< the same with its seed
        int place = 0;       ///< of the group in the experiment
        QColor color;
    };

    /// By the names of the runs; none of them is chosen.
    QHash<QString, MetricChart::Look> of(const QList<Run>& runs);

  private:
    void numberExperiments(const QList<Run>& runs);

    QHash<QString, int> dashes_;   ///< of the experiments that are charted
    QHash<QString, int> letters_;  ///< of the labels that are charted, counted from 0
};

}  // namespace roper
