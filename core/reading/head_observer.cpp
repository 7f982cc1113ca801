#include "core/reading/head_observer.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cmath>
#include <numbers>

#include "core/base/error.h"
#include "core/operators/rotary_operator.h"
#include "core/reading/value_weights.h"

namespace roper {
namespace {

/// Share of the scores' variance due to pairs that rotate less than once within T tokens, and unrotated
/// features.
double slowShare(const PairContributions& of, const Eigen::VectorXd& theta, std::int64_t T) {
    double share = of.rest;
    for (Eigen::Index pair = 0; pair < theta.size(); ++pair)
        if (theta[pair] * static_cast<double>(T) < 2 * std::numbers::pi) share += of.share[pair];
    return share;
}

}  // namespace

Eigen::MatrixXd matrixOf(const at::Tensor& x) {
    const at::Tensor exact = x.to(at::kDouble).contiguous();
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    return Eigen::Map<const RowMajor>(exact.const_data_ptr<double>(), exact.size(0), exact.size(1));
}

at::Tensor tensorOf(const Eigen::MatrixXd& x) {
    at::Tensor columns = at::empty({x.cols(), x.rows()}, at::kDouble);  // Eigen stores column by column
    Eigen::Map<Eigen::MatrixXd>(columns.data_ptr<double>(), x.rows(), x.cols()) = x;
    return columns.t();
}

at::Tensor withWidth(const at::Tensor& x, std::int64_t width) {
    return x.size(-1) == width ? x : at::constant_pad_nd(x, {0, width - x.size(-1)});
}

HeadObserver::HeadObserver(const Architecture& architecture, std::span<const std::int64_t> tokens)
    : architecture_(architecture),
      T_(static_cast<std::int64_t>(tokens.size())),
      tokens_(at::tensor(at::ArrayRef<std::int64_t>(tokens.data(), tokens.size()))),
      reports_(static_cast<std::size_t>(architecture.layers * architecture.heads)) {
    for (std::size_t i = 0; i < reports_.size(); ++i) {
        reports_[i].layer = static_cast<std::int64_t>(i) / architecture.heads;
        reports_[i].head = static_cast<std::int64_t>(i) % architecture.heads;
    }
    const at::Tensor is_same = tokens_.unsqueeze(1).eq(tokens_.unsqueeze(0));
    const at::Tensor j = at::arange(T_), distance = j.unsqueeze(1) - j;
    repeats_ = otherOccurrences(is_same, distance).any(1).sum().item<std::int64_t>();
    inductions_ = followers(is_same, distance).gt(0).any(1).sum().item<std::int64_t>();
}

at::Tensor HeadObserver::otherOccurrences(const at::Tensor& is_same, const at::Tensor& distance) const {
    return is_same.logical_and(architecture_.causal ? distance.gt(0) : distance.ne(0));
}

at::Tensor HeadObserver::followers(const at::Tensor& is_same, const at::Tensor& distance) const {
    // The map of the occurrences shifted by one key, without those followed by the query itself.
    const at::Tensor occurrences = otherOccurrences(is_same, distance).logical_and(distance.ne(1));
    return at::constant_pad_nd(occurrences.to(at::kFloat), {1, -1});
}

HeadReport& HeadObserver::report(std::int64_t layer, std::int64_t head) {
    return reports_[static_cast<std::size_t>(layer * architecture_.heads + head)];
}

ForwardHooks HeadObserver::recorder() {
    ForwardHooks recorder;
    recorder.vectors = [this](const LayerView& view) { observe(view); };
    recorder.attention = [this](std::int64_t layer, std::int64_t first, const at::Tensor& weights) {
        observe(layer, first, weights);
    };
    return recorder;
}

void HeadObserver::observe(const LayerView& view) {
    const std::int64_t H = architecture_.heads,
                       window = architecture_.isWindowed(view.layer) ? architecture_.window : T_;
    const Rotary rotary = architecture_.rotationOf(view.layer).rotationForLength(static_cast<double>(T_));
    const auto ofGroup = [&](const at::Tensor& x, std::int64_t head) {
        return x.select(0, head * x.size(0) / H);
    };
    // A rotation preserves every pair's norm.
    const Rotary of_values =
        architecture_.value_rotations.empty() ? rotary : valueRotation(architecture_, view.layer);
    const auto norms = [&](const at::Tensor& x, const Rotary& by) {  // [heads, d/2]
        return matrixOf(pairNorms(x, by.pairing, by.pairs(), by.first));
    };
    const Eigen::MatrixXd query_norms = norms(view.rotated_q, rotary),
                          key_norms = norms(view.rotated_k, rotary),
                          value_norms =
                              norms(withWidth(view.v, architecture_.headDimOf(view.layer)), of_values);
    const auto observeHead = [&](std::int64_t head) {
        HeadReport& to = report(view.layer, head);
        const Eigen::MatrixXd Q = matrixOf(view.rotated_q.select(0, head)),
                              K = matrixOf(ofGroup(view.rotated_k, head));
        to.bands = pairContributions(Q, K, rotary, window, architecture_.causal);
        to.slow_share = slowShare(to.bands, rotary.theta, T_);
        to.query_norms = query_norms.row(head);
        to.key_norms = key_norms.row(head * key_norms.rows() / H);
        to.value_norms = value_norms.row(head * value_norms.rows() / H);
    };
    at::parallel_for(0, H, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t head = begin; head < end; ++head)
            observeHead(head);
    });
}

