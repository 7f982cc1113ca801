#pragma once

#include <Eigen/Core>
#include <QObject>
#include <QPointF>

#include "core/rotary/worked_example.h"
#include "ui/charts/plane_frame.h"
#include "ui/explorer/selection.h"

namespace roper {

/// Rounds the coordinates of a dragged point to hundredths and limits them to ±10.
QPointF snappedToGrid(const QPointF& p);

/// Data for the views of the Rotation page: the shared setup and everything derived from it. Views read it
/// and request changes through it; `changed` notifies all of them.
class RotationState : public QObject {
    Q_OBJECT

  public:
    RotationState(Selection& selection, QObject* parent);

    Selection& selection() { return selection_; }
    const Setup& setup() const { return selection_.setup(); }

    /// x [head_dim].
    const Eigen::VectorXd& x() const { return setup().x; }

    const Rotary& rotary() const { return rotary_; }
    /// R(position)·x [head_dim].
    const Eigen::VectorXd& rotated() const { return rotated_; }
    /// The rotation of x calculated by hand.
    WorkedExample worked() const { return computeWorkedExample(rotary_, x(), setup().position); }

    /// Loads the worked example: "cat" at position 3, d = 4, its own frequency formula, interleaved pairs.
    void loadWorkedExample() { selection_.set(withWorkedExample(setup()), tr("“Cat” example")); }
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
