#include "core/reading/gpt_neox_export.h"

#include <Eigen/QR>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <system_error>

#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/safetensors.h"
#include "core/corpus/open_task.h"
#include "core/reading/run_model.h"

namespace roper {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// @throws Error (usage) saying what the family cannot represent
void requireRepresentable(const Specification& s, const Architecture& model) {
    const auto refuse = [](const std::string& what) {
        throw Error(ErrorKind::usage,
                    "GPT-NeoX has no " + what +
                        ", so this run cannot be written as one; "
                        "`export --what weights` writes any run's parameters under our own names");
    };
    if (model.shared_kv) refuse("keys that are also the values (model.shared_kv)");
    if (model.key_value_heads != model.heads) refuse("key/value heads for several queries (model.kv_heads)");
    if (s.model.qk_norm) refuse("norms of queries and keys (model.qk_norm)");
    if (model.rotations.front().firstRotated() > 0)
        refuse("rotation of the last features (model.rotated_part)");
    if (model.latent.isUsed()) refuse("latent attention (model.latent_rank)");
    if (s.isModern()) refuse("RMSNorm and SwiGLU (model.block = modern)");
    if (s.model.window > 0) refuse("sliding windows (model.window)");
    if (s.model.attention_sinks) refuse("attention sinks (model.attention_sinks)");
    if (s.model.no_rotation_every > 0) refuse("layers without rotation (model.no_rotation_every)");
    if (model.rotatesValues()) refuse("rotation of values (RoPER)");
    if (model.rotatesOutputs()) refuse("rotation of outputs (model.rotates)");
    if (!model.rotated.scoresAreRelative()) refuse("rotation of only queries or only keys (model.rotates)");
    if (model.decay) refuse("decay of scores (xPos)");
    if (!model.head_bias.empty()) refuse("bias of scores (ALiBi, T5)");
    if (model.learned_positions || model.sinusoids > 0) refuse("positions added to embeddings");
    if (s.model.trainsFrequencies()) refuse("trained frequencies");
    if (model.post_norm) refuse("post-LayerNorm (model.norm = post)");
    if (!model.causal) refuse("attention in both directions");
    if (model.rotations.front().rotatedWidth() > 0 &&
        model.rotations.front().frequency_formula != FrequencyFormula::standard)
        refuse("frequencies of the worked example's formula");
}

/// Index of each feature of a head in GPT-NeoX, which pairs feature i with i + r/2 of the r rotating
/// features.
std::vector<int> orderOfFeatures(const Architecture& model) {
    const RotaryConfig& rotation = model.rotations.front();
    return pairingPermutation(rotation.pairing, Pairing::half, rotation.head_dim, rotation.rotatedWidth());
}

/// The tensors of the folder by name.
class Folder {
  public:
    void add(const std::string& name, std::vector<std::int64_t> shape, std::vector<float> numbers) {
        tensors_[name] = {std::move(shape), std::move(numbers)};
    }
    void addLinear(const std::string& name, const TensorStore& from, const LinearLocation& location) {
        add(name + ".weight", {location.weight.out, location.weight.in}, readMatrix(from, location.weight));
        add(name + ".bias", {location.weight.out}, biasOf(from, location));
    }
    void addNorm(const std::string& name, const TensorStore& from, const NormLocation& location) {
        const std::int64_t size = location.weight->size;
        add(name + ".weight", {size}, readVector(from, *location.weight));
        add(name + ".bias", {size},
            location.bias ? readVector(from, *location.bias)
                          : std::vector<float>(static_cast<std::size_t>(size)));
    }
    void save(const FilePath& path) const {
        std::vector<TensorToWrite> all;
        for (const auto& [name, tensor] : tensors_)
            all.push_back({name, Dtype::F32, tensor.shape, std::as_bytes(std::span(tensor.numbers))});
        writeSafetensors(path, all, {{"format", "pt"}});
    }
    std::vector<float>& numbers(const std::string& name) { return tensors_.at(name).numbers; }

    static std::vector<float> biasOf(const TensorStore& from, const LinearLocation& location) {
        return location.bias ? readVector(from, *location.bias)
                             : std::vector<float>(static_cast<std::size_t>(location.weight.out));
    }

