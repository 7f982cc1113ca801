#include "core/questions/solved_answer.h"

namespace roper {

std::int64_t SolvedAnswer::lost() const {
    std::int64_t all = 0;
    for (std::size_t i = 0; i < solved.size(); ++i)
        all += solved[i] && !changed[i] ? 1 : 0;
    return all;
}

std::int64_t SolvedAnswer::gained() const {
    return lost() + count(changed) - count(solved);
}

}  // namespace roper
