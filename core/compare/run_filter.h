#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/compare/outcome.h"

namespace roper {

/// A filter for runs, as typed by the user: words that the name, task, method, state, experiment, tags or
/// note must contain, and comparisons such as "seed<5", "position=roper", "width>=128", "loss<0.6",
/// "state=finished". All conditions must hold.
class RunFilter {
  public:
    RunFilter() = default;

    /// Keys are the fields of a specification; step and loss of the last recorded step; correct or solved
    /// (problems) and accuracy (in %) of the last evaluation; last and best for the last and the best
    /// evaluation (problems solved, or the loss for tasks without problems); seed, state, name, tag.
    /// @throws Error (usage) for an unknown key, with the nearest known one
    explicit RunFilter(std::string_view text);

    bool matches(const RunRecord& run) const;

    /// Whether the value of a comparison is still missing while it is being typed; such a comparison matches
    /// every run.
    bool isUnfinished() const;

  private:
    struct Comparison {
        std::string key, op, value;
    };
    static bool isSatisfied(const Comparison& comparison, const RunRecord& run);

    std::vector<std::string> words_;
    std::vector<Comparison> comparisons_;
};

}  // namespace roper
