#include "ui/pages/inspect/head_scores.h"

#include <cmath>

namespace roper {
namespace {

/// A member of the head's record in an answer that lists all heads; nothing for NaN.
template <const auto& spec, auto member>
std::optional<double> memberOf(const InspectState& state, const HeadReport& report) {
    if (const auto* answer = state.answer(spec))
        for (const auto& one : answer->heads)
            if (one.layer == report.layer && one.head == report.head && std::isfinite(one.*member))
                return one.*member;
    return std::nullopt;
}

/// The head's entry in an answer with a table [layers][heads].
template <const auto& spec>
std::optional<double> entryOf(const InspectState& state, const HeadReport& report) {
    const auto* answer = state.answer(spec);
    if (answer == nullptr) return std::nullopt;
    return answer->score.at(static_cast<std::size_t>(report.layer)).at(static_cast<std::size_t>(report.head));
}

}  // namespace

const std::vector<HeadScore>& headScores() {
    static const std::vector<HeadScore> scores = {
        {QObject::tr("induction score"), &answers::induction, 0, 1, entryOf<answers::induction>},
        {QObject::tr("copying score"), &answers::copying, -1, 1, entryOf<answers::copying>},
        {QObject::tr("weight on the first token"), &answers::sinks, 0, 1,
         memberOf<answers::sinks, &SinksOfHead::first_token>},
        {QObject::tr("weight of the learned sink"), &answers::sinks, 0, 1,
         memberOf<answers::sinks, &SinksOfHead::sink>},
        {QObject::tr("share of the scores' variance from rotated features"), &answers::score_parts, 0, 1,
         memberOf<answers::score_parts, &ScoreParts::rotated_share>}};
    return scores;
}

}  // namespace roper
