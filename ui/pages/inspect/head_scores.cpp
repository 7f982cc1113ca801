#include "ui/pages/inspect/head_scores.h"

#include <cmath>

namespace roper {
namespace {

/// A member of an answer that lists the heads.
template <class Answer, class Head>
std::optional<double> memberOf(const Answer* answer, double Head::*member, int layer, int head) {
    if (answer == nullptr) return std::nullopt;
    for (const Head& one : answer->heads)
        if (one.layer == layer && one.head == head && std::isfinite(one.*member)) return one.*member;
    return std::nullopt;
}

/// An entry of an answer with a table [layers][heads].
template <class Answer>
std::optional<double> entryOf(const Answer* answer, int layer, int head) {
    if (answer == nullptr) return std::nullopt;
    return answer->score.at(static_cast<std::size_t>(layer)).at(static_cast<std::size_t>(head));
}

}  // namespace

const std::vector<HeadScore>& headScores() {
    static const std::vector<HeadScore> scores = {
        {QObject::tr("induction score"), &answers::induction, 0, 1,
         [](const InspectState& state, int layer, int head) {
             return entryOf(state.answer(answers::induction), layer, head);
         }},
        {QObject::tr("copying score"), &answers::copying, -1, 1,
         [](const InspectState& state, int layer, int head) {
             return entryOf(state.answer(answers::copying), layer, head);
         }},
        {QObject::tr("weight on the first token"), &answers::sinks, 0, 1,
         [](const InspectState& state, int layer, int head) {
             return memberOf(state.answer(answers::sinks), &SinksOfHead::first_token, layer, head);
         }},
        {QObject::tr("weight of the learned sink"), &answers::sinks, 0, 1,
         [](const InspectState& state, int layer, int head) {
             return memberOf(state.answer(answers::sinks), &SinksOfHead::sink, layer, head);
         }},
        {QObject::tr("share of score variance from rotated features"), &answers::score_parts, 0, 1,
         [](const InspectState& state, int layer, int head) {
             return memberOf(state.answer(answers::score_parts), &ScoreParts::rotated_share, layer, head);
         }}};
    return scores;
}

}  // namespace roper
