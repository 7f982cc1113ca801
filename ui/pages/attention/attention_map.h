#pragma once

#include "core/explorer/attention_maps.h"
#include "ui/charts/heat_map_view.h"

namespace roper {

/// Everything that a map is computed from, so that another thread can do it.
struct MapQuestion {
    MapKind kind = MapKind::scores;
    ScoreRule rule, right_rule;
    HeadVectors heads;
    double shift = 0;  ///< of the setup; of a difference by shifting, what the positions are moved by
    bool about_values = false;  ///< differences are those of outputs, not of scores
    // What is written beside it, of the same setup.
    QStringList token_names = {};
    QString caption = {};

    /// Whether rows and columns both are tokens; otherwise columns are features of outputs.
    bool isTokenByToken() const;
};

MapQuestion mapQuestion(const Setup& setup, const HeadVectors& heads);

/// The map without its labels, ready to be drawn. For a large text this takes half a second.
HeatMapView::Map computeMap(const MapQuestion& question);

/// What the page says above the map.
QString mapHeadline(const MapQuestion& question, const HeatMapView::Map& map);

}  // namespace roper
