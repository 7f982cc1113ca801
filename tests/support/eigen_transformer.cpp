#include "tests/support/eigen_transformer.h"

#include <ATen/ATen.h>

#include <cmath>
#include <map>

#include "tests/support/make_rotary.h"
#include "tests/support/reference_attention.h"

namespace roper {
namespace {

class EigenModel {
  public:
    EigenModel(const Specification& s, const std::vector<NamedParameter>& parameters) : s_(s) {
        for (const auto& [name, tensor] : parameters) {
            const at::Tensor plain = tensor.detach().to(at::kDouble).contiguous();
            const auto rows = plain.dim() == 2 ? plain.size(0) : 1, columns = plain.size(-1);
            parameters_[name] =
                Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
                    plain.const_data_ptr<double>(), rows, columns);
        }
        const auto rotary = [&](bool rotates, double fraction) {
            Rotary made = makeRotary(static_cast<int>(s.headDim()), s.model.pairing, s.model.base,
                                     s.model.frequency_formula, rotates ? fraction : 0.0);
            if (s.model.rotated_part == RotatedPart::last) made.first = made.head_dim - made.rotatedWidth();
            return made;
        };
        const std::string& name = s.model.position;
        const std::string letters = name == "rotary"  ? s.model.specific_settings.text("rotates")
                                    : name == "roper" ? "qkvo"
                                    : name == "rope" || name == "xpos" ? "qk"
                                                                       : "";
        const auto rotates = [&](char letter) { return letters.find(letter) != std::string::npos; };
        // What is key and value at once rotates as a key.
        const double of_values = s.model.shared_kv ? s.model.rotary_fraction : s.model.value_rotary_fraction;
        query_ = rotary(rotates('q'), s.model.rotary_fraction);
        key_ = rotary(rotates('k'), s.model.rotary_fraction);
        value_ = rotary(rotates(s.model.shared_kv ? 'k' : 'v'), of_values);
        output_ = rotary(rotates('o'), of_values);
    }

    Eigen::MatrixXd logits(const std::vector<std::int64_t>& tokens) const {
        Eigen::MatrixXd x(static_cast<Eigen::Index>(tokens.size()), s_.model.width);
        for (std::size_t t = 0; t < tokens.size(); ++t)
            x.row(static_cast<Eigen::Index>(t)) =
                parameters_.at("embedding.weight").row(tokens[t]) + added(static_cast<Eigen::Index>(t));
        for (std::int64_t layer = 0; layer < s_.model.layers; ++layer) {
            const std::string block = "blocks." + std::to_string(layer) + ".";
            if (s_.model.norm == "pre") {
                x += attention(layer, norm(block + "attention_norm", x));
                x += feedForward(block, norm(block + "feed_forward_norm", x));
            } else {
                x = norm(block + "attention_norm", x + attention(layer, x));
                x = norm(block + "feed_forward_norm", x + feedForward(block, x));
            }
        }
        return linear("head", s_.model.norm == "pre" ? norm("final_norm", x) : x);
    }

  private:
    /// The vector that an absolute encoding adds to the embedding at position t.
    Eigen::RowVectorXd added(Eigen::Index t) const {
        if (s_.model.position == "learned") return parameters_.at("positions.weight").row(t);
        Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(s_.model.width);
        if (s_.model.position != "sinusoidal") return sum;
        for (Eigen::Index i = 0; 2 * i < sum.size(); ++i) {
            const double angle =
                static_cast<double>(t) *
                std::pow(s_.model.base, -2.0 * static_cast<double>(i) / static_cast<double>(sum.size()));
            sum[2 * i] = std::sin(angle);
            sum[2 * i + 1] = std::cos(angle);
        }
        return sum;
    }

    Eigen::MatrixXd linear(const std::string& name, const Eigen::MatrixXd& x) const {
        const Eigen::MatrixXd product = x * parameters_.at(name + ".weight").transpose();
        if (s_.isModern()) return product;
        return product.rowwise() + parameters_.at(name + ".bias").row(0);
    }

    /// Rows divided by their root mean square, times a weight.
    Eigen::MatrixXd rmsNorm(const std::string& name, const Eigen::MatrixXd& x) const {
        Eigen::MatrixXd out(x.rows(), x.cols());
        for (Eigen::Index t = 0; t < x.rows(); ++t)
            out.row(t) = x.row(t).cwiseProduct(parameters_.at(name + ".weight").row(0)) /
                         std::sqrt(x.row(t).squaredNorm() / static_cast<double>(x.cols()) + 1e-5);
        return out;
    }

