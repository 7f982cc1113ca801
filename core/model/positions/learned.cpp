#include <ATen/ATen.h>

#include "core/model/positions/positions.h"

namespace roper {
namespace {

/// A learned vector for each position, added to the embeddings (Gehring et al. 2017).
class LearnedPositions final : public Positions {
  public:
    LearnedPositions(const Specification& specification, Parameters& parameters, at::TensorOptions options)
        : Positions(specification, options),
          table_(parameters.normal(
              "positions.weight",
              specification.model.method().max_length(specification.model, specification.shape()),
              specification.model.width, 1.0)) {}

  protected:
    void contribute(const TokenPositions& tokens, PassPositions& pass) override {
        pass.embedding = tokens.single.defined() ? at::embedding(table_, tokens.single).unsqueeze(1)
                                                 : table_.narrow(0, 0, tokens.T);
    }

  private:
    at::Tensor table_;  ///< [positions, C]
};

}  // namespace

std::unique_ptr<Positions> learnedPositions(const Specification& specification, Parameters& parameters,
                                            at::TensorOptions options) {
    return std::make_unique<LearnedPositions>(specification, parameters, options);
}

}  // namespace roper
