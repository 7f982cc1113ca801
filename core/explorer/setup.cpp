#include "core/explorer/setup.h"

#include <algorithm>
#include <cmath>

#include "core/base/text.h"
#include "core/explorer/setup_fields.h"
#include "core/rotary/position_bias.h"
#include "core/rotary/worked_example.h"

namespace roper {
namespace {

/// `vector` truncated or extended to the setup's head width.
Eigen::VectorXd fitted(const Setup& setup, Eigen::VectorXd vector, double further_angle) {
    const Eigen::Index kept = std::min<Eigen::Index>(vector.size(), setup.head_dim);
    vector.conservativeResize(setup.head_dim);
    for (Eigen::Index i = kept; i < vector.size(); ++i)
        vector[i] = initialFeature(setup, static_cast<int>(i), further_angle);
    return vector;
}

/// Hand-set vectors keep the entries that fit; new ones are random.
void resizeManualVectors(Setup& setup) {
    if (setup.source != VectorSource::hand) return;
    setup.tokens = std::min(setup.tokens, bounds::kMaxManualTokens);
    HeadVectors fresh;
    for (Eigen::MatrixXd HeadVectors::*which : {&HeadVectors::Q, &HeadVectors::K, &HeadVectors::V}) {
        const Eigen::MatrixXd& set = setup.manual_vectors.*which;
        if (set.rows() == setup.tokens && set.cols() == setup.head_dim) continue;
        if (fresh.tokens() == 0)
            fresh = randomHeadVectors(setup.tokens, setup.head_dim, setup.seed, setup.similarity);
        Eigen::MatrixXd fit = (100 * (fresh.*which).array()).round() / 100;
        const Eigen::Index rows = std::min(set.rows(), fit.rows()),
                           columns = std::min(set.cols(), fit.cols());
        fit.topLeftCorner(rows, columns) = set.topLeftCorner(rows, columns);
        setup.manual_vectors.*which = fit;
    }
}

}  // namespace

Scaling initialScaling() {
    Scaling scaling;
    scaling.short_factors = exampleShortFactors();
    scaling.long_factors = exampleLongFactors();
    return scaling;
}

ScaledFrequencies Setup::scaled(ScalingMethod with) const {
    Scaling other = scaling;
    other.method = with;
    return frequenciesForLength(context_length, {}, other);
}

Rotary Setup::makeRotation(double fraction, const ComparableVector& learned_theta) const {
    RotaryConfig rotation = *this;
    rotation.rotary_fraction = fraction;
    if (source == VectorSource::run && learned.rotation.base == base &&
        learned.rotation.frequency_formula == frequency_formula)
        rotation.trained = learned_theta;
    return rotation.rotationForLength(context_length);
}

Rotary Setup::rotary() const {
    return makeRotation(rotary_fraction, learned.rotation.trained);
}

Rotary Setup::valueRotary() const {
    return makeRotation(value_rotary_fraction, learned.value_theta);
}

HeadContext Setup::headContext() const {
    HeadContext made{head, heads, causal, learned.bias};
    if (source == VectorSource::run) made.specific_settings = learned.specific_settings;
    if (source != VectorSource::run || made.learned_bias.size() == 0) {
        const std::vector<double> drawn = exampleT5Biases(seed + static_cast<std::uint64_t>(head));
        made.learned_bias =
            Eigen::Map<const Eigen::VectorXd>(drawn.data(), static_cast<Eigen::Index>(drawn.size()));
    }
    return made;
}

double Setup::attentionFactor() const {
    return rotatesScores() ? scaled(scaling.method).attention_factor : 1.0;
}

AttentionForm Setup::correctForm() const {
    const Rotary rotation = rotary();
    return formOf(rotatedTensors(), rotation, rotatesValues() ? valueRotary() : rotation,
                  value_rotation_strength);
}

AttentionForm Setup::form() const {
    return withMistake(
        correctForm(), mistake,
        {base, [this](int width) {
             return scaledFrequencies(width, base, frequency_formula, scaling, context_length).theta;
         }});
}

double initialFeature(const Setup& setup, int feature, double further_angle) {
    const int pairs = setup.pairs();
    const bool half = setup.pairing == Pairing::half;
    const int pair = half ? feature % pairs : feature / 2;
    const bool first = half ? feature < pairs : feature % 2 == 0;
    const double angle = 0.5 + 0.35 * pair + further_angle;
    return first ? std::cos(angle) : std::sin(angle);
}

Setup sanitized(Setup s) {
    using namespace bounds;
    for (const SetupField& field : setupFields())
        if (field.clamp) field.clamp(s);
    // Bounds that depend on other members.
    const auto atLeast = [](double& value, double low) { value = std::max(value, low); };
    const auto atMost = [](int& value, int high) { value = std::min(value, high); };
    s.head_dim -= s.head_dim % 2;
    atLeast(s.scaling.beta_fast, s.scaling.beta_slow);
    atLeast(s.scaling.high_frequency_factor, s.scaling.low_frequency_factor);
    atMost(s.pair, s.pairs() - 1);
    atMost(s.head, s.heads - 1);
    resizeManualVectors(s);
    // The length of a run's text is fixed by the run; the position must be inside it.
    const int last = s.source == VectorSource::run ? kMaxTokens - 1 : s.tokens - 1;
    atMost(s.query, last);
    atMost(s.key, last);
    // Linear attention has no scores to which a bias could be added.
    if (s.positionMethod().biases_scores) s.attention = AttentionKind::softmax;
    // Value mixing shows the mistakes of values with every method.
    if (!affectsValues(s.mistake) && !appliesTo(s.mistake, s.rotatedTensors())) s.mistake = Mistake::none;
    std::vector<ScalingMethod> once;
    for (const ScalingMethod method : s.overlays)
        if (!hasElement(once, method)) once.push_back(method);
    s.overlays = once;
    std::ranges::sort(s.ablated_pairs);
    s.ablated_pairs.erase(std::unique(s.ablated_pairs.begin(), s.ablated_pairs.end()), s.ablated_pairs.end());
    std::erase_if(s.ablated_pairs, [&](int pair) { return pair < 0 || pair >= s.pairs(); });
    s.x = fitted(s, s.x, 0.0);
    s.y = fitted(s, s.y, 1.0);
    return s;
}

bool haveSameRotation(const Setup& a, const Setup& b) {
    return static_cast<const RotaryConfig&>(a) == b && a.context_length == b.context_length;
}

Setup withRotationOf(Setup setup, const Setup& other) {
    static_cast<RotaryConfig&>(setup) = other;
    setup.context_length = other.context_length;
    return sanitized(setup);
}

Setup withWorkedExample(Setup setup) {
    const WorkedExample example = workedExample();
    setup.head_dim = 4;
    setup.base = 10000.0;
    setup.frequency_formula = FrequencyFormula::worked_example;
    setup.pairing = Pairing::interleaved;
    setup.rotary_fraction = 1.0;
    setup.scaling.method = ScalingMethod::none;
    setup.position = example.position;
    setup.pair = 0;
    setup.x = Eigen::Vector4d(0.5, -1.0, 1.5, 2.0);
    setup.y = ComparableVector();
    return sanitized(setup);
}

bool isWorkedExample(const Setup& setup) {
    Setup example = withWorkedExample(setup);
    example.pair = setup.pair;
    example.y = setup.y;
    return example == setup;
}

}  // namespace roper
