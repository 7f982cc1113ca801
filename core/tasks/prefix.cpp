#include "core/tasks/prefix.h"

#include <cmath>
#include <numeric>
#include <stdexcept>

#include "core/tasks/task_kind.h"

namespace roper {
namespace {

constexpr std::string_view kLetters = "abcd";
constexpr char kSeparator = '>';

/// Positions of earlier letters at which the substring may have started, narrowed letter by letter.
class Candidates {
  public:
    Candidates(const std::string& letters, std::size_t substring_length) : letters_(letters) {
        starts_.resize(letters.size() - substring_length + 1);
        std::iota(starts_.begin(), starts_.end(), std::size_t{0});
    }

    /// Keeps the starts that continue with `letter`. @returns the surprisal of this letter, in nats
    double observe(char letter) {
        const double before = static_cast<double>(starts_.size());
        std::erase_if(starts_, [&](std::size_t start) { return letters_[start + seen_] != letter; });
        ++seen_;
        if (starts_.empty())
            throw std::invalid_argument("a substring does not occur earlier in the sequence");
        return std::log(before / static_cast<double>(starts_.size()));
    }

  private:
    std::string letters_;
    std::vector<std::size_t> starts_;
    std::size_t seen_ = 0;
};

}  // namespace

PrefixTask::PrefixTask(std::int64_t substring_length, std::int64_t random_min, std::int64_t random_max)
    : Task(std::string(kLetters) + kSeparator),
      substring_length_(substring_length),
      random_min_(random_min),
      random_max_(random_max) {
    if (substring_length < 1 || random_min < 0 || random_max < random_min || random_max > 100000 ||
        substring_length > 100000)
        throw std::invalid_argument(
            "the prefix task needs 1 <= substring_length and 0 <= random_min <= random_max, all at most "
            "100000");
}

std::string PrefixTask::sequence(std::uint64_t seed, Stream stream, std::uint64_t index, int length) const {
    Random random(seed, stream, index);
    const auto wanted = static_cast<std::size_t>(length);
    const auto substring = static_cast<std::size_t>(substring_length_);
    std::string text;
    std::string letters;
    std::int64_t extra = substring_length_;
    while (text.size() < wanted) {
        const std::int64_t fresh = random.between(random_min_, random_max_) + extra;
        extra = 0;
        for (std::int64_t i = 0; i < fresh; ++i) {
            const char letter = kLetters[static_cast<std::size_t>(random.between(0, 3))];
            text += letter;
            letters += letter;
        }
        const auto start = random.between(0, static_cast<std::int64_t>(letters.size() - substring));
        const std::string repeated = letters.substr(static_cast<std::size_t>(start), substring);
        text += kSeparator + repeated;
        letters += repeated;
    }
    text.resize(wanted);
    return text;
}

std::vector<double> PrefixTask::idealSurprisals(std::string_view sequence) const {
    std::vector<double> surprisals;
    surprisals.reserve(sequence.size());
    std::string letters;
    std::size_t at = 0;
    std::int64_t extra = substring_length_;
    while (at < sequence.size()) {
        for (std::int64_t count = 0; at < sequence.size(); ++count) {
            // The length of a random part is uniform over extra + random_min … extra + random_max; `end` is
            // the probability that the part ends here.
            const std::int64_t left = extra + random_max_ - count;
            const double end = count < extra + random_min_ ? 0.0 : 1.0 / static_cast<double>(left + 1);
            const char character = sequence[at++];
            if (character == kSeparator) {
                if (end == 0.0) throw std::invalid_argument("a random part is shorter than random_min");
                surprisals.push_back(-std::log(end));
                break;
            }
            if (left == 0) throw std::invalid_argument("a random part is longer than random_max");
            surprisals.push_back(std::log(static_cast<double>(kLetters.size())) - std::log1p(-end));
            letters += character;
        }
        extra = 0;
        if (at >= sequence.size()) break;
        Candidates candidates(letters, static_cast<std::size_t>(substring_length_));
        for (std::int64_t i = 0; i < substring_length_ && at < sequence.size(); ++i) {
            surprisals.push_back(candidates.observe(sequence[at]));
            letters += sequence[at++];
        }
    }
    return surprisals;
}

std::vector<bool> PrefixTask::determined(std::string_view sequence) const {
    const std::vector<double> surprisals = idealSurprisals(sequence);
    std::vector<bool> certain(surprisals.size());
    // A '>' that must come now has no surprisal either, but only letters are scored.
    for (std::size_t i = 0; i < surprisals.size(); ++i)
        certain[i] = surprisals[i] == 0.0 && sequence[i] != kSeparator;
    return certain;
}

std::optional<double> PrefixTask::lossLowerBound(std::string_view sequence) const {
    if (sequence.size() < 2) return std::nullopt;
    const std::vector<double> surprisals = idealSurprisals(sequence);
    return std::accumulate(surprisals.begin() + 1, surprisals.end(), 0.0) /
           static_cast<double>(surprisals.size() - 1);
}

TaskKind prefixTask() {
    TaskKind kind;
    kind.name = "prefix";
    kind.help = "substring by prefix";
    kind.settings = {
        integerSetting("substring_length", "letters", "Prefix: letters repeated after each '>'", {1, 100000},
                       24),
        integerSetting("random_min", "letters", "Prefix: smallest number of random letters before each '>'",
                       {0, 100000}, 4),
        integerSetting("random_max", "letters", "Prefix: largest number of random letters before each '>'",
                       {0, 100000}, 8)};
    kind.check = requireOrdered("random_min", "random_max", "random_min must not be above random_max");
    kind.make = [](const DeclaredSettings& s) {
        return std::make_unique<PrefixTask>(s.integer("substring_length"), s.integer("random_min"),
                                            s.integer("random_max"));
    };
    return kind;
}

}  // namespace roper
