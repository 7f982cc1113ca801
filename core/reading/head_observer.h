#pragma once

#include <span>
#include <vector>

#include "core/language_model/decoder.h"
#include "core/questions/heads_answer.h"
#include "core/reading/answers.h"

namespace roper {

/// A tensor [rows, columns] of any type as a float64 matrix.
Eigen::MatrixXd matrixOf(const at::Tensor& x);

/// The inverse of matrixOf, float64. Matrices are decomposed by LibTorch, because Eigen's decompositions take
/// long to compile.
at::Tensor tensorOf(const Eigen::MatrixXd& x);

/// The first `width` features of x [..., features], or x with zeros after its features: values may be
/// narrower than keys, or wider.
at::Tensor withWidth(const at::Tensor& x, std::int64_t width);

/// Accumulates statistics of every head during a pass over one text. T tokens, H heads.
class HeadObserver {
  public:
    HeadObserver(const Architecture& architecture, std::span<const std::int64_t> tokens);

    /// Callbacks for the pass, which this object must outlive.
    ForwardHooks recorder();

    /// One report per layer and head, in this order, after the pass.
    std::vector<HeadReport> reports() const;

  private:
    void observe(const LayerView& view);
    void observe(std::int64_t layer, std::int64_t first, const at::Tensor& weights);
    HeadReport& report(std::int64_t layer, std::int64_t head);
    /// Visible keys with the query's token, except the query itself [queries, keys] (bool).
    /// @param is_same   whether tokens of queries and keys are the same [queries, keys]
    /// @param distance  n − j [queries, keys]
    at::Tensor otherOccurrences(const at::Tensor& is_same, const at::Tensor& distance) const;
    /// 1 for each key after one of these occurrences, except the query itself; otherwise 0. (float32)
    at::Tensor followers(const at::Tensor& is_same, const at::Tensor& distance) const;

    const Architecture& architecture_;
    std::int64_t T_;
    at::Tensor tokens_;  ///< [T] (int64)
    std::vector<HeadReport> reports_;
    std::int64_t repeats_ = 0;     ///< queries with other visible occurrences of their token
    std::int64_t inductions_ = 0;  ///< queries with such an occurrence that has a visible successor
};

/// Statistics of every head on the text. @throws Error (usage) for fewer than two tokens
HeadsAnswer observeHeads(const QuestionContext& context);

}  // namespace roper
