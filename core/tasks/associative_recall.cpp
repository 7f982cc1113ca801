#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "core/tasks/problem_task.h"

namespace roper {
namespace {

constexpr std::int64_t kKeys = 26, kValues = 10;

/// Multi-query associative recall (Arora et al. 2023, Zoology): "c4a7x1>a7x1c4#". Pairs of a key and a value
/// are followed by every key once more, in another order, each with its value. A problem is one such query:
/// its prompt consists of the pairs, the earlier queries with their values and the key; the answer is the
/// value. The size of a problem is the number of pairs and the index of the query, from 0.
class AssociativeRecallTask final : public ProblemTask {
  public:
    /// @param pairs_min, pairs_max  bounds of the number of pairs of a sequence, which is drawn uniformly; at
    /// most 26, since keys are distinct letters
    AssociativeRecallTask(std::int64_t pairs_min, std::int64_t pairs_max)
        : ProblemTask("abcdefghijklmnopqrstuvwxyz0123456789>#"), least_(pairs_min), most_(pairs_max) {
        if (pairs_min < 2 || pairs_max < pairs_min || pairs_max > kKeys)
            throw std::invalid_argument("pairs must satisfy 2 <= pairs_min <= pairs_max <= 26, not " +
                                        std::to_string(pairs_min) + " and " + std::to_string(pairs_max));
        const auto pairs = static_cast<std::size_t>(pairs_max);
        setMaxLengths(4 * pairs, 2 * pairs);
    }

    /// Correct if the first character is the value.
    bool isCorrect(const Problem& problem, std::string_view completion) const override {
        return !completion.empty() && completion.front() == problem.answer.front();
    }
    bool isComplete(std::string_view completion) const override { return !completion.empty(); }

    /// Less than the sum of both maxima: the longest prompt has the shortest answer.
    int maxProblemLength() const override { return static_cast<int>(4 * most_ + 2); }

    std::int64_t sizeCount() const override { return (most_ - least_ + 1) * (least_ + most_) / 2; }
    std::vector<ProblemSize> sizes() const override {
        std::vector<ProblemSize> all;
        for (std::int64_t pairs = least_; pairs <= most_; ++pairs)
            for (std::int64_t query = 0; query < pairs; ++query)
                all.push_back({pairs, query});
        return all;
    }
    std::vector<std::string> sizeNames() const override { return {"pairs", "queries before"}; }

    /// Accepts a whole prompt, or only the pairs up to '>'.
    std::optional<ProblemSize> sizeOf(std::string_view prompt) const override {
        const std::size_t end = prompt.find(promptTerminator());
        if (end == std::string_view::npos || end == 0 || end % 2 != 0) return std::nullopt;
        const std::size_t queries = prompt.size() - end - 1;
        if (queries > 0 && queries % 2 == 0) return std::nullopt;
        for (std::size_t i = 0; i < prompt.size(); ++i) {
            if (i == end) continue;
            const bool is_key = (i < end ? i : i - end - 1) % 2 == 0;
            const char low = is_key ? 'a' : '0', high = is_key ? 'z' : '9';
            if (prompt[i] < low || prompt[i] > high) return std::nullopt;
        }
        return ProblemSize{static_cast<std::int64_t>(end / 2), static_cast<std::int64_t>(queries / 2)};
    }

  private:
    /// The pairs are random, with distinct keys, and so is the order of the queries.
    std::vector<double> idealSurprisals(std::string_view problem) const override {
        std::vector<double> surprisals(problem.size());
        const std::size_t end = std::min(problem.find('>'), problem.size());
        for (std::size_t i = 0; i < end; ++i) {
            const auto pairs = static_cast<std::int64_t>(i / 2);
            surprisals[i] = i % 2 == 1 ? std::log(static_cast<double>(kValues))
                                       : surprisalOfContinuing(pairs, least_, most_) +
                                             std::log(static_cast<double>(kKeys - pairs));
        }
        if (end == problem.size()) return surprisals;
        surprisals[end] = surprisalOfEnding(static_cast<std::int64_t>(end / 2), least_, most_);
        for (std::size_t left = end / 2, i = end + 1; i < problem.size() && left > 0; i += 2, --left)
            surprisals[i] = std::log(static_cast<double>(left));
        return surprisals;
    }

    ProblemSize drawSize(Random& random) const override {
        const std::int64_t pairs = random.between(least_, most_);
        return {pairs, random.between(0, pairs - 1)};
    }

    Problem drawOfSize(Random& random, ProblemSize size) const override {
        const auto pairs = static_cast<std::size_t>(size.first),
                   query = static_cast<std::size_t>(size.second);
        const std::vector<std::size_t> keys = shuffled(random, kKeys), order = shuffled(random, pairs);
        std::vector<std::string> shown;
        for (std::size_t i = 0; i < pairs; ++i)
            shown.push_back(
                {static_cast<char>('a' + keys[i]), static_cast<char>('0' + random.between(0, kValues - 1))});
        std::string text;
        for (const std::string& pair : shown)
            text += pair;
        text += promptTerminator();
        for (const std::size_t i : order)
            text += shown[i];
        text += '#';
        const std::size_t prompt = 2 * pairs + 1 + 2 * query + 1;
        return {text.substr(0, prompt), text.substr(prompt)};
    }

    /// A random permutation of 0 … count − 1 (Fisher & Yates).
    static std::vector<std::size_t> shuffled(Random& random, std::size_t count) {
        std::vector<std::size_t> numbers(count);
        std::iota(numbers.begin(), numbers.end(), std::size_t{0});
        for (std::size_t i = count; i > 1; --i)
            std::swap(numbers[i - 1],
                      numbers[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(i) - 1))]);
        return numbers;
    }

    /// Ordered selections of keys, each with any value.
    double problemCountOfSize(ProblemSize size) const override {
        double count = 1;
        for (std::int64_t i = 0; i < size.first; ++i)
            count *= static_cast<double>((kKeys - i) * kValues);
        return count;
    }
    std::string_view promptTerminator() const override { return ">"; }

    /// The pairs: training shows either all problems with the same pairs or none.
    std::string_view holdoutKey(std::string_view prompt) const override {
        return prompt.substr(0, prompt.find(promptTerminator()) + 1);
    }

    std::int64_t least_, most_;
};

}  // namespace

TaskKind associative_recallTask() {
    return taskOfLengths<AssociativeRecallTask>(
        "associative_recall", "associative recall",
        integerSetting("pairs_min", "pairs", "Associative recall: smallest number of key-value pairs",
                       {2, 26}, 4),
        integerSetting("pairs_max", "pairs", "Associative recall: largest number of key-value pairs", {2, 26},
                       8),
        "pairs_min must not be above pairs_max");
}

}  // namespace roper
