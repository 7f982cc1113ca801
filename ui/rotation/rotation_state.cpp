#include "ui/rotation/rotation_state.h"

#include <cmath>

namespace roper {
namespace {

/// A vector to begin with: every pair has length 1 and a direction of its own.
double startingFeature(int feature, int head_dim, Pairing pairing) {
    const int pairs = head_dim / 2;
    const int pair = pairing == Pairing::half ? feature % pairs : feature / 2;
    const bool first = pairing == Pairing::half ? feature < pairs : feature % 2 == 0;
    const double angle = 0.5 + 0.35 * pair;
    return first ? std::cos(angle) : std::sin(angle);
}

Setup introSetup(Setup setup) {
    setup.head_dim = 4;
    setup.base = 10000.0;
    setup.schedule = Schedule::intro;
    setup.pairing = Pairing::interleaved;
    setup.position = 3;
    return setup;
}

Eigen::VectorXd introVector() {
    return Eigen::Vector4d(0.5, -1.0, 1.5, 2.0);
}

}  // namespace

RotationState::RotationState(Selection& selection, QObject* parent)
    : QObject(parent), selection_(selection), x_(introVector()) {
    connect(&selection_, &Selection::changed, this, &RotationState::followSelection);
    followSelection();
}

void RotationState::followSelection() {
    const auto kept = x_.size();
    if (kept != setup().head_dim) {
        x_.conservativeResize(setup().head_dim);
        for (auto i = kept; i < x_.size(); ++i)
            x_[i] = startingFeature(static_cast<int>(i), setup().head_dim, setup().pairing);
    }
    emit changed();
}

void RotationState::setX(const Eigen::VectorXd& x) {
    x_ = x;
    emit changed();
}

void RotationState::setFeature(int feature, double value) {
    x_[feature] = value;
    emit changed();
}

Eigen::VectorXd RotationState::turned() const {
    return rotate(setup().rotary(), x_, setup().position);
}

WorkedExample RotationState::worked() const {
    return workExample(setup().rotary(), x_, setup().position);
}

void RotationState::loadIntroExample() {
    x_ = introVector();
    const Setup before = setup();
    Setup example = introSetup(before);
    example.pair = 0;
    selection_.set(example);
    if (setup() == before) emit changed();
}

bool RotationState::isIntroExample() const {
    return setup() == introSetup(setup()) && x_ == introVector();
}

}  // namespace roper
