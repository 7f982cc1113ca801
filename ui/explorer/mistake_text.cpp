#include "ui/explorer/mistake_text.h"

#include <QObject>
#include <map>

namespace roper {

MistakeText describe(Mistake mistake) {
    static const std::map<Mistake, MistakeText> all = {
        {Mistake::none, {QObject::tr("none"), {}}},
        {Mistake::wrong_pairing,
         {QObject::tr("wrong pairing"), QObject::tr("keys are paired differently from queries")}},
        {Mistake::wrong_direction,
         {QObject::tr("wrong direction"), QObject::tr("keys rotate by −j: scores see m + n")}},
        {Mistake::no_inverse,
         {QObject::tr("inverse forgotten"), QObject::tr("RoPER's output is not rotated back by R(−n)")}},
        {Mistake::values_twice,
         {QObject::tr("values rotated twice"), QObject::tr("R(2j)v instead of R(j)v")}},
        {Mistake::positions_from_one,
         {QObject::tr("positions from 1"), QObject::tr("queries count from 1, keys from 0")}},
        {Mistake::model_width,
         {QObject::tr("model width"),
          QObject::tr("frequencies of the model's %1 d features, not the head's d").arg(kModelHeads)}},
        {Mistake::exponent_without_pair,
         {QObject::tr("d for 2i/d"), QObject::tr("θ = b^(−d) for every pair: almost nothing rotates")}}};
    return all.at(mistake);
}

}  // namespace roper
