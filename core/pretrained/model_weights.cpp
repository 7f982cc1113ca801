#include "core/pretrained/model_weights.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/pretrained/family.h"

namespace roper {
namespace {

using Rows = std::vector<MatrixPlace::Rows>;

/// Finds tensors by their names and remembers which have been found.
class Locator {
  public:
    Locator(const TensorStore& store, Naming naming, const Architecture& model)
        : store_(store),
          model_(model),
          family_(*familyNamed(model.family)),
          names_(naming == Naming::gguf ? ggufNames() : family_.names),
          is_gguf_(naming == Naming::gguf) {
        // A model saved without its head is named without the part that holds the blocks.
        const std::size_t dot = names_.layer.find('.');
        if (!is_gguf_ && !store.has(names_.embedding + ".weight") && dot != std::string::npos) {
            const std::string part = names_.layer.substr(0, dot + 1);
            for (std::string* const name :
                 {&names_.embedding, &names_.positions, &names_.final_norm, &names_.layer})
                if (name->starts_with(part)) name->erase(0, part.size());
        }
    }

    const TensorNames& names() const { return names_; }
    std::string inLayer(std::int64_t layer, const std::string& name) const {
        std::string prefix = names_.layer;
        prefix.replace(prefix.find("{}"), 2, std::to_string(layer));
        return prefix + name;
    }
    bool has(const std::string& name) const { return store_.has(name + ".weight"); }

    MatrixPlace table(const std::string& name, std::int64_t rows, std::int64_t columns) {
        const StoredTensor& tensor = found(name + ".weight");
        if (tensor.shape.size() != 2 || tensor.shape[0] < rows || tensor.shape[1] != columns)
            refuse(name + ".weight", tensor, std::to_string(rows) + " × " + std::to_string(columns));
        return {name + ".weight", false, tensor.shape[0], columns};
    }

    NormPlace norm(const std::string& name, std::int64_t size) {
        NormPlace place{vector(name + ".weight", size, {}), {}};
        if (model_.norm == NormKind::layer) place.bias = vector(name + ".bias", size, {});
        return place;
    }

    LinearPlace linear(const std::string& name, std::int64_t out, std::int64_t in) {
        return part(name, out, in, out, {});
    }

    /// Rows of a tensor that holds more than this layer, of `all` rows.
    LinearPlace part(const std::string& name, std::int64_t out, std::int64_t in, std::int64_t all,
                     const Rows& rows) {
        const std::string weight = name + ".weight", bias = name + ".bias";
        const StoredTensor& tensor = found(weight);
        const bool transposed = !is_gguf_ && family_.transposed;
        const std::vector<std::int64_t> expected =
            transposed ? std::vector<std::int64_t>{in, all} : std::vector<std::int64_t>{all, in};
        if (tensor.shape != expected)
            refuse(weight, tensor, std::to_string(expected[0]) + " × " + std::to_string(expected[1]));
        LinearPlace place{{weight, transposed, out, in, rows}, {}};
        if (store_.has(bias)) place.bias = vector(bias, all, rows);
        return place;
    }

    /// q, k and v in one tensor.
    void threeInOne(const std::string& name, BlockWeights& block) {
        const std::int64_t d = model_.head_dim, of_queries = model_.heads * d,
                           of_keys = model_.key_value_heads * d, all = of_queries + 2 * of_keys;
        const auto rows = [&](std::int64_t which) -> Rows {
            if (is_gguf_ || !family_.interleaved_heads) {
                if (which == 0) return {{0, of_queries}};
                return {{of_queries + (which - 1) * of_keys, of_keys}};
            }
            Rows made;
            for (std::int64_t head = 0; head < model_.heads; ++head)
                made.push_back({(3 * head + which) * d, d});
            return made;
        };
        block.query = part(name, of_queries, model_.width, all, rows(0));
        block.key = part(name, of_keys, model_.width, all, rows(1));
        block.value = part(name, of_keys, model_.width, all, rows(2));
    }

    void requireNoOthers() const {
        for (const auto& [name, tensor] : store_.tensors())
            if (used_.count(name) == 0 && !isOfNoEffect(name))
                throw Error(ErrorKind::checkpoint, origin() + ": the tensor " + onOneLine(name) +
                                                       " has no place in a model of the family " +
                                                       model_.family);
    }

  private:
    std::string origin() const { return store_.pathOfFile(0); }

    const StoredTensor& found(const std::string& name) {
        used_.insert(name);
        return store_.tensor(name);
    }

    VectorPlace vector(const std::string& name, std::int64_t size, const Rows& parts) {
        const StoredTensor& tensor = found(name);
        if (tensor.shape != std::vector<std::int64_t>{size}) refuse(name, tensor, std::to_string(size));
        std::int64_t count = parts.empty() ? size : 0;
        for (const auto& stretch : parts)
            count += stretch.count;
        return {name, count, parts};
    }

    [[noreturn]] void refuse(const std::string& name, const StoredTensor& tensor,
                             const std::string& expected) const {
        throw Error(ErrorKind::checkpoint, store_.pathOfFile(tensor.file) + ": the tensor " + name + " is " +
                                               tensor.shapeText() + "; a model of these sizes has " +
                                               expected);
    }

