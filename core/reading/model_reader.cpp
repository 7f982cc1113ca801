#include "core/reading/model_reader.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>

#include "core/base/available.h"
#include "core/base/error.h"
#include "core/base/random.h"
#include "core/operators/products.h"
#include "core/operators/threads.h"
#include "core/operators/translating_errors.h"
#include "core/pretrained/family.h"
#include "core/reading/model_reader_parts.h"
#include "core/reading/reading_memory.h"

namespace roper {
namespace {

/// The likeliest token, or one drawn with probabilities softmax(logits / temperature). logits [V]
std::int64_t chosenToken(const at::Tensor& logits, double temperature, Random& random) {
    if (temperature <= 0) return logits.argmax().item<std::int64_t>();
    const at::Tensor sums = at::softmax(logits.to(at::kDouble) / temperature, 0).cumsum(0);
    const at::Tensor place = at::searchsorted(
        sums, at::scalar_tensor(random.unit() * sums[-1].item<double>(), at::kDouble), false, true);
    return std::min(place.item<std::int64_t>(), logits.size(0) - 1);
}

/// Multiply-adds of float32 that products of matrices reach, counted as two, in 10⁹ a second.
double measuredGflops() {
    constexpr std::int64_t kSide = 768;
    const at::Tensor a = at::randn({kSide, kSide}), b = at::randn({kSide, kSide});
    const at::Tensor out = at::empty({kSide, kSide});
    double best = 0;
    for (int i = 0; i < 4; ++i) {  // the first makes threads and buffers
        const auto begin = std::chrono::steady_clock::now();
        multiplyInto(out, a, b);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        best = std::max(best, 2e-9 * kSide * kSide * kSide / took.count());
    }
    return best;
}

}  // namespace

ModelReader::ModelReader(OpenedModel model, ReaderOptions options) {
    if (const auto available = availableMemory())
        if (const auto problem = modelProblem(model.model.architecture, *available))
            throw Error(ErrorKind::memory, *problem);
    setThreads(options.threads);
    parts_ = std::make_unique<Parts>(std::move(model), std::move(options));
    parts_->decoder.weights().keepUpTo(parts_->options.kept_bytes);
}

ModelReader::~ModelReader() = default;
ModelReader::ModelReader(ModelReader&&) noexcept = default;
ModelReader& ModelReader::operator=(ModelReader&&) noexcept = default;

const PretrainedModel& ModelReader::model() const {
    return parts_->decoder.model();
}

const TextCodec& ModelReader::codec() const {
    return parts_->codec;
}

std::vector<std::int64_t> ModelReader::encode(std::string_view text) const {
    return translatingErrors([&] {
        std::vector<std::int64_t> ids = parts_->codec.encode(text);
        if (ids.empty()) throw Error(ErrorKind::usage, "the text is empty: there is no token to read");
        if (const auto available = availableMemory())
            if (const auto problem = readingProblem(model().architecture, std::ssize(ids), *available))
                throw Error(ErrorKind::memory, *problem);
        return ids;
    });
}

ModelSummary ModelReader::summary() {
    const PretrainedModel& model = this->model();
    const Architecture& a = model.architecture;
    ModelSummary summary{model.name, a.family, a.layers,       a.heads,      a.key_value_heads,
                         a.head_dim, a.width,  a.feed_forward, a.vocabulary, a.context};
    summary.parameters = model.weights.parameters;
    summary.causal = a.causal;
    const Eigen::VectorXd theta = frequenciesOf(a, 0, static_cast<double>(a.context));
    summary.theta.assign(theta.begin(), theta.end());
    for (const LayerRotation& rotation : a.rotations)
        summary.rotates = summary.rotates || rotation.width > 0;
    summary.rotates_values = !a.value_rotations.empty();
    summary.notes = model.notes;
    summary.has_problems = a.causal && parts_->task != nullptr && parts_->task->hasProblems();
    for (const TrainedState& state : parts_->history)
        summary.checkpoints.push_back(state.step);
    summary.gflops = translatingErrors([] { return measuredGflops(); });
    return summary;
}

TextReading ModelReader::Parts::read(std::span<const std::int64_t> ids, std::int64_t candidates,
                                     const Intervention& intervention, Part part) {
    const at::NoGradGuard no_gradients;
    decoder.head();
    const Architecture& model = decoder.architecture();
    if (!model.causal && model.family == kOurFamily)
        throw Error(ErrorKind::usage,
                    "this model sees the tokens on both sides and predicts masked ones, not the next; "
                    "its heads, bands and kernels can be looked at");
    return predict(hidden(ids, intervention, {}, part), ids, candidates);
}

TextReading ModelReader::Parts::predict(const at::Tensor& last, std::span<const std::int64_t> ids,
                                        std::int64_t candidates) {
    const auto T = static_cast<std::int64_t>(ids.size());
    // The last token has no successor in the text: 0 stands for it.
    at::Tensor targets = at::zeros({T}, at::kLong);
    if (T > 1)
        targets.narrow(0, 0, T - 1)
            .copy_(at::tensor(at::ArrayRef<std::int64_t>(ids.data() + 1, ids.size() - 1)));
    LogSumExp normalizer(T);
    Largest largest(candidates);
    at::Tensor of_targets = at::zeros({T});
    decoder.forLogits(last, [&](std::int64_t first, const at::Tensor& logits) {
        normalizer.add(logits);
        if (candidates > 0) largest.add(first, logits);
        const at::Tensor place = targets - first;
        const at::Tensor is_here = (place >= 0).logical_and_(place < logits.size(1));
        const at::Tensor found = logits.gather(1, place.clamp(0, logits.size(1) - 1).unsqueeze(1)).squeeze(1);
        of_targets = at::where(is_here, found, of_targets);
    });
    TextReading reading{{ids.begin(), ids.end()}, textsOf(ids), {}};
    if (T > 1) {
        const at::Tensor nll =
            (normalizer.value() - of_targets).narrow(0, 0, T - 1).to(at::kDouble).contiguous();
        reading.nll.assign(nll.const_data_ptr<double>(), nll.const_data_ptr<double>() + T - 1);
        reading.loss = nll.mean().item<double>();
    }
    if (candidates > 0) reading.predictions = predictionsOf(largest, normalizer.value());
    return reading;
}

TextReading ModelReader::read(std::span<const std::int64_t> ids, std::int64_t candidates,
                              const Intervention& intervention) {
    return translatingErrors([&] { return parts_->read(ids, candidates, intervention); });
}

GeneratedText ModelReader::Parts::write(std::span<const std::int64_t> ids, const ContinuationOptions& how,
                                        const std::function<bool(std::int64_t id)>& take,
                                        const Intervention& intervention) {
    const at::NoGradGuard no_gradients;
    decoder.head();
    if (!decoder.architecture().causal)
        throw Error(ErrorKind::usage,
                    "this model sees the tokens on both sides: what it makes of a text changes with every "
                    "token behind it, so it writes none");
    DecoderCache cache;
    Random random(how.seed, Stream::sampling, 0);
    GeneratedText written{{ids.begin(), ids.end()}, {}, textsOf(ids), {}, {}};
    PassRecorder recorder;
    recorder.progress = [this](std::int64_t layer) { say(layer, decoder.architecture().layers); };
    at::Tensor last = decoder.hidden(ids, intervention, recorder, &cache);
    while (static_cast<std::int64_t>(written.generated.size()) < how.count) {
        const at::Tensor logits = decoder.logits(last.narrow(0, last.size(0) - 1, 1)).squeeze(0);
        const std::int64_t next = chosenToken(logits, how.temperature, random);
        written.generated.push_back(next);
        written.tokens.push_back(codec.textOf(next));
        written.probability.push_back(at::softmax(logits, 0)[next].item<double>());
        const bool goes_on = !take || take(next);
        if (!goes_on || codec.isSpecial(next)) break;
        last = decoder.hidden(std::span(&written.generated.back(), 1), intervention, {}, &cache);
    }
    written.text = codec.decode(written.generated);
    return written;
}

GeneratedText ModelReader::generate(std::span<const std::int64_t> ids, const ContinuationOptions& options,
                                    const std::function<bool(std::int64_t id)>& take,
                                    const Intervention& intervention) {
    return translatingErrors([&] {
        std::int64_t done = 0;
        const auto told = [&](std::int64_t id) {
            parts_->say(++done, options.count);
            return !take || take(id);
        };
        return parts_->write(ids, options, told, intervention);
    });
}

}  // namespace roper
