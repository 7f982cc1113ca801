#pragma once

#include <Eigen/Core>
#include <QObject>

#include "core/rotary/worked_example.h"
#include "ui/shell/selection.h"

namespace roper {

/// What the views of the Rotation page draw: the shared setup and the page's own vector. Views read it and
/// ask for changes through it; `changed` tells all of them at once.
class RotationState : public QObject {
    Q_OBJECT

  public:
    RotationState(Selection& selection, QObject* parent);

    Selection& selection() { return selection_; }
    const Setup& setup() const { return selection_.setup(); }

    /// x [head_dim].
    const Eigen::VectorXd& x() const { return x_; }
    void setX(const Eigen::VectorXd& x);
    void setFeature(int feature, double value);

    /// R(position)·x.
    Eigen::VectorXd turned() const;
    WorkedExample worked() const;

    /// The source's example: "cat" at position 3, d = 4, intro's schedule, interleaved.
    void loadIntroExample();
    bool isIntroExample() const;

  signals:
    void changed();

  private:
    void followSelection();

    Selection& selection_;
    Eigen::VectorXd x_;
};

}  // namespace roper