    Eigen::MatrixXd norm(const std::string& name, const Eigen::MatrixXd& x) const {
        if (s_.isModern()) return rmsNorm(name, x);
        Eigen::MatrixXd out(x.rows(), x.cols());
        for (Eigen::Index t = 0; t < x.rows(); ++t) {
            const Eigen::ArrayXd centered = x.row(t).array() - x.row(t).mean();
            const double standard_deviation = std::sqrt(centered.square().mean() + 1e-5);
            out.row(t) = (centered / standard_deviation)
                             .matrix()
                             .transpose()
                             .cwiseProduct(parameters_.at(name + ".weight").row(0)) +
                         parameters_.at(name + ".bias").row(0);
        }
        return out;
    }

    Eigen::MatrixXd feedForward(const std::string& block, const Eigen::MatrixXd& x) const {
        Eigen::MatrixXd hidden = linear(block + "feed_forward.up", x);
        if (s_.isModern()) {
            const Eigen::MatrixXd gate = linear(block + "feed_forward.gate", x);
            hidden.array() *= gate.array() / (1 + (-gate.array()).exp());
            return linear(block + "feed_forward.down", hidden);
        }
        const bool gelu = s_.model.activation == "gelu";
        hidden = hidden.unaryExpr(
            [&](double v) { return gelu ? 0.5 * v * (1 + std::erf(v / std::sqrt(2.0))) : std::max(v, 0.0); });
        return linear(block + "feed_forward.down", hidden);
    }

    /// Queries, keys and values of all heads, side by side.
    Eigen::MatrixXd headsOf(const std::string& block, const Eigen::MatrixXd& x) const {
        const Eigen::Index rank = s_.model.latent_rank, d = s_.headDim(), H = s_.model.heads;
        if (rank == 0) return linear(block + "attention.qkv", x);
        const auto product = [&](const std::string& name, const Eigen::MatrixXd& from) -> Eigen::MatrixXd {
            return from * parameters_.at(block + "attention." + name + ".weight").transpose();
        };
        const Eigen::MatrixXd down = product("latent", x);
        Eigen::MatrixXd latent = down.leftCols(rank);
        for (Eigen::Index t = 0; t < latent.rows(); ++t)
            latent.row(t) =
                latent.row(t).cwiseProduct(parameters_.at(block + "attention.latent_norm.weight").row(0)) /
                std::sqrt(latent.row(t).squaredNorm() / static_cast<double>(rank) + 1e-6);
        const Eigen::MatrixXd up = product("latent_up", latent);
        const Eigen::Index rotated = down.cols() - rank, each = 2 * d - rotated;
        Eigen::MatrixXd made(x.rows(), 3 * H * d);
        made.leftCols(H * d) = product("query", x);
        for (Eigen::Index head = 0; head < H; ++head) {
            made.middleCols((H + head) * d, d - rotated) = up.middleCols(head * each, d - rotated);
            made.middleCols((H + head) * d + d - rotated, rotated) = down.rightCols(rotated);
            made.middleCols((2 * H + head) * d, d) = up.middleCols(head * each + d - rotated, d);
        }
        return made;
    }

    /// LayerNorm without bias of the rows.
    Eigen::MatrixXd headNorm(const std::string& name, const Eigen::MatrixXd& x) const {
        if (!s_.model.qk_norm) return x;
        if (s_.isModern()) return rmsNorm(name, x);
        Eigen::MatrixXd out(x.rows(), x.cols());
        for (Eigen::Index t = 0; t < x.rows(); ++t) {
            const Eigen::RowVectorXd centered = x.row(t).array() - x.row(t).mean();
            const double variance = centered.squaredNorm() / static_cast<double>(x.cols());
            out.row(t) =
                centered.cwiseProduct(parameters_.at(name + ".weight").row(0)) / std::sqrt(variance + 1e-5);
        }
        return out;
    }

