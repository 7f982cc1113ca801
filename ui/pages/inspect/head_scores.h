#pragma once

#include <QString>
#include <optional>
#include <vector>

#include "ui/pages/inspect/inspect_state.h"

namespace roper {

/// A score by which heads can be colored and sorted. A question of its own computes it for all heads.
struct HeadScore {
    QString name;              ///< "induction score"
    const AnswerSpec* answer;  ///< asked when the score is shown
    double low = 0, high = 1;  ///< ends of the color scale
    /// The score of a head; nothing while it is unknown, or if the head has none.
    std::optional<double> (*of)(const InspectState& state, const HeadReport& report) = nullptr;
};

/// All scores, in the order of the combo boxes.
const std::vector<HeadScore>& headScores();

/// The score of a choice: those from `first` on are the scores. Null for other choices.
template <class Choice>
const HeadScore* scoreAt(int choice, Choice first) {
    const int score = choice - static_cast<int>(first);
    return score < 0 ? nullptr : &headScores().at(static_cast<std::size_t>(score));
}

}  // namespace roper
