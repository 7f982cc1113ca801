#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// Which of its task's problems a run of ours solves, the same ones as it was trained and with a change.
struct SolvedAnswer {
    std::vector<std::string> prompts;
    std::vector<bool> solved;   ///< as it was trained
    std::vector<bool> changed;  ///< with the change

    static std::int64_t count(const std::vector<bool>& of) { return std::count(of.begin(), of.end(), true); }
    /// How many are solved in one way alone.
    std::int64_t lost() const {
        std::int64_t all = 0;
        for (std::size_t i = 0; i < solved.size(); ++i)
            all += solved[i] && !changed[i] ? 1 : 0;
        return all;
    }
    std::int64_t gained() const { return lost() + count(changed) - count(solved); }
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SolvedAnswer, prompts, solved, changed)

}  // namespace roper