  private:
    struct Tensor {
        std::vector<std::int64_t> shape;
        std::vector<float> numbers;
    };
    std::map<std::string, Tensor> tensors_;
};

/// q, k and v of each head one after another, with features in GPT-NeoX's order.
void addQueryKeyValue(Folder& folder, const std::string& name, const TensorStore& from,
                      const BlockWeights& block, const Architecture& model) {
    const Eigen::Index H = model.heads, d = model.head_dim, C = model.width;
    const std::vector<int> rotated = orderOfFeatures(model);
    Matrix weight(3 * H * d, C);
    Eigen::VectorXf bias(3 * H * d);
    int part = 0;
    for (const LinearLocation* location : {&block.query, &block.key, &block.value}) {
        const std::vector<float> numbers = readMatrix(from, location->weight),
                                 biases = Folder::biasOf(from, *location);
        const Eigen::Map<const Matrix> read(numbers.data(), H * d, C);
        for (Eigen::Index head = 0; head < H; ++head)
            for (Eigen::Index i = 0; i < d; ++i) {
                const bool rotates = part < 2;
                const Eigen::Index source = head * d + (rotates ? rotated[static_cast<std::size_t>(i)] : i),
                                   to = (3 * head + part) * d + i;
                weight.row(to) = read.row(source);
                bias[to] = biases[static_cast<std::size_t>(source)];
            }
        ++part;
    }
    folder.add(name + ".weight", {3 * H * d, C}, {weight.data(), weight.data() + weight.size()});
    folder.add(name + ".bias", {3 * H * d}, {bias.data(), bias.data() + bias.size()});
}

/// GPT-NeoX's output layer has no bias b. Since W h + b = W (h + W⁺ b) with the pseudoinverse W⁺, W⁺ b is
/// added to the bias of the last norm.
/// @throws Error (usage) if b is not in the range of W
void foldHeadBias(Folder& folder, const TensorStore& from, const LinearLocation& head) {
    if (!head.bias) return;
    const std::vector<float> numbers = readMatrix(from, head.weight), biases = readVector(from, *head.bias);
    const Eigen::MatrixXd W =
        Eigen::Map<const Matrix>(numbers.data(), head.weight.out, head.weight.in).cast<double>();
    const Eigen::VectorXd b =
        Eigen::Map<const Eigen::VectorXf>(biases.data(), static_cast<Eigen::Index>(biases.size()))
            .cast<double>();
    const Eigen::VectorXd shift = W.completeOrthogonalDecomposition().solve(b);
    constexpr double kRounding = 1e-5;
    if ((W * shift - b).cwiseAbs().maxCoeff() > kRounding)
        throw Error(
            ErrorKind::usage,
            "this run's output layer has a bias that GPT-NeoX cannot represent: its vocabulary is larger "
            "than its width");
    std::vector<float>& norm = folder.numbers("gpt_neox.final_layer_norm.bias");
    for (std::size_t i = 0; i < norm.size(); ++i)
        norm[i] = static_cast<float>(norm[i] + shift[static_cast<Eigen::Index>(i)]);
}

Json configOf(const Architecture& model) {
    const RotaryConfig& rotation = model.rotations.front();
    constexpr double kOurEpsilon = 1e-5;
    // transformers rotates ⌊d·rotary_pct⌋ features: rounding must not lose one.
    double fraction = static_cast<double>(rotation.rotatedWidth()) / static_cast<double>(model.head_dim);
    if (std::floor(fraction * static_cast<double>(model.head_dim)) < rotation.rotatedWidth())
        fraction = std::nextafter(fraction, 2.0);
    return {{"architectures", {"GPTNeoXForCausalLM"}},
            {"model_type", "gpt_neox"},
            {"vocab_size", model.vocabulary},
            {"hidden_size", model.width},
            {"num_hidden_layers", model.layers},
            {"num_attention_heads", model.heads},
            {"intermediate_size", model.feed_forward},
            {"hidden_act", model.activation == Activation::relu ? "relu" : "gelu"},
            {"rotary_pct", fraction},
            {"rotary_emb_base", rotation.base},
            {"max_position_embeddings", model.context},
            {"layer_norm_eps", kOurEpsilon},
            {"use_parallel_residual", false},
            {"attention_bias", true},
            {"tie_word_embeddings", false},
            {"bos_token_id", nullptr},
            {"eos_token_id", nullptr},
            {"torch_dtype", "float32"}};
}

/// A tokenizer whose tokens are characters; empty if some tokens have several.
std::optional<Json> tokenizerOfCharacters(const Vocabulary& vocabulary) {
    Json known = Json::object();
    for (int id = 0; id < vocabulary.size(); ++id) {
        const std::string& token = vocabulary.decode(id);
        if (token.size() != 1 || static_cast<unsigned char>(token.front()) >= 0x80) return std::nullopt;
        known[token] = id;
    }
    return Json{{"version", "1.0"},
                {"truncation", nullptr},
                {"padding", nullptr},
                {"added_tokens", Json::array()},
                {"normalizer", nullptr},
                {"pre_tokenizer", nullptr},
                {"post_processor", nullptr},
                {"decoder", {{"type", "Fuse"}}},
                {"model", {{"type", "BPE"}, {"vocab", known}, {"merges", Json::array()}}}};
}

void writeJson(const FilePath& path, const Json& json) {
    writeFileAtomically(path, json.dump(2) + "\n");
}

}  // namespace

