#include <ATen/ATen.h>

#include "core/model/positions/positions.h"
#include "core/rotary/position_bias.h"

namespace roper {
namespace {

/// A bias that decreases linearly with distance, with a separate slope for each head (Press et al. 2021).
class AlibiPositions final : public Positions {
  public:
    AlibiPositions(const Specification& specification, at::TensorOptions options)
        : Positions(specification, options) {
        const std::int64_t heads = specification.model.heads;
        slopes_ = at::empty({heads, 1}, at::kDouble);
        for (std::int64_t head = 0; head < heads; ++head)
            slopes_[head].fill_(alibiSlope(static_cast<int>(head) + 1, static_cast<int>(heads)));
        slopes_ = slopes_.to(options);
    }

  protected:
    void contribute(const TokenPositions& tokens, PassPositions& pass) override {
        addBias(tokens, pass, [this](const at::Tensor& distances) {
            return -slopes_.mul(distances.abs().flatten()).unflatten(1, distances.sizes());
        });
    }

  private:
    at::Tensor slopes_;  ///< [H, 1]
};

}  // namespace

std::unique_ptr<Positions> alibiPositions(const Specification& specification, Parameters&,
                                          at::TensorOptions options) {
    return std::make_unique<AlibiPositions>(specification, options);
}

}  // namespace roper
