#include <algorithm>
#include <cmath>

#include "core/base/text.h"
#include "core/pretrained/block_weights.h"

namespace roper {
namespace {

/// Sets the frequency θ of every pair as stored, if the file stores it. All layers must agree.
void readFrequencies(TensorLocator& in, const TensorStore& store, Architecture& model,
                     std::vector<std::string>& notes) {
    const std::string ending = in.allNames().encoder_names.frequencies;
    if (ending.empty()) return;
    RotaryConfig& rotation = model.rotations.front();
    std::optional<std::vector<float>> first;
    for (const auto& [name, tensor] : store.tensors()) {
        if (!name.ends_with(ending)) continue;
        const std::vector<float> theta = readVector(store, in.vector(name, rotation.rotatedWidth() / 2));
        if (first && *first != theta) in.refuse(name, tensor, "the same frequencies in every layer");
        first = theta;
    }
    if (!first) return;
    const Eigen::VectorXd stored =
        Eigen::Map<const Eigen::VectorXf>(first->data(), std::ssize(*first)).cast<double>();
    const Eigen::VectorXd computed = rotation.frequenciesForLength(1).theta;
    rotation.trained = stored;
    if (!stored.isApprox(computed, 1e-6))
        notes.push_back("the file stores its own frequencies, which differ from those of base " +
                        formatNumber(rotation.base) + " in float32");
}

/// Refuses a stored table of sin and cos that differs from the computed one by more than rounding to 16 bits.
void checkSinusoids(TensorLocator& in, const TensorStore& store, const Architecture& model,
                    std::vector<std::string>& notes) {
    const std::string name = in.allNames().encoder_names.sinusoids;
    if (name.empty() || !store.has(name)) return;
    const MatrixLocation table = in.table(name.substr(0, name.rfind('.')), 1, model.head_dim);
    const std::vector<float> numbers = readMatrix(store, table);
    const Eigen::VectorXd theta =
        model.rotations.front().frequenciesForLength(static_cast<double>(table.out)).theta;
    constexpr double kTolerance = 1e-2, kRounded = 1e-5;
    double largest = 0;
    const std::size_t pairs = static_cast<std::size_t>(theta.size()), width = 2 * pairs;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const double angle =
            static_cast<double>(i / width) * theta[static_cast<Eigen::Index>(i % width % pairs)];
        const double expected = i % width < pairs ? std::sin(angle) : std::cos(angle);
        const double difference = std::abs(static_cast<double>(numbers[i]) - expected);
        if (!(difference < kTolerance))
            in.refuse(name, store.tensor(name), "sin and cos of the positions with base 10000");
        largest = std::max(largest, difference);
    }
    if (largest > kRounded)
        notes.push_back(
            "the file stores sines and cosines rounded to 16 bits, with which transformers "
            "rotates; exact ones are used here");
}

}  // namespace

void locateEncoderParts(TensorLocator& in, const TensorStore& store, Architecture& model,
                        ModelWeights& weights) {
    const EncoderNames& names = in.allNames().encoder_names;
    if (model.token_types > 0)
        weights.token_types = in.table(names.token_types, model.token_types, model.width);
    readFrequencies(in, store, model, weights.notes);
    checkSinusoids(in, store, model, weights.notes);
}

}  // namespace roper
