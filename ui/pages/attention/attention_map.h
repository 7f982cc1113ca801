#pragma once

#include "core/explorer/attention_maps.h"
#include "ui/charts/heat_map_view.h"

namespace roper {

/// All inputs of a map, so that another thread can compute it.
struct MapInputs {
    MapKind kind = MapKind::scores;
    ScoreFormula rule, correct_rule;
    HeadVectors heads;
    double shift = 0;  ///< shift of the setup; in shift-difference maps, the shift that is compared with 0
    bool compares_outputs = false;  ///< differences of outputs instead of scores
    // Texts beside the map, from the same setup.
    QStringList token_names = {};
    QString caption = {};

    /// Whether rows and columns are both tokens; otherwise columns are features of outputs.
    bool isTokenByToken() const;
};

MapInputs mapInputs(const Setup& setup, const HeadVectors& heads);

/// The map without labels, ready to draw. For a long text this takes half a second.
HeatMapView::Map computeMap(const MapInputs& inputs);

/// Headline above the map.
QString mapHeadline(const MapInputs& inputs, const HeatMapView::Map& map);

}  // namespace roper
