#include "core/training/batches.h"

#include <vector>

#include "core/model/generation.h"

namespace roper {

at::Tensor makeSequences(const Task& task, const Specification& specification, Stream stream,
                         std::uint64_t first, std::int64_t count) {
    std::vector<std::vector<std::int64_t>> rows;
    rows.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i)
        rows.push_back(task.tokens(static_cast<std::uint64_t>(specification.training.data_seed), stream,
                                   first + static_cast<std::uint64_t>(i),
                                   static_cast<int>(specification.training.length)));
    return padded(rows);
}

}  // namespace roper
