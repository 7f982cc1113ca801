#include <algorithm>
#include <iterator>
#include <map>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/questions/band_subsets.h"
#include "core/reading/answers.h"

namespace roper {
namespace {

/// The pairs of each band when a head's pairs are divided into bands of equal width; the last may be wider.
std::vector<std::vector<std::int64_t>> bandsOf(std::int64_t pairs, std::int64_t bands) {
    std::vector<std::vector<std::int64_t>> pairs_of(static_cast<std::size_t>(bands));
    for (std::int64_t pair = 0; pair < pairs; ++pair)
        pairs_of[static_cast<std::size_t>(std::min(pair / (pairs / bands), bands - 1))].push_back(pair);
    return pairs_of;
}

/// The layers whose heads have a number of rotating pairs, by that number.
std::map<std::int64_t, std::vector<std::int64_t>> layersByPairs(const Architecture& model) {
    std::map<std::int64_t, std::vector<std::int64_t>> layers;
    for (std::int64_t layer = 0; layer < model.layers; ++layer)
        if (const int pairs = model.rotationOf(layer).pairs(); pairs > 0 && model.hasHeads(layer))
            layers[pairs].push_back(layer);
    return layers;
}

/// @throws Error (usage) for more bands than pairs, or too many to try all subsets
void requireBands(std::int64_t bands, std::int64_t pairs) {
    constexpr std::int64_t kMaxBands = 8;
    if (bands > kMaxBands || bands > pairs)
        throw Error(ErrorKind::usage, "pairs can be divided into 1 to " +
                                          std::to_string(std::min(kMaxBands, pairs)) + " bands, not " +
                                          std::to_string(bands));
}

std::string rangeText(const std::vector<std::int64_t>& pairs) {
    return pairs.size() == 1 ? std::to_string(pairs.front())
                             : std::to_string(pairs.front()) + "-" + std::to_string(pairs.back());
}

/// The loss with every subset of the bands: the other bands are ablated from the scores of all heads. Pairs
/// that the change ablates are not ablated here. 2^bands passes.
SubsetsAnswer subsetsOf(const QuestionContext& context) {
    context.requireLoss();
    const auto layers_by_pairs = layersByPairs(context.model());
    if (layers_by_pairs.empty())
        throw Error(ErrorKind::usage, "the model rotates no pairs: there are no bands");
    requireBands(context.count(), layers_by_pairs.begin()->first);
    const auto bands = static_cast<std::size_t>(context.count());
    SubsetsAnswer answer;
    answer.bands.resize(bands);
    std::vector<std::vector<Intervention::AblatedPairs>> ablations(bands);  // one list for each band
    for (const auto& [pairs, layers] : layers_by_pairs) {
        const auto pairs_of = bandsOf(pairs, context.count());
        for (std::size_t band = 0; band < bands; ++band) {
            std::string& name = answer.bands[band];
            name += (name.empty() ? "" : "|") + rangeText(pairs_of[band]);
            if (layers_by_pairs.size() == 1)
                ablations[band] = {{{}, pairs_of[band]}};
            else
                for (const std::int64_t layer : layers)
                    ablations[band].push_back({{layer, {}}, pairs_of[band]});
        }
    }
    const std::int64_t subsets = std::int64_t{1} << bands;
    for (std::int64_t kept = 0; kept < subsets; ++kept) {
        BandSubset subset;
        Intervention changed = context.change;
        changed.ablated_pairs.clear();
        for (std::size_t band = 0; band < bands; ++band)
            if ((kept >> band & 1) != 0)
                subset.kept.push_back(static_cast<int>(band));
            else
                std::ranges::copy(ablations[band], std::back_inserter(changed.ablated_pairs));
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
