#include "core/rotary/attention_form.h"

#include <cmath>

namespace roper {

Eigen::MatrixXd TensorRotation::apply(const Eigen::MatrixXd& X, const Eigen::VectorXd& positions) const {
    if (direction == 0) return X;
    return rotateRows(rotary, X, direction * (positions.array() + offset));
}

AttentionForm formOf(const RotatedTensors& rotated, const Rotary& query_key, const Rotary& value,
                     double value_rotation_strength) {
    const auto step = [](bool rotates, const Rotary& rotary, double direction) {
        return TensorRotation{rotary, rotates ? direction : 0.0};
    };
    return {step(rotated.query, query_key, 1), step(rotated.key, query_key, 1),
            step(rotated.value, value, value_rotation_strength),
            step(rotated.output, value, -value_rotation_strength)};
}

AttentionForm roperForm(const Rotary& query_key, const Rotary& value, double value_rotation_strength) {
    return formOf(kRoperTensors, query_key, value, value_rotation_strength);
}

AttentionForm withMistake(AttentionForm form, Mistake mistake, const FrequencyRule& frequencies) {
    const auto for_all = [&](auto change) {
        for (TensorRotation* step : {&form.query, &form.key, &form.value, &form.output})
            change(step->rotary);
    };
    switch (mistake) {
        case Mistake::none:
            break;
        case Mistake::wrong_pairing:
            form.key.rotary.pairing =
                form.query.rotary.pairing == Pairing::half ? Pairing::interleaved : Pairing::half;
            break;
        case Mistake::wrong_direction:
            form.key.direction = -form.key.direction;
            break;
        case Mistake::no_inverse:
            form.output.direction = 0;
            break;
        case Mistake::values_twice:
            form.value.direction *= 2;
            break;
        case Mistake::positions_from_one:
            form.query.offset = 1;
            form.output.offset = 1;
            break;
        case Mistake::model_width:
            for_all([&](Rotary& rotary) {
                if (rotary.pairs() == 0) return;
                rotary.theta = frequencies.for_rotated_width(kModelHeads * rotary.rotatedWidth())
                                   .head(rotary.pairs())
                                   .eval();
            });
            break;
        case Mistake::exponent_without_pair:
            for_all([&](Rotary& rotary) {
                rotary.theta.setConstant(std::pow(frequencies.base, -rotary.head_dim));
            });
            break;
    }
    return form;
}

bool affectsValues(Mistake mistake) {
    return mistake == Mistake::no_inverse || mistake == Mistake::values_twice;
}

bool appliesTo(Mistake mistake, const RotatedTensors& rotated) {
    return affectsValues(mistake) ? rotated.value && rotated.output : rotated.query && rotated.key;
}

bool isRevealedByShift(Mistake mistake) {
    return mistake == Mistake::wrong_pairing || mistake == Mistake::wrong_direction || affectsValues(mistake);
}

}  // namespace roper
