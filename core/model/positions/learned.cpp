#include <ATen/ATen.h>

#include "core/base/error.h"
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
              specification.model.method().longest(specification.model, specification.shape()),
              specification.model.width, 1.0)) {}

    at::Tensor learnedTable() const override { return table_; }

  protected:
    void contribute(const TokenPositions& tokens, PassPositions& pass) override {
        if (tokens.T > table_.size(0))
            throw Error(ErrorKind::usage,
                        "this model has a learned table of " + std::to_string(table_.size(0)) +
                            " positions and cannot read a text of " + std::to_string(tokens.T) +
                            " tokens: train it with model.table_positions = " + std::to_string(tokens.T) +
                            " or longer sequences, or use a method without a table");
        pass.added = tokens.single.defined() ? at::embedding(table_, tokens.single).unsqueeze(1)
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
