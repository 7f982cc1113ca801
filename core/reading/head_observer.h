#pragma once

#include <span>
#include <vector>

#include "core/language_model/decoder.h"
#include "core/questions/heads_answer.h"
#include "core/reading/answers.h"

namespace roper {

/// A matrix in float64. x [rows, columns], of any type
Eigen::MatrixXd matrixOf(const at::Tensor& x);

/// Watches a pass over one text and sums up what every head does. T tokens, H heads.
class HeadObserver {
  public:
    HeadObserver(const Architecture& architecture, std::span<const std::int64_t> tokens);

    /// To be given to the pass; the observer must outlive it.
    PassRecorder recorder();

    /// One for each layer and head, in this order, once the pass is over.
    std::vector<HeadReport> reports() const;

  private:
    void observe(const LayerView& view);
    void observe(std::int64_t layer, std::int64_t first, const at::Tensor& weights);
    HeadReport& report(std::int64_t layer, std::int64_t head);

    const Architecture& architecture_;
    std::int64_t T_;
    at::Tensor tokens_;  ///< [T] (int64)
    std::vector<HeadReport> reports_;
    std::int64_t repeats_ = 0;     ///< queries whose token stood in the text before
    std::int64_t inductions_ = 0;  ///< queries whose token was followed by another before
};

/// What every head does with the text. @throws Error (usage) for fewer than two tokens
HeadsAnswer observeHeads(const Asked& asked);

}  // namespace roper
