#include "tests/support/eigen_transformer.h"

#include <ATen/ATen.h>

#include <cmath>
#include <map>

#include "core/rotary/scores.h"
#include "tests/support/reference_attention.h"

namespace roper {
namespace {

class EigenModel {
  public:
    EigenModel(const Specification& s, const std::vector<Transformer::NamedParameter>& parameters) : s_(s) {
        for (const auto& [name, tensor] : parameters) {
            const at::Tensor plain = tensor.detach().to(at::kDouble).contiguous();
            const auto rows = plain.dim() == 2 ? plain.size(0) : 1, columns = plain.size(-1);
            parameters_[name] =
                Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
                    plain.const_data_ptr<double>(), rows, columns);
        }
        const auto rotary = [&](double fraction) {
            return makeRotary(static_cast<int>(s.headDim()), pairingOf(s), s.model.base, scheduleOf(s),
                              fraction);
        };
        query_key_ = rotary(s.model.rotary_fraction);
        value_ = rotary(s.model.position == "roper" ? s.model.value_rotary_fraction : 0.0);
    }

    Eigen::MatrixXd logits(const std::vector<std::int64_t>& tokens) const {
        Eigen::MatrixXd x(static_cast<Eigen::Index>(tokens.size()), s_.model.width);
        for (std::size_t t = 0; t < tokens.size(); ++t)
            x.row(static_cast<Eigen::Index>(t)) = parameters_.at("embedding.weight").row(tokens[t]);
        for (std::int64_t layer = 0; layer < s_.model.layers; ++layer) {
            const std::string block = "blocks." + std::to_string(layer) + ".";
            if (s_.model.norm == "pre") {
                x += attention(block, norm(block + "attention_norm", x));
                x += feedForward(block, norm(block + "feed_forward_norm", x));
            } else {
                x = norm(block + "attention_norm", x + attention(block, x));
                x = norm(block + "feed_forward_norm", x + feedForward(block, x));
            }
        }
        return linear("head", s_.model.norm == "pre" ? norm("final_norm", x) : x);
    }

  private:
    Eigen::MatrixXd linear(const std::string& name, const Eigen::MatrixXd& x) const {
        return (x * parameters_.at(name + ".weight").transpose()).rowwise() +
               parameters_.at(name + ".bias").row(0);
    }

    Eigen::MatrixXd norm(const std::string& name, const Eigen::MatrixXd& x) const {
        Eigen::MatrixXd out(x.rows(), x.cols());
        for (Eigen::Index t = 0; t < x.rows(); ++t) {
            const Eigen::ArrayXd centred = x.row(t).array() - x.row(t).mean();
            const double deviation = std::sqrt(centred.square().mean() + 1e-5);
            out.row(t) = (centred / deviation)
                             .matrix()
                             .transpose()
                             .cwiseProduct(parameters_.at(name + ".weight").row(0)) +
                         parameters_.at(name + ".bias").row(0);
        }
        return out;
    }

    Eigen::MatrixXd feedForward(const std::string& block, const Eigen::MatrixXd& x) const {
        Eigen::MatrixXd hidden = linear(block + "feed_forward.up", x);
        const bool gelu = s_.model.activation == "gelu";
        hidden = hidden.unaryExpr(
            [&](double v) { return gelu ? 0.5 * v * (1 + std::erf(v / std::sqrt(2.0))) : std::max(v, 0.0); });
        return linear(block + "feed_forward.down", hidden);
    }

    Eigen::MatrixXd attention(const std::string& block, const Eigen::MatrixXd& x) const {
        const Eigen::MatrixXd qkv = linear(block + "attention.qkv", x);
        const auto d = s_.headDim(), C = s_.model.width;
        const Eigen::VectorXd positions = consecutivePositions(static_cast<int>(x.rows()));
        Eigen::MatrixXd joined(x.rows(), C);
        for (std::int64_t head = 0; head < s_.model.heads; ++head) {
            const Eigen::MatrixXd q = qkv.middleCols(head * d, d), k = qkv.middleCols(C + head * d, d),
                                  v = qkv.middleCols(2 * C + head * d, d);
            const Eigen::MatrixXd weights =
                roper::attentionWeights(referenceScores(query_key_, q, k, positions), true);
            joined.middleCols(head * d, d) = referenceMixing(value_, weights, v, positions);
        }
        return linear(block + "attention.output", joined);
    }

    Specification s_;
    std::map<std::string, Eigen::MatrixXd> parameters_;
    Rotary query_key_, value_;
};

}  // namespace

Eigen::MatrixXd eigenLogits(const Specification& specification,
                            const std::vector<Transformer::NamedParameter>& parameters,
                            const std::vector<std::int64_t>& tokens) {
    return EigenModel(specification, parameters).logits(tokens);
}

}  // namespace roper
