#pragma once

#include <Eigen/Core>
#include <QObject>
#include <QPointF>

#include "core/rotary/worked_example.h"
#include "ui/charts/plane_frame.h"
#include "ui/explorer/selection.h"

namespace roper {

/// Where an arrow can be dragged to: hundredths, no farther than 10.
QPointF onGrid(const QPointF& p);

/// What the views of the Rotation page draw: the shared setup and what follows from it. Views read it and
/// ask for changes through it; `changed` tells all of them at once.
class RotationState : public QObject {
    Q_OBJECT

  public:
    RotationState(Selection& selection, QObject* parent);

    Selection& selection() { return selection_; }
    const Setup& setup() const { return selection_.setup(); }

    /// x [head_dim].
    const Eigen::VectorXd& x() const { return setup().x; }
    void setX(const Eigen::VectorXd& x);

    const Rotary& rotary() const { return rotary_; }
    /// R(position)·x.
    const Eigen::VectorXd& rotated() const { return rotated_; }
    WorkedExample worked() const;

    /// The worked example: "cat" at position 3, d = 4, its own frequency formula, interleaved.
    void loadWorkedExample();
    bool isWorkedExample() const { return roper::isWorkedExample(setup()); }

  signals:
    void changed();

  private:
    void followSelection();

    Selection& selection_;
    Rotary rotary_;
    Eigen::VectorXd rotated_;
};

}  // namespace roper
