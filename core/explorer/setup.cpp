#include "core/explorer/setup.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/rotary/position_bias.h"
#include "core/rotary/worked_example.h"

namespace roper {
namespace {

bool same(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
    return a.rows() == b.rows() && a.cols() == b.cols() && a == b;
}

/// `vector` cut or lengthened to the setup's head.
Eigen::VectorXd fitted(const Setup& setup, Eigen::VectorXd vector, double turn) {
    const Eigen::Index kept = std::min<Eigen::Index>(vector.size(), setup.head_dim);
    vector.conservativeResize(setup.head_dim);
    for (Eigen::Index i = kept; i < vector.size(); ++i)
        vector[i] = startingFeature(setup, static_cast<int>(i), turn);
    return vector;
}

/// Hand-set vectors keep the entries that fit; new ones come from the seed.
void fitByHand(Setup& setup) {
    if (setup.source != Source::hand) return;
    setup.tokens = std::min(setup.tokens, bounds::kMostTokensByHand);
    HeadVectors fresh;
    for (Eigen::MatrixXd HeadVectors::*which : {&HeadVectors::Q, &HeadVectors::K, &HeadVectors::V}) {
        const Eigen::MatrixXd& set = setup.by_hand.*which;
        if (set.rows() == setup.tokens && set.cols() == setup.head_dim) continue;
        if (fresh.tokens() == 0)
            fresh = randomHeadVectors(setup.tokens, setup.head_dim, setup.seed, setup.likeness);
        Eigen::MatrixXd fit = (100 * (fresh.*which).array()).round() / 100;
        const Eigen::Index rows = std::min(set.rows(), fit.rows()),
                           columns = std::min(set.cols(), fit.cols());
        fit.topLeftCorner(rows, columns) = set.topLeftCorner(rows, columns);
        setup.by_hand.*which = fit;
    }
}

}  // namespace

bool Learned::operator==(const Learned& o) const {
    return same(theta, o.theta) && same(value_theta, o.value_theta) && base == o.base &&
           schedule == o.schedule && same(t5_biases, o.t5_biases) && t5_distance == o.t5_distance;
}

bool Setup::operator==(const Setup& o) const {
    const auto plain = [](const Setup& s) {
        return std::tie(s.head_dim, s.base, s.schedule, s.pairing, s.rotary_fraction, s.value_rotary_fraction,
                        s.scaling, s.context_length, s.position, s.pair, s.key_position, s.shift, s.words,
                        s.distances, s.overlays, s.xpos_decay, s.other_schedule, s.source, s.tokens, s.seed,
                        s.likeness, s.run, s.learned, s.run_text, s.layer, s.head, s.heads, s.method,
                        s.causal, s.mistake, s.map, s.query, s.key, s.muted, s.blend);
    };
    return plain(*this) == plain(o) && same(x, o.x) && same(y, o.y) && same(by_hand.Q, o.by_hand.Q) &&
           same(by_hand.K, o.by_hand.K) && same(by_hand.V, o.by_hand.V);
}

ScaledFrequencies Setup::scaled(ScalingMethod with) const {
    const int width = rotatedWidth(head_dim, rotary_fraction);
    if (width == 0) return {};
    Scaling other = scaling;
    other.method = with;
    return scaledFrequencies(width, base, schedule, other, context_length);
}

Eigen::VectorXd Setup::thetaOf(const Eigen::VectorXd& computed, const Eigen::VectorXd& of_run) const {
    const bool is_of_these = source == Source::run && of_run.size() == computed.size() &&
                             learned.base == base && learned.schedule == schedule;
    if (!is_of_these || computed.size() == 0) return computed;
    const Eigen::VectorXd begun = frequencies(2 * static_cast<int>(computed.size()), base, schedule);
    return of_run.cwiseProduct(computed.cwiseQuotient(begun));
}

Rotary Setup::rotary() const {
    return {head_dim, pairing, thetaOf(scaled(scaling.method).theta, learned.theta)};
}

Rotary Setup::valueRotary() const {
    Setup of_values = *this;
    of_values.rotary_fraction = value_rotary_fraction;
    return {head_dim, pairing, thetaOf(of_values.scaled(scaling.method).theta, learned.value_theta)};
}

Eigen::VectorXd Setup::t5Biases() const {
    if (source == Source::run && learned.t5_biases.size() > 0) return learned.t5_biases;
    const std::vector<double> drawn = exampleT5Biases(seed + static_cast<std::uint64_t>(head));
    return Eigen::Map<const Eigen::VectorXd>(drawn.data(), static_cast<Eigen::Index>(drawn.size()));
}

int Setup::t5Distance() const {
    return source == Source::run && learned.t5_distance > 0 ? learned.t5_distance : kT5LargestDistance;
}

double Setup::attentionFactor() const {
    return rotates() ? scaled(scaling.method).attention_factor : 1.0;
}

bool Setup::rotates() const {
    return method != Method::none && method != Method::t5 && method != Method::alibi;
}

AttentionForm Setup::rightForm() const {
    const Rotary turning = rotary();
    if (method == Method::roper) return roperForm(turning, valueRotary(), blend);
    AttentionForm form = ropeForm(turning);
    if (!rotates()) form.query.direction = form.key.direction = 0;
    return form;
}

AttentionForm Setup::form() const {
    return withMistake(rightForm(), mistake,
                       {base, [this](int width) {
                            return scaledFrequencies(width, base, schedule, scaling, context_length).theta;
                        }});
}

double startingFeature(const Setup& setup, int feature, double turn) {
    const int pairs = setup.pairs();
    const bool half = setup.pairing == Pairing::half;
    const int pair = half ? feature % pairs : feature / 2;
    const bool first = half ? feature < pairs : feature % 2 == 0;
    const double angle = 0.5 + 0.35 * pair + turn;
    return first ? std::cos(angle) : std::sin(angle);
}

Setup sanitized(Setup s) {
    using namespace bounds;
    // A number that is none of the real ones becomes the lower bound.
    const auto keep = [](auto& value, auto low, auto high) {
        value = value >= low ? std::min<std::decay_t<decltype(value)>>(value, high) : low;
    };
    s.head_dim = std::clamp(s.head_dim - s.head_dim % 2, kLeastHeadDim, kMostHeadDim);
    keep(s.base, kLeastBase, kMostBase);
    keep(s.rotary_fraction, 0.0, 1.0);
    keep(s.value_rotary_fraction, 0.0, 1.0);
    keep(s.scaling.factor, 1.0, kLargestFactor);
    keep(s.scaling.original_length, 1.0, kLongestContext);
    keep(s.scaling.beta_slow, 0.001, 1e6);
    keep(s.scaling.beta_fast, s.scaling.beta_slow, 1e6);
    keep(s.scaling.attention_factor, 0.0, 100.0);
    keep(s.scaling.low_frequency_factor, 0.001, 1e6);
    keep(s.scaling.high_frequency_factor, 1.001 * s.scaling.low_frequency_factor, 2e6);
    keep(s.scaling.proportion, 0.0, 1.0);
    keep(s.context_length, 1.0, kLongestContext);
    keep(s.position, -kFarthestPosition, kFarthestPosition);
    keep(s.key_position, -kFarthestPosition, kFarthestPosition);
    keep(s.shift, -kFarthestShift, kFarthestShift);
    keep(s.pair, 0, s.pairs() - 1);
    keep(s.distances, 2, kMostDistances);
    keep(s.tokens, 1, kMostTokens);
    keep(s.likeness, 0.0, 1.0);
    keep(s.layer, 0, 4095);
    keep(s.heads, 1, kMostHeads);
    keep(s.head, 0, s.heads - 1);
    keep(s.blend, 0.0, 1.0);
    fitByHand(s);
    // A run's text is as long as it is; the picture keeps the place inside it.
    const int last = s.source == Source::run ? kMostTokens - 1 : s.tokens - 1;
    keep(s.query, 0, last);
    keep(s.key, 0, last);
    if (!s.rotates() && !isAboutValues(s.mistake)) s.mistake = Mistake::none;  // there is nothing to do wrong
    std::vector<ScalingMethod> once;
    for (const ScalingMethod method : s.overlays)
        if (std::find(once.begin(), once.end(), method) == once.end()) once.push_back(method);
    s.overlays = once;
    std::sort(s.muted.begin(), s.muted.end());
    s.muted.erase(std::unique(s.muted.begin(), s.muted.end()), s.muted.end());
    std::erase_if(s.muted, [&](int pair) { return pair < 0 || pair >= s.pairs(); });
    s.x = fitted(s, s.x, 0.0);
    s.y = fitted(s, s.y, 1.0);
    return s;
}

Setup withIntroExample(Setup setup) {
    const WorkedExample example = introExample();
    setup.head_dim = 4;
    setup.base = 10000.0;
    setup.schedule = Schedule::intro;
    setup.pairing = Pairing::interleaved;
    setup.rotary_fraction = 1.0;
    setup.scaling.method = ScalingMethod::none;
    setup.position = example.position;
    setup.pair = 0;
    setup.x = Eigen::Vector4d(0.5, -1.0, 1.5, 2.0);
    setup.y = Eigen::VectorXd();
    return sanitized(setup);
}

bool isIntroExample(const Setup& setup) {
    Setup example = withIntroExample(setup);
    example.pair = setup.pair;
    example.y = setup.y;
    return example == setup;
}

}  // namespace roper