/// @param weights  [H, queries, keys]
void HeadObserver::observe(std::int64_t layer, std::int64_t first, const at::Tensor& weights) {
    const std::int64_t queries = weights.size(1), keys = weights.size(2);
    const at::Tensor n = at::arange(first, first + queries).unsqueeze(1), j = at::arange(keys);
    const at::Tensor distance = n - j;
    // Query 0 of a causal model sees only itself and is not informative.
    const at::Tensor counts = architecture_.causal ? weights * n.gt(0).to(at::kFloat) : weights;
    const at::Tensor is_same =
        tokens_.narrow(0, first, queries).unsqueeze(1).eq(tokens_.narrow(0, 0, keys).unsqueeze(0));
    const at::Tensor is_local = architecture_.causal ? distance.lt(kLocalTokens).logical_and(distance.ge(0))
                                                     : distance.abs().lt(kLocalTokens);
    const auto total = [&](const at::Tensor& of_weight) {
        return (counts * of_weight).sum({1, 2}).to(at::kDouble);
    };
    // Weights that may be negative are not probabilities.
    const bool has_entropy = architecture_.attention != AttentionKind::linear_numerator;
    const at::Tensor entropy = has_entropy
                                   ? -(counts * at::log(weights.clamp_min(1e-30))).sum({1, 2}).to(at::kDouble)
                                   : at::full({weights.size(0)}, NAN, at::kDouble);
    const at::Tensor sums =  // in the order of kHeadMeasures
        at::stack({entropy, total(distance.abs()), total(j.eq(0).expand_as(distance)), total(distance.eq(0)),
                   total(distance.eq(1)), total(is_local), total(otherOccurrences(is_same, distance)),
                   total(followers(is_same, distance))});
    for (std::int64_t head = 0; head < architecture_.heads; ++head) {
        HeadReport& to = report(layer, head);
        for (std::int64_t i = 0; i < sums.size(0); ++i)
            to.*kHeadMeasures[static_cast<std::size_t>(i)].number += sums[i][head].item<double>();
    }
}

std::vector<HeadReport> HeadObserver::reports() const {
    std::vector<HeadReport> means = reports_;
    std::erase_if(means, [&](const HeadReport& report) { return !architecture_.hasHeads(report.layer); });
    const double queries = static_cast<double>(architecture_.causal ? std::max<std::int64_t>(T_ - 1, 1) : T_);
    for (HeadReport& report : means) {
        for (double* const sum : {&report.entropy, &report.mean_distance, &report.first, &report.self,
                                  &report.previous, &report.local})
            *sum /= queries;
        report.same /= static_cast<double>(std::max<std::int64_t>(repeats_, 1));
        report.induction /= static_cast<double>(std::max<std::int64_t>(inductions_, 1));
    }
    return means;
}

HeadsAnswer observeHeads(const QuestionContext& context) {
    if (context.model().chunked && std::ssize(context.ids) > context.model().window)
        throw Error(ErrorKind::usage, "this model attends in chunks of " +
                                          std::to_string(context.model().window) +
                                          " tokens: heads can be shown only for a text within one chunk");
    if (context.ids.size() < 2)
        throw Error(ErrorKind::usage, "this question needs a text of at least two tokens");
    HeadObserver observer(context.model(), context.ids);
    context.reader.hidden(context.ids, context.change, observer.recorder());
    HeadsAnswer answer{context.reader.textsOf(context.ids), {}, observer.reports()};
    for (std::int64_t layer = 0; layer < context.model().layers; ++layer) {
        const Eigen::VectorXd theta = context.model()
                                          .rotationOf(layer)
                                          .frequenciesForLength(static_cast<double>(context.ids.size()))
                                          .theta;
        answer.theta.emplace_back(theta.begin(), theta.end());
    }
    return answer;
}

}  // namespace roper
