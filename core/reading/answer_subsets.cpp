#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/questions/band_subsets.h"
#include "core/reading/answers.h"

namespace roper {
namespace {

/// The pairs of each band when the rotating pairs are divided into bands of equal width; the last may be
/// wider.
/// @throws Error (usage) for more bands than pairs, or too many to try all subsets
std::vector<std::vector<std::int64_t>> bandsOf(const Architecture& model, std::int64_t bands) {
    constexpr std::int64_t kMaxBands = 8;
    std::int64_t pairs = 0;
    for (const RotaryConfig& rotation : model.rotations)
        pairs = std::max<std::int64_t>(pairs, rotation.pairs());
    if (pairs == 0) throw Error(ErrorKind::usage, "the model rotates no pairs: there are no bands");
    if (bands > kMaxBands || bands > pairs)
        throw Error(ErrorKind::usage, "pairs can be divided into 1 to " +
                                          std::to_string(std::min(kMaxBands, pairs)) + " bands, not " +
                                          std::to_string(bands));
    std::vector<std::vector<std::int64_t>> pairs_of(static_cast<std::size_t>(bands));
    for (std::int64_t pair = 0; pair < pairs; ++pair)
        pairs_of[static_cast<std::size_t>(std::min(pair / (pairs / bands), bands - 1))].push_back(pair);
    return pairs_of;
}

/// The loss with every subset of the bands: the other bands are ablated from the scores of all heads. Pairs
/// that the change ablates are not ablated here. 2^bands passes.
SubsetsAnswer subsetsOf(const QuestionContext& context) {
    context.requireLoss();
    const std::vector<std::vector<std::int64_t>> bands = bandsOf(context.model(), context.count());
    SubsetsAnswer answer;
    for (const auto& band : bands)
        answer.bands.push_back(band.size() == 1
                                   ? std::to_string(band.front())
                                   : std::to_string(band.front()) + "-" + std::to_string(band.back()));
    const std::int64_t subsets = std::int64_t{1} << bands.size();
    for (std::int64_t kept = 0; kept < subsets; ++kept) {
        BandSubset subset;
        Intervention::AblatedPairs left_out;
        for (std::size_t band = 0; band < bands.size(); ++band)
            if ((kept >> band & 1) != 0)
                subset.kept.push_back(static_cast<int>(band));
            else
                left_out.pairs.insert(left_out.pairs.end(), bands[band].begin(), bands[band].end());
        Intervention changed = context.change;
        changed.ablated_pairs.clear();
        if (!left_out.pairs.empty()) changed.ablated_pairs.push_back(left_out);
        subset.loss = context.reader.read(context.ids, 0, changed, {kept, subsets}).loss;
        answer.subsets.push_back(std::move(subset));
    }
    return answer;
}

void printSubsets(const SubsetsAnswer& answer, const QuestionContext&, AnswerWriter& to) {
    std::vector<BandSubset> subsets = answer.subsets;
    std::stable_sort(subsets.begin(), subsets.end(), &hasLowerLoss);
    to.columns("kept_pairs,loss");
    for (const BandSubset& subset : subsets) {
        std::vector<std::string> kept;
        for (const int band : subset.kept)
            kept.push_back(answer.bands[static_cast<std::size_t>(band)]);
        if (to.isJson())
            to.line({{"kept_pairs", kept}, {"loss", subset.loss}});
        else
            to.row({kept.empty() ? "none" : join(kept, " "), formatRounded(subset.loss, 6)});
    }
}

}  // namespace

AnswerHandler subsetsAnswer() {
    return answerHandler(subsetsOf, printSubsets);
}

}  // namespace roper
