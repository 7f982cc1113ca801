#include "ui/explorer/mistake_text.h"

#include <QObject>

namespace roper {

MistakeText describe(Mistake mistake) {
    switch (mistake) {
        case Mistake::wrong_pairing:
            return {QObject::tr("wrong pairing"), QObject::tr("keys are paired the other way than queries")};
        case Mistake::wrong_direction:
            return {QObject::tr("wrong direction"), QObject::tr("keys rotate by −j: scores see m + n")};
        case Mistake::no_inverse:
            return {QObject::tr("inverse forgotten"),
                    QObject::tr("RoPER's output is not rotated back by R(−n)")};
        case Mistake::values_twice:
            return {QObject::tr("values rotated twice"), QObject::tr("R(2j)v in place of R(j)v")};
        case Mistake::positions_from_one:
            return {QObject::tr("positions from 1"), QObject::tr("queries count from 1, keys from 0")};
        case Mistake::model_width:
            return {
                QObject::tr("model width"),
                QObject::tr("frequencies of the model's %1 d features, not the head's d").arg(kModelHeads)};
        case Mistake::exponent_without_pair:
            return {QObject::tr("d for 2i/d"),
                    QObject::tr("θ = b^(−d) for every pair: nearly nothing rotates")};
        default:
            return {QObject::tr("none"), {}};
    }
}

}  // namespace roper
