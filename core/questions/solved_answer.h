#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// Which problems of its own task a run solves, as trained and with a change.
struct SolvedAnswer {
    std::vector<std::string> prompts;
    std::vector<bool> solved;   ///< as trained
    std::vector<bool> changed;  ///< with the change

    static std::int64_t count(const std::vector<bool>& of) { return std::count(of.begin(), of.end(), true); }
    /// Number of problems solved only as trained.
    std::int64_t lost() const {
        std::int64_t all = 0;
        for (std::size_t i = 0; i < solved.size(); ++i)
            all += solved[i] && !changed[i] ? 1 : 0;
        return all;
    }
    /// Number of problems solved only with the change.
    std::int64_t gained() const { return lost() + count(changed) - count(solved); }
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SolvedAnswer, prompts, solved, changed)

}  // namespace roper
