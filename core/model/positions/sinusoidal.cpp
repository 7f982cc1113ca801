#include <ATen/ATen.h>

#include "core/model/positions/positions.h"

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
            const auto& model = specification().model;
            table_ = makeSinusoidTable(0, tableLength(tokens.T), model.width, model.base, options());
        }
        pass.embedding = tokens.single.defined() ? at::embedding(table_, tokens.single).unsqueeze(1)
                                                 : table_.narrow(0, 0, tokens.T);
    }

  private:
    at::Tensor table_;  ///< [positions, C], extended as needed
};

}  // namespace

std::unique_ptr<Positions> sinusoidalPositions(const Specification& specification, Parameters&,
                                               at::TensorOptions options) {
    return std::make_unique<SinusoidalPositions>(specification, options);
}

}  // namespace roper