std::vector<std::string> exportGptNeox(const RunFolder& run, std::optional<std::int64_t> step,
                                       const FilePath& named) {
    // "name/" and "name" are the same folder.
    const fs::path whole = fs::absolute(named.path()).lexically_normal();
    const FilePath folder(whole.has_filename() ? whole : whole.parent_path());
    if (fs::exists(folder.path()))
        throw Error(ErrorKind::usage, folder.string() + " already exists; choose another folder");
    const PretrainedModel model = openRunModel(run, step);
    const Architecture& a = model.architecture;
    requireRepresentable(withoutUnused(run.specification()), a);
    const TensorStore& from = *model.tensors;
    Folder tensors;
    tensors.add("gpt_neox.embed_in.weight", {a.vocabulary, a.width},
                readMatrix(from, model.weights.embedding));
    for (std::size_t layer = 0; layer < model.weights.blocks.size(); ++layer) {
        const BlockWeights& block = model.weights.blocks[layer];
        const std::string name = "gpt_neox.layers." + std::to_string(layer) + ".";
        tensors.addNorm(name + "input_layernorm", from, *block.attention_norm);
        addQueryKeyValue(tensors, name + "attention.query_key_value", from, block, a);
        tensors.addLinear(name + "attention.dense", from, block.output);
        tensors.addNorm(name + "post_attention_layernorm", from, *block.feed_forward_norm);
        tensors.addLinear(name + "mlp.dense_h_to_4h", from, block.feed_forward.up);
        tensors.addLinear(name + "mlp.dense_4h_to_h", from, block.feed_forward.down);
    }
    tensors.addNorm("gpt_neox.final_layer_norm", from, *model.weights.final_norm);
    tensors.add("embed_out.weight", {a.vocabulary, a.width}, readMatrix(from, model.weights.head->weight));
    foldHeadBias(tensors, from, *model.weights.head);

    const FilePath part(folder.string() + std::string(kPartialMark));
    std::error_code failure;
    fs::remove_all(part.path(), failure);
    fs::create_directories(part.path(), failure);
    if (failure) throw diskError("create", part.string(), failure.value());
    std::vector<std::string> notes;
    writeJson(part / "config.json", configOf(a));
    tensors.save(part / "model.safetensors");
    const auto task = openTaskForInference(run.specification().task, run);
    if (const auto tokenizer = tokenizerOfCharacters(task->vocabulary()))
        writeJson(part / "tokenizer.json", *tokenizer);
    else
        notes.push_back(
            "no tokenizer.json was written, because not every token of this run is one character");
    if (model.weights.head->bias)
        notes.push_back(
            "the output layer's bias, which GPT-NeoX does not have, is included in the bias of the last "
            "norm");
    fs::rename(part.path(), folder.path(), failure);
    if (failure) throw diskError("create", folder.string(), failure.value());
    return notes;
}

}  // namespace roper