    /// Tables that programs make themselves, and masks that older files hold.
    bool isOfNoEffect(const std::string& name) const {
        for (const char* const ending : {"rotary_emb.inv_freq", ".attn.bias", ".attn.masked_bias",
                                         ".attention.bias", ".attention.masked_bias", "rope_freqs.weight",
                                         "rope_factors_short.weight", "rope_factors_long.weight"})
            if (name.ends_with(ending)) return true;
        // What our own methods train besides has been read already; what the optimizer keeps is of no
        // concern.
        if (family_.is_ours && (name.starts_with("optimizer.") || name == "relative_bias.weight" ||
                                name.ends_with("_frequencies")))
            return true;
        return model_.tied && name == names_.head + ".weight";
    }

    const TensorStore& store_;
    const Architecture& model_;
    const Family& family_;
    TensorNames names_;
    bool is_gguf_;
    std::set<std::string> used_;
};

BlockWeights locateBlock(Locator& in, const Architecture& model, std::int64_t layer) {
    const TensorNames& names = in.names();
    const auto name = [&](const std::string& part) { return in.inLayer(layer, part); };
    const std::int64_t d = model.head_dim, of_queries = model.heads * d, of_keys = model.key_value_heads * d;
    BlockWeights block;
    block.attention_norm = in.norm(name(names.attention_norm), model.width);
    if (!names.query_key_value.empty() && in.has(name(names.query_key_value))) {
        in.threeInOne(name(names.query_key_value), block);
    } else {
        block.query = in.linear(name(names.query), of_queries, model.width);
        block.key = in.linear(name(names.key), of_keys, model.width);
        block.value = in.linear(name(names.value), of_keys, model.width);
    }
    block.output = in.linear(name(names.output), model.width, of_queries);
    if (model.query_key_norms) {
        block.query_norm = in.norm(name(names.query_norm), d);
        block.key_norm = in.norm(name(names.key_norm), d);
    }
    if (model.norms_after) {
        block.after_attention_norm = in.norm(name(names.after_attention_norm), model.width);
        block.after_feed_forward_norm = in.norm(name(names.after_feed_forward_norm), model.width);
    }
    block.feed_forward_norm = in.norm(name(names.feed_forward_norm), model.width);
    if (model.gated) block.gate = in.linear(name(names.gate), model.feed_forward, model.width);
    block.up = in.linear(name(names.up), model.feed_forward, model.width);
    block.down = in.linear(name(names.down), model.width, model.feed_forward);
    return block;
}

}  // namespace

ModelWeights locateWeights(const TensorStore& store, Naming naming, Architecture& architecture) {
    if (naming == Naming::gguf) architecture.tied = !store.has(ggufNames().head + ".weight");
    Locator locator(store, naming, architecture);
    const TensorNames& names = locator.names();
    ModelWeights weights;
    weights.embedding = locator.table(names.embedding, architecture.vocabulary, architecture.width);
    architecture.vocabulary = weights.embedding.out;
    if (architecture.learned_positions)
        weights.positions = locator.table(names.positions, architecture.context, architecture.width);
    for (std::int64_t layer = 0; layer < architecture.layers; ++layer)
        weights.blocks.push_back(locateBlock(locator, architecture, layer));
    if (!architecture.post_norm) weights.final_norm = locator.norm(names.final_norm, architecture.width);
    if (architecture.tied)
        weights.head.weight = weights.embedding;
    else
        weights.head = locator.linear(names.head, architecture.vocabulary, architecture.width);
    locator.requireNoOthers();
    return weights;
}

std::vector<float> readMatrix(const TensorStore& store, const MatrixPlace& place) {
    const StoredTensor& tensor = store.tensor(place.tensor);
    const auto out = static_cast<std::size_t>(place.out), in = static_cast<std::size_t>(place.in);
    std::vector<float> matrix(out * in);
    const Rows all = place.rows.empty() ? Rows{{0, place.out}} : place.rows;
    if (!place.transposed) {
        std::size_t done = 0;
        for (const auto& stretch : all) {
            const std::size_t count = static_cast<std::size_t>(stretch.count) * in;
            store.readRows(tensor, stretch.first, stretch.count, std::span(matrix).subspan(done, count));
            done += count;
        }
        return matrix;
    }
    const auto stored_out = static_cast<std::size_t>(tensor.shape[1]);
    std::vector<float> row(stored_out);
    for (std::size_t j = 0; j < in; ++j) {
        store.readRows(tensor, static_cast<std::int64_t>(j), 1, row);
        std::size_t i = 0;
        for (const auto& stretch : all)
            for (std::int64_t k = 0; k < stretch.count; ++k)
                matrix[i++ * in + j] = row[static_cast<std::size_t>(stretch.first + k)];
    }
    return matrix;
}

std::vector<float> readVector(const TensorStore& store, const VectorPlace& place) {
    const StoredTensor& tensor = store.tensor(place.tensor);
    std::vector<float> all(static_cast<std::size_t>(tensor.count()));
    decodeElements(tensor.type, store.rowBytes(tensor, 0, 1), all);
    if (place.parts.empty()) return all;
    std::vector<float> vector;
    for (const auto& stretch : place.parts)
        vector.insert(vector.end(), all.begin() + stretch.first, all.begin() + stretch.first + stretch.count);
    return vector;
}

}  // namespace roper
