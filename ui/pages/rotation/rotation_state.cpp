#include "ui/pages/rotation/rotation_state.h"

namespace roper {

RotationState::RotationState(Selection& selection, QObject* parent) : QObject(parent), selection_(selection) {
    connect(&selection_, &Selection::changed, this, &RotationState::followSelection);
    followSelection();
}

void RotationState::followSelection() {
    rotary_ = setup().rotary();
    rotated_ = rotate(rotary_, x(), setup().position);
    emit changed();
}

void RotationState::setX(const Eigen::VectorXd& x) {
    Setup next = setup();
    next.x = x;
    selection_.set(next, tr("Vector x"));
}

WorkedExample RotationState::worked() const {
    return workExample(rotary_, x(), setup().position);
}

void RotationState::loadWorkedExample() {
    selection_.set(withWorkedExample(setup()), tr("“Cat” example"));
}

}  // namespace roper
