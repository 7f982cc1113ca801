#include "ui/pages/rotation/rotation_state.h"

namespace roper {

QPointF snappedToGrid(const QPointF& p) {
    const auto rounded = [](double value) { return std::clamp(std::round(value * 100) / 100, -10.0, 10.0); };
    return {rounded(p.x()), rounded(p.y())};
}

RotationState::RotationState(Selection& selection, QObject* parent) : QObject(parent), selection_(selection) {
    connect(&selection_, &Selection::changed, this, &RotationState::followSelection);
    followSelection();
}

void RotationState::followSelection() {
    rotary_ = setup().rotary();
    rotated_ = rotate(rotary_, x(), setup().position);
    emit changed();
}

}  // namespace roper
