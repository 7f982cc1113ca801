#pragma once

#include <QString>
#include <optional>
#include <vector>

#include "ui/pages/inspect/inspect_state.h"

namespace roper {

/// A number for each head, from a question of its own, by which heads can be coloured and sorted.
struct HeadScore {
    QString name;              ///< "induction score"
    const AnswerSpec* answer;  ///< asked when the score is shown
    double low = 0, high = 1;  ///< ends of the colour scale
    /// The score; nothing while it is unknown, or if the head has none.
    std::optional<double> (*of)(const InspectState& state, const HeadReport& report) = nullptr;
};

/// All of them, in the order of the choices in the window.
const std::vector<HeadScore>& headScores();

}  // namespace roper
