#include <ATen/ATen.h>

#include <cmath>

#include "core/model/positions/positions.h"
#include "core/rotary/position_bias.h"

namespace roper {
namespace {

/// A learned bias for each head and bucket of distances, shared by all layers (Raffel et al. 2020).
class T5Positions final : public Positions {
  public:
    T5Positions(const Specification& specification, Parameters& parameters, at::TensorOptions options)
        : Positions(specification, options),
          bias_(parameters.normal(
              "relative_bias.weight", specification.model.specific_settings.integer("bias_buckets"),
              specification.model.heads, 1.0 / std::sqrt(static_cast<double>(specification.model.width)))) {}

    at::Tensor relativeBias() const override { return bias_; }

  protected:
    void contribute(const TokenPositions& tokens, PassPositions& pass) override {
        if (!buckets_.defined() || buckets_.size(0) < 2 * tokens.T - 1) {
            retire(buckets_);
            buckets_ = bucketsByDistance(tableLength(tokens.T)).to(options().device());
        }
        addBias(tokens, pass, [this](const at::Tensor& distances) {
            const std::int64_t zero = buckets_.size(0) / 2;  // index of distance 0
            const at::Tensor bucket_of = buckets_.index_select(0, (distances + zero).flatten());
            return bias_.index_select(0, bucket_of).t().unflatten(1, distances.sizes());
        });
    }

  private:
    /// The bucket of every distance −(T − 1) … T − 1: [2T − 1] (int64).
    at::Tensor bucketsByDistance(std::int64_t T) const {
        const DeclaredSettings& specific_settings = specification().model.specific_settings;
        at::Tensor buckets = at::empty({2 * T - 1}, at::kLong);
        auto values = buckets.accessor<std::int64_t, 1>();
        for (std::int64_t i = 0; i < 2 * T - 1; ++i)
            values[i] = t5Bucket(static_cast<int>(i - (T - 1)), specification().isMasked(),
                                 static_cast<int>(specific_settings.integer("bias_buckets")),
                                 static_cast<int>(specific_settings.integer("bias_distance")));
        return buckets;
    }

    at::Tensor bias_;     ///< [buckets, H]
    at::Tensor buckets_;  ///< of each distance, keys to the right first; extended as needed
};

}  // namespace

std::unique_ptr<Positions> t5Positions(const Specification& specification, Parameters& parameters,
                                       at::TensorOptions options) {
    return std::make_unique<T5Positions>(specification, parameters, options);
}

}  // namespace roper