    Eigen::MatrixXd attention(std::int64_t layer, const Eigen::MatrixXd& x) const {
        const std::string block = "blocks." + std::to_string(layer) + ".";
        const Eigen::MatrixXd qkv = headsOf(block, x);
        const auto d = s_.headDim(), C = s_.model.width;
        const auto K = s_.model.kv_heads == 0 ? s_.model.heads : s_.model.kv_heads;
        const Eigen::VectorXd positions = consecutivePositions(static_cast<int>(x.rows()));
        Eigen::MatrixXd joined(x.rows(), C);
        for (std::int64_t head = 0; head < s_.model.heads; ++head) {
            const auto group = head / (s_.model.heads / K);
            const Eigen::MatrixXd q = headNorm(block + "attention.query_norm", qkv.middleCols(head * d, d)),
                                  k = headNorm(block + "attention.key_norm",
                                               qkv.middleCols(C + group * d, d)),
                                  v = s_.model.shared_kv ? k : qkv.middleCols(C + (K + group) * d, d);
            const std::string frequencies =
                s_.model.shared_kv ? "query_key_frequencies" : "value_frequencies";
            const auto inThisLayer = [&](const Rotary& rotary, const std::string& name) {
                const auto n = s_.model.no_rotation_every;
                return n > 0 && layer % n == n - 1 ? makeRotary(static_cast<int>(d), rotary.pairing, 10,
                                                                s_.model.frequency_formula, 0)
                                                   : trained(block + "attention." + name, rotary);
            };
            const Rotary of_queries = inThisLayer(query_, "query_key_frequencies"),
                         of_keys = inThisLayer(key_, "query_key_frequencies"),
                         of_values = slower(inThisLayer(value_, frequencies)),
                         of_outputs = slower(inThisLayer(output_, frequencies));
            const Eigen::MatrixXd weights = referenceWeights(
                {s_.model.attention, of_queries, of_keys,
                 [&](double distance) { return bias(head, distance); }, !s_.isMasked(),
                 [&](int pair, int pairs) { return decay(pair, pairs); }, s_.model.window,
                 s_.model.attention_sinks ? parameters_.at(block + "attention.sinks")(0, head) : -INFINITY},
                q, k, positions);
            joined.middleCols(head * d, d) = referenceMixing(of_values, of_outputs, weights, v, positions);
        }
        return linear(block + "attention.output", joined);
    }

    /// A rotation of values and outputs at its strength.
    Rotary slower(Rotary rotary) const {
        rotary.theta *= s_.model.value_rotation_strength;
        return rotary;
    }

    /// The rotation with the trained frequencies of a layer, if it has any.
    Rotary trained(const std::string& name, Rotary rotary) const {
        const auto found = parameters_.find(name);
        if (found != parameters_.end() && rotary.pairs() > 0) rotary.theta = found->second.row(0).transpose();
        return rotary;
    }

    /// xPos: ζ^{1/512} with ζ = (2i/r + 0.4)/1.4, where r is the rotated width (torchscale).
    double decay(int pair, int pairs) const {
        if (s_.model.position != "xpos") return 1;
        return std::pow((2.0 * pair / (2.0 * pairs) + 0.4) / 1.4, 1.0 / 512);
    }

    /// The bias of a score by the signed distance, query − key.
    double bias(std::int64_t head, double distance) const {
        if (s_.model.position == "alibi")
            return -std::exp2(-8.0 * static_cast<double>(head + 1) / static_cast<double>(s_.model.heads)) *
                   std::abs(distance);
        if (s_.model.position != "t5") return 0;
        // With bidirectional attention, the second half of the buckets is for keys to the right.
        const auto buckets =
            static_cast<double>(s_.model.specific_settings.integer("bias_buckets") / (s_.isMasked() ? 2 : 1));
        const double first = distance < 0 ? buckets : 0;
        distance = std::abs(distance);
        const double half = std::floor(buckets / 2);
        const double logarithmic =
            half +
            std::floor(
                (buckets - half) * std::log(distance / half) /
                std::log(static_cast<double>(s_.model.specific_settings.integer("bias_distance")) / half));
        const double bucket = distance < half ? distance : std::min(logarithmic, buckets - 1);
        return parameters_.at("relative_bias.weight")(static_cast<Eigen::Index>(first + bucket), head);
    }

    Specification s_;
    std::map<std::string, Eigen::MatrixXd> parameters_;
    Rotary query_, key_, value_, output_;
};

}  // namespace

Eigen::MatrixXd eigenLogits(const Specification& specification, const std::vector<NamedParameter>& parameters,
                            const std::vector<std::int64_t>& tokens) {
    return EigenModel(specification, parameters).logits(tokens);
}

}  // namespace roper
