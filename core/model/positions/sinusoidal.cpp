#include <ATen/ATen.h>

#include "core/model/positions/positions.h"
#include "core/rotary/absolute_encoding.h"

namespace roper {
namespace {

/// Sinusoids added to the embeddings (Vaswani et al. 2017).
class SinusoidalPositions final : public Positions {
  public:
    using Positions::Positions;

  protected:
    void contribute(const TokenPositions& tokens, PassPositions& pass) override {
        if (!table_.defined() || table_.size(0) < tokens.T) {
            retire(table_);
            table_ = sinusoids(atLeastTrained(tokens.T));
        }
        pass.embedding = tokens.single.defined() ? at::embedding(table_, tokens.single).unsqueeze(1)
                                                 : table_.narrow(0, 0, tokens.T);
    }

  private:
    /// Of positions 0 … T − 1: [T, C].
    at::Tensor sinusoids(std::int64_t T) const {
        const auto& model = specification().model;
        Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> table =
            sinusoidTable(static_cast<int>(T), static_cast<int>(model.width), model.base);
        return at::from_blob(table.data(), {T, model.width}, at::kDouble)
            .to(options(), /*non_blocking=*/false, /*copy=*/true);
    }

    at::Tensor table_;  ///< [positions, C], as long as has been needed
};

}  // namespace

std::unique_ptr<Positions> sinusoidalPositions(const Specification& specification, Parameters&,
                                               at::TensorOptions options) {
    return std::make_unique<SinusoidalPositions>(specification, options);
}

}  // namespace roper
