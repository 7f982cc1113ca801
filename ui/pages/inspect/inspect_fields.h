#pragma once

#include "core/questions/question.h"
#include "ui/pages/inspect/experts_panel.h"
#include "ui/pages/inspect/heads_panel.h"
#include "ui/pages/inspect/pairs_panel.h"
#include "ui/pages/inspect/surprisal_view.h"

namespace roper {

/// Settings of a figure of the Inspect page that is drawn without a window. Most affect only some figures.
struct InspectFigureSettings {
    Question question = {};
    SurprisalView::Shade shade = SurprisalView::Shade::trained;
    HeadScatterView::ColorBy color_by = HeadScatterView::ColorBy::label;
    PairQuantity quantity = PairQuantity::score_share;
    ReachQuantity reach = ReachQuantity::weight;
    ExpertColor expert_color = ExpertColor::index;
    std::optional<std::int64_t> token = {};   ///< index of a token, from 0
    std::optional<std::string> stage = {};    ///< of a walkthrough
    std::optional<std::int64_t> key = {};     ///< token whose key and value a walkthrough shows
    std::optional<std::int64_t> step = {};    ///< step of a snapshot or checkpoint
    std::int64_t problems = 16;               ///< solved-by-size: problems of each size
    std::optional<std::string> learned = {};  ///< learned-positions: name of the quantity
    bool mean = false;                        ///< head-bands: mean over all heads
    bool over_training = false;               ///< kernels: the chosen head at every checkpoint
    std::string comparison = {};              ///< another run, or the path of a published model
};

const std::vector<Field<InspectFigureSettings>>& inspectFields();

}  // namespace roper
