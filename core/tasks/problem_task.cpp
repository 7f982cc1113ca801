#include "core/tasks/problem_task.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "core/base/fingerprint.h"

namespace roper {
namespace {

constexpr double kMinProblemsForHoldout = 1000;
constexpr std::uint64_t kHoldoutInterval = 32;

/// A fingerprint mixed once more, so that its low bits depend on all characters.
std::uint64_t hashOf(std::string_view text) {
    std::uint64_t hash = Fingerprint().add(text).value();
    hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdU;
    return hash ^ (hash >> 33);
}

}  // namespace

std::string ProblemTask::sequence(std::uint64_t seed, Stream stream, std::uint64_t index, int length) const {
    Random random(seed, stream, index);
    std::string text;
    while (text.size() < static_cast<std::size_t>(length))
        text += drawForTraining(random).text();
    text.resize(static_cast<std::size_t>(length));
    return text;
}

Problem ProblemTask::problem(std::uint64_t seed, Stream stream, std::uint64_t index) const {
    Random random(seed, stream, index);
    if (stream == Stream::training) return drawForTraining(random);
    const ProblemSize size = drawSize(random);
    return drawForEvaluation(random, size);
}

Problem ProblemTask::problemOfSize(std::uint64_t seed, Stream stream, std::uint64_t index,
                                   ProblemSize size) const {
    Random random(seed, stream, index);
    return drawForEvaluation(random, size);
}

bool ProblemTask::isHeldOut(const Problem& problem) const {
    const auto size = sizeOf(problem.prompt);
    return size && problemCountOfSize(*size) >= kMinProblemsForHoldout &&
           hashOf(holdoutKey(problem.prompt)) % kHoldoutInterval == 0;
}

Problem ProblemTask::drawForTraining(Random& random) const {
    const ProblemSize size = drawSize(random);
    while (true) {
        Problem problem = drawOfSize(random, size);
        if (!isHeldOut(problem)) return problem;
    }
}

Problem ProblemTask::drawForEvaluation(Random& random, ProblemSize size) const {
    while (true) {
        Problem problem = drawOfSize(random, size);
        if (problemCountOfSize(size) < kMinProblemsForHoldout || isHeldOut(problem)) return problem;
    }
}

std::optional<double> ProblemTask::lossLowerBound(std::string_view sequence) const {
    if (sequence.size() < 2) return std::nullopt;
    double sum = 0;
    for (std::size_t begin = 0; begin < sequence.size();) {
        const std::size_t end = std::min(sequence.find('#', begin), sequence.size() - 1) + 1;
        const std::vector<double> surprisals = idealSurprisals(sequence.substr(begin, end - begin));
        // The first character of a sequence is not predicted.
        sum = std::accumulate(surprisals.begin() + (begin == 0 ? 1 : 0), surprisals.end(), sum);
        begin = end;
    }
    return sum / static_cast<double>(sequence.size() - 1);
}

double ProblemTask::surprisalOfContinuing(std::int64_t count, std::int64_t min_count,
                                          std::int64_t max_count) {
    if (count >= max_count) throw std::invalid_argument("a part of a problem is longer than allowed");
    return count < min_count ? 0 : -std::log1p(-1.0 / static_cast<double>(max_count - count + 1));
}

double ProblemTask::surprisalOfEnding(std::int64_t count, std::int64_t min_count, std::int64_t max_count) {
    if (count < min_count || count > max_count)
        throw std::invalid_argument("a part of a problem has a length that is not allowed");
    return std::log(static_cast<double>(max_count - count + 1));
}

std::string ProblemTask::drawLetters(Random& random, std::int64_t count) {
    std::string letters;
    for (std::int64_t i = 0; i < count; ++i)
        letters += static_cast<char>('a' + random.between(0, 25));
    return letters;
}

std::vector<std::string_view> ProblemTask::promptsIn(std::string_view sequence) const {
    std::vector<std::string_view> prompts;
    while (!sequence.empty()) {
        const std::size_t end = sequence.find(promptTerminator());
        if (end == std::string_view::npos) break;
        prompts.push_back(sequence.substr(0, end + promptTerminator().size()));
        const std::size_t next = sequence.find('#', end);
        if (next == std::string_view::npos) break;
        sequence.remove_prefix(next + 1);
    }
    return prompts;
}

}  // namespace roper
