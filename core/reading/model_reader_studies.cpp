#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.h"
#include "core/operators/translating_errors.h"
#include "core/reading/model_reader_parts.h"

// What takes many passes, or a look at every layer.

namespace roper {
namespace {

/// Nothing for `none`: a model keeps a scaling of its own.
std::optional<Scaling> scalingBy(ScalingMethod method, double factor, double trained) {
    if (method == ScalingMethod::none) return std::nullopt;
    Scaling scaling;
    scaling.method = method;
    scaling.factor = factor;
    scaling.original_length = trained;
    return scaling;
}

}  // namespace

SubsetsAnswer ModelReader::bandSubsets(std::span<const std::int64_t> ids, std::int64_t bands,
                                       const Intervention& intervention) {
    int pairs = 0;
    for (const LayerRotation& rotation : model().architecture.rotations)
        pairs = std::max(pairs, rotation.width / 2);
    if (ids.size() < 2) throw Error(ErrorKind::usage, "a loss needs at least two tokens");
    if (pairs == 0) throw Error(ErrorKind::usage, "the model rotates no pairs: there are no bands");
    if (bands > kMostBands || bands > pairs)
        throw Error(ErrorKind::usage, "pairs are cut into 1 to " +
                                          std::to_string(std::min<std::int64_t>(kMostBands, pairs)) +
                                          " bands, not " + std::to_string(bands));
    std::vector<std::vector<int>> pairs_of(static_cast<std::size_t>(bands));
    for (int pair = 0; pair < pairs; ++pair)
        pairs_of[static_cast<std::size_t>(std::min<std::int64_t>(pair / (pairs / bands), bands - 1))]
            .push_back(pair);
    SubsetsAnswer answer;
    for (const std::vector<int>& band : pairs_of)
        answer.bands.push_back(band.size() == 1
                                   ? std::to_string(band.front())
                                   : std::to_string(band.front()) + "-" + std::to_string(band.back()));
    const std::int64_t subsets = std::int64_t{1} << bands;
    for (std::int64_t kept = 0; kept < subsets; ++kept) {
        BandSubset subset;
        Intervention changed = intervention;
        changed.muted_pairs.clear();  // which pairs are left out is what is asked here
        Intervention::MutedPairs muted;
        for (std::int64_t band = 0; band < bands; ++band) {
            const std::vector<int>& of_band = pairs_of[static_cast<std::size_t>(band)];
            if ((kept >> band & 1) != 0)
                subset.kept.push_back(static_cast<int>(band));
            else
                muted.pairs.insert(muted.pairs.end(), of_band.begin(), of_band.end());
        }
        if (!muted.pairs.empty()) changed.muted_pairs.push_back(muted);
        subset.loss = translatingErrors([&] { return parts_->read(ids, 0, changed, {kept, subsets}); }).loss;
        answer.subsets.push_back(std::move(subset));
    }
    return answer;
}

LengthsAnswer ModelReader::lossByLength(std::span<const std::int64_t> ids, double factor, double trained,
                                        const Intervention& intervention) {
    return translatingErrors([&] {
        if (ids.size() < 2) throw Error(ErrorKind::usage, "a loss needs at least two tokens");
        constexpr std::array kMethods = {ScalingMethod::none, ScalingMethod::linear, ScalingMethod::ntk,
                                         ScalingMethod::yarn};
        LengthsAnswer answer{factor, static_cast<std::int64_t>(trained), {}};
        for (std::size_t i = 0; i < kMethods.size(); ++i) {
            Intervention changed = intervention;
            changed.scaling = scalingBy(kMethods[i], factor, trained);
            const Part part{static_cast<std::int64_t>(i), static_cast<std::int64_t>(kMethods.size())};
            answer.variants.push_back({scalingNames().at(static_cast<std::size_t>(kMethods[i])),
                                       parts_->read(ids, 0, changed, part).nll});
        }
        return answer;
    });
}

NeedleAnswer ModelReader::findNeedle(std::span<const std::int64_t> ids, const Needle& needle,
                                     std::int64_t depths, const Intervention& intervention) {
    return translatingErrors([&] {
        constexpr std::int64_t kLengths = 4;
        // A mark of where a text begins has no place in the middle of one.
        const auto encoded = [&](const std::string& text) {
            std::vector<std::int64_t> of_text = parts_->codec.encode(text);
            std::erase_if(of_text, [&](std::int64_t id) { return parts_->codec.isSpecial(id); });
            return of_text;
        };
        const std::vector<std::int64_t> sentence = encoded(needle.sentence),
                                        question = encoded(needle.question), answer = encoded(needle.answer);
        // The mark of where a text begins stays at its beginning.
        std::size_t marks = 0;
        while (marks < ids.size() && parts_->codec.isSpecial(ids[marks]))
            ++marks;
        const std::size_t added = sentence.size() + question.size() + answer.size();
        if (answer.empty() || sentence.empty())
            throw Error(ErrorKind::usage, "the needle and its answer must have a token each");
        if (ids.size() < 2 * added)
            throw Error(ErrorKind::usage, "the text has " + std::to_string(ids.size()) +
                                              " tokens; a needle is hidden in at least " +
                                              std::to_string(2 * added));
        NeedleAnswer all;
        for (std::int64_t depth = 0; depth < depths; ++depth)
            all.depths.push_back(depths == 1 ? 0.5
                                             : static_cast<double>(depth) / static_cast<double>(depths - 1));
        for (std::int64_t i = 0; i < kLengths; ++i) {
            const std::size_t hay = ids.size() * static_cast<std::size_t>(i + 1) / kLengths;
            all.lengths.push_back(static_cast<std::int64_t>(hay + added));
            all.nll.emplace_back();
            all.found.emplace_back();
            for (std::int64_t depth = 0; depth < depths; ++depth) {
                const auto place = static_cast<std::ptrdiff_t>(
                    marks + static_cast<std::size_t>(std::lround(all.depths[static_cast<std::size_t>(depth)] *
                                                                 static_cast<double>(hay - marks))));
                std::vector<std::int64_t> text(ids.begin(), ids.begin() + place);
                text.insert(text.end(), sentence.begin(), sentence.end());
                text.insert(text.end(), ids.begin() + place, ids.begin() + static_cast<std::ptrdiff_t>(hay));
                text.insert(text.end(), question.begin(), question.end());
                text.insert(text.end(), answer.begin(), answer.end());
                const TextReading reading =
                    parts_->read(text, 1, intervention, {i * depths + depth, kLengths * depths});
                double sum = 0;
                bool found = true;
                for (std::size_t k = text.size() - answer.size(); k < text.size(); ++k) {
                    sum += reading.nll[k - 1];
                    found = found && reading.predictions[k - 1].front().id == text[k];
                }
                all.nll.back().push_back(sum / static_cast<double>(answer.size()));
                all.found.back().push_back(found);
            }
        }
        return all;
    });
}

LensAnswer ModelReader::logitLens(std::span<const std::int64_t> ids, const Intervention& intervention) {
    return translatingErrors([&] {
        if (static_cast<std::int64_t>(ids.size()) > kLongestLens)
            throw Error(ErrorKind::usage, "the text has " + std::to_string(ids.size()) +
                                              " tokens; what every layer would predict is shown of at most " +
                                              std::to_string(kLongestLens));
        const at::NoGradGuard no_gradients;
        LensAnswer answer;
        answer.tokens = parts_->textsOf(ids);
        PassRecorder recorder;
        recorder.residual = [&](std::int64_t, const at::Tensor& residual) {
            const TextReading reading = parts_->predict(parts_->decoder.finalNorm(residual), ids, 1);
            answer.nll.push_back(reading.nll);
            answer.top.emplace_back();
            answer.probability.emplace_back();
            for (const std::vector<Prediction>& next : reading.predictions) {
                answer.top.back().push_back(next.front().token);
                answer.probability.back().push_back(next.front().probability);
            }
        };
        parts_->hidden(ids, intervention, recorder);
        return answer;
    });
}

SolvedAnswer ModelReader::solve(std::int64_t count, const Intervention& change) {
    const Task* const task = parts_->task.get();
    if (task == nullptr || !task->hasProblems() || !model().architecture.causal)
        throw Error(ErrorKind::usage,
                    "problems are solved by runs of a task that has some; this model has none");
    return translatingErrors([&] {
        SolvedAnswer answer;
        for (std::int64_t i = 0; i < count; ++i) {
            const Problem problem =
                task->problem(parts_->problem_seed, Stream::problems, static_cast<std::uint64_t>(i));
            const std::vector<std::int64_t> prompt = parts_->codec.encode(problem.prompt);
            const auto solves = [&](const Intervention& intervention) {
                std::string completion;
                const auto take = [&](std::int64_t id) {
                    parts_->say(i, count);
                    completion += parts_->codec.textOf(id);
                    return !task->isComplete(completion);
                };
                parts_->write(prompt, {task->longestAnswer() + 1, 0, 0}, take, intervention);
                return task->isCorrect(problem, completion);
            };
            answer.prompts.push_back(problem.prompt);
            answer.solved.push_back(solves({}));
            answer.changed.push_back(solves(change));
        }
        return answer;
    });
}

PatchAnswer ModelReader::patchHeads(std::span<const std::int64_t> ids, std::span<const std::int64_t> other,
                                    const std::optional<HeadChoice>& by_position,
                                    const Intervention& intervention) {
    return translatingErrors([&] {
        if (ids.size() != other.size())
            throw Error(ErrorKind::usage, "both texts must have as many tokens; they have " +
                                              std::to_string(ids.size()) + " and " +
                                              std::to_string(other.size()));
        const at::NoGradGuard no_gradients;
        const Architecture& model = parts_->decoder.architecture();
        if (by_position) requireInside(*by_position, model);
        const auto T = static_cast<std::int64_t>(ids.size());
        const std::int64_t passes = 2 + (by_position ? T : model.layers * model.heads);
        // Logits after the last token [V].
        std::int64_t pass = 0;
        const auto last = [&](std::span<const std::int64_t> text, const PassRecorder& recorder) {
            const at::Tensor hidden = parts_->hidden(text, intervention, recorder, {pass++, passes});
            return parts_->decoder.logits(hidden.narrow(0, T - 1, 1)).squeeze(0);
        };
        std::vector<at::Tensor> outputs;  // of the text, by layer [H, T, d]
        PassRecorder keep;
        keep.heads = [&](std::int64_t, at::Tensor& mixed) { outputs.push_back(mixed.clone()); };
        const at::Tensor logits = last(ids, keep), other_logits = last(other, {});
        const auto right = logits.argmax().item<std::int64_t>(),
                   wrong = other_logits.argmax().item<std::int64_t>();
        PatchAnswer answer;
        if (by_position) {
            answer.layer = by_position->layer.value_or(0);
            answer.head = by_position->head.value_or(0);
        }
        answer.tokens = parts_->textsOf(ids);
        answer.other_tokens = parts_->textsOf(other);
        answer.answer = parts_->codec.textOf(right);
        answer.other_answer = parts_->codec.textOf(wrong);
        if (right == wrong)
            throw Error(ErrorKind::usage, "both texts lead to the same answer, “" + answer.answer + "”");
        const auto difference = [&](const at::Tensor& of) { return (of[right] - of[wrong]).item<double>(); };
        answer.difference = difference(logits);
        answer.other_difference = difference(other_logits);
        const auto patched = [&](std::int64_t layer, std::int64_t head,
                                 std::optional<std::int64_t> position) {
            PassRecorder patch;
            patch.heads = [&](std::int64_t at, at::Tensor& mixed) {
                if (at != layer) return;
                at::Tensor to = mixed.select(0, head),
                           from = outputs[static_cast<std::size_t>(layer)].select(0, head);
                if (position) {
                    to = to.narrow(0, *position, 1);
                    from = from.narrow(0, *position, 1);
                }
                to.copy_(from);
            };
            return (difference(last(other, patch)) - answer.other_difference) /
                   (answer.difference - answer.other_difference);
        };
        if (by_position) {
            answer.restored.emplace_back();
            for (std::int64_t position = 0; position < T; ++position)
                answer.restored.back().push_back(patched(answer.layer, answer.head, position));
            return answer;
        }
        for (std::int64_t layer = 0; layer < model.layers; ++layer) {
            answer.restored.emplace_back();
            for (std::int64_t head = 0; head < model.heads; ++head)
                answer.restored.back().push_back(patched(layer, head, {}));
        }
        return answer;
    });
}

}  // namespace roper
