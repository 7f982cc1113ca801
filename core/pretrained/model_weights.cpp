#include "core/pretrained/model_weights.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/pretrained/family.h"
#include "core/pretrained/gguf_rotation.h"

namespace roper {
namespace {

using Rows = std::vector<MatrixLocation::Rows>;

/// Endings of names of tables that programs compute themselves; files of any family may contain them.
const std::vector<std::string> kMadeByPrograms = {"rotary_emb.inv_freq", ".position_ids"};

/// Whether two tensors hold the same numbers, even if stored as different types.
bool haveSameContents(const TensorStore& store, const StoredTensor& a, const StoredTensor& b) {
    if (a.shape != b.shape || a.shape.empty()) return false;
    const std::int64_t row = a.shape.back(), rows = row == 0 ? 0 : a.count() / row;
    constexpr std::int64_t kNumbers = 1 << 20;
    const std::int64_t at_once = std::max<std::int64_t>(1, kNumbers / std::max<std::int64_t>(row, 1));
    std::vector<float> of_a, of_b;
    for (std::int64_t first = 0; first < rows; first += at_once) {
        const std::int64_t count = std::min(at_once, rows - first);
        of_a.resize(static_cast<std::size_t>(count * row));
        of_b.resize(of_a.size());
        store.readRows(a, first, count, of_a);
        store.readRows(b, first, count, of_b);
        if (of_a != of_b) return false;
    }
    return true;
}

/// A name with "{}" replaced by the expert.
std::string ofExpert(std::string name, std::int64_t expert) {
    if (const std::size_t location = name.find("{}"); location != std::string::npos)
        name.replace(location, 2, std::to_string(expert));
    return name;
}

template <class Is>
bool anyOf(const std::vector<std::string>& names, Is is) {
    return std::any_of(names.begin(), names.end(), is);
}

/// Finds tensors by name and records which were found.
class Locator {
  public:
    Locator(const TensorStore& store, Naming naming, const Architecture& model, const BiasRules& biases)
        : store_(store),
          model_(model),
          biases_(biases),
          family_(*findFamily(model.family)),
          names_(naming == Naming::gguf ? ggufNames() : family_.names),
          is_gguf_(naming == Naming::gguf) {
        if (is_gguf_ && family_.gguf_rules.gate_and_up_fused) names_.gate_up = names_.up;
        if (is_gguf_ && family_.gguf_rules.feed_forward_norm != nullptr)
            names_.feed_forward_norm = family_.gguf_rules.feed_forward_norm;
        const std::string alternative_head = family_.alternative_head;
        if (!is_gguf_ && !alternative_head.empty() && store.has(alternative_head + ".weight"))
            names_.head = alternative_head;
        // Models saved without a head lack the prefix of the names of blocks.
        const std::size_t dot = names_.layer.find('.');
        if (is_gguf_ || dot == std::string::npos) return;
        const std::string part = names_.layer.substr(0, dot + 1);
        const auto first = store.tensors().lower_bound(part);
        if (first != store.tensors().end() && first->first.starts_with(part)) return;
        for (std::string* const name :
             {&names_.embedding, &names_.positions, &names_.final_norm, &names_.layer})
            if (name->starts_with(part)) name->erase(0, part.size());
    }

    const TensorNames& names() const { return names_; }
    const BiasRules& biases() const { return biases_; }
    std::string inLayer(std::int64_t layer, const std::string& name) const {
        std::string prefix = names_.layer;
        prefix.replace(prefix.find("{}"), 2, std::to_string(layer));
        return prefix + name;
    }
    bool has(const std::string& name) const { return store_.has(name + ".weight"); }

    MatrixLocation table(const std::string& name, std::int64_t rows, std::int64_t columns) {
        const StoredTensor& tensor = found(name + ".weight");
        if (tensor.shape.size() != 2 || tensor.shape[0] < rows || tensor.shape[1] != columns)
            refuse(name + ".weight", tensor, std::to_string(rows) + " × " + std::to_string(columns));
        return {name + ".weight", false, tensor.shape[0], columns};
    }

    NormLocation norm(const std::string& name, std::int64_t size) {
        NormLocation location;
        if (model_.norm_weights) location.weight = vector(name + ".weight", size, {});
        if (model_.norm == NormKind::layer && model_.norm_biases)
            location.bias = vector(name + ".bias", size, {});
        return location;
    }

    /// The norm of queries or keys, whose weight may be stored [heads, d].
    NormLocation headNorm(const std::string& name, std::int64_t heads) {
        const bool has_shared_weights = model_.query_key_norms == QueryKeyNorms::shared_weights;
        const std::int64_t size = has_shared_weights ? model_.head_dim : heads * model_.head_dim;
        NormLocation location{vector(name + ".weight", size, {})};
        if (model_.norm == NormKind::layer && model_.norm_biases)
            location.bias = vector(name + ".bias", size, {});
        return location;
    }

    LinearLocation linear(const std::string& name, std::int64_t out, std::int64_t in, BiasRule bias) {
        return part(name, out, in, out, {}, bias);
    }

    /// The head is stored [vocabulary, width] even where the weights of blocks are transposed.
    LinearLocation head(std::int64_t out, std::int64_t in) {
        return part(names_.head, out, in, out, {}, biases_.head, /*may_be_transposed=*/false);
    }

    std::optional<VectorLocation> biasOfTiedHead() {
        const std::string bias = names_.head + ".bias";
        const bool has_bias =
            biases_.head == BiasRule::always || (biases_.head == BiasRule::if_present && store_.has(bias));
        if (!has_bias) return std::nullopt;
        return vector(bias, model_.vocabulary, {});
    }

    /// A linear layer stored as some of the `all` rows of a tensor.
    LinearLocation part(const std::string& name, std::int64_t out, std::int64_t in, std::int64_t all,
                        const Rows& rows, BiasRule rule, bool may_be_transposed = true) {
        const std::string weight = name + ".weight", bias = name + ".bias";
        const StoredTensor& tensor = found(weight);
        const bool transposed = may_be_transposed && !is_gguf_ && family_.transposed;
        const std::vector<std::int64_t> expected =
            transposed ? std::vector<std::int64_t>{in, all} : std::vector<std::int64_t>{all, in};
        if (tensor.shape != expected)
            refuse(weight, tensor, std::to_string(expected[0]) + " × " + std::to_string(expected[1]));
        LinearLocation location{{weight, transposed, out, in, rows}, {}};
        if (rule == BiasRule::never && store_.has(bias))
            throw Error(ErrorKind::checkpoint, store_.pathOfFile(store_.tensor(bias).file) + ": the tensor " +
                                                   toSingleLine(bias) + " is a bias, and this model of the " +
                                                   "family " + model_.family + " has none there");
        if (rule == BiasRule::always || store_.has(bias)) location.bias = vector(bias, all, rows);
        return location;
    }

    /// q, k and v in one tensor.
    void splitQueryKeyValue(const std::string& name, BlockWeights& block) {
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
        block.query = part(name, of_queries, model_.width, all, rows(0), biases_.query_key_value);
        block.key = part(name, of_keys, model_.width, all, rows(1), biases_.query_key_value);
        block.value = part(name, of_keys, model_.width, all, rows(2), biases_.query_key_value);
    }

    /// Gate and up of a feed-forward layer in one tensor.
    void splitGateUp(const std::string& name, std::int64_t out, FeedForwardWeights& layer) {
        layer.gate = part(name, out, model_.width, 2 * out, {{0, out}}, biases_.feed_forward);
        layer.up = part(name, out, model_.width, 2 * out, {{out, out}}, biases_.feed_forward);
    }

    /// @param gate_up  name of gate and up in one tensor; empty: they are two
    FeedForwardWeights feedForward(const std::string& gate, const std::string& gate_up, const std::string& up,
                                   const std::string& down, std::int64_t width) {
        FeedForwardWeights layer;
        if (model_.gated && !gate_up.empty() && has(gate_up)) {
            splitGateUp(gate_up, width, layer);
        } else {
            if (model_.gated) layer.gate = linear(gate, width, model_.width, biases_.feed_forward);
            layer.up = linear(up, width, model_.width, biases_.feed_forward);
        }
        layer.down = linear(down, model_.width, width, biases_.feed_forward);
        return layer;
    }

    /// The names by which the mixtures of this file are stored.
    const MixtureNames& mixtureNames(std::int64_t layer) const {
        const std::vector<MixtureNames>& all = is_gguf_ ? ggufMixtureNames() : family_.mixture_names;
        for (const MixtureNames& names : all)
            if (has(inLayer(layer, names.router))) return names;
        return all.front();
    }

    /// One linear layer of every expert: a tensor for each, or one for all.
    /// @param of_each  name of an expert's tensor; empty: there is one for all, `of_all`
    /// @param bias_of_all  name of the biases of all
    LinearLocation ofAllExperts(std::int64_t layer, const std::string& of_each, const std::string& of_all,
                                const std::string& bias_of_all, std::int64_t out, std::int64_t in) {
        const std::int64_t experts = model_.mixture.experts;
        const std::string all = inLayer(layer, of_all);
        if (of_all.empty() || (!of_each.empty() && has(inLayer(layer, ofExpert(of_each, 0))))) {
            LinearLocation location;
            for (std::int64_t expert = 0; expert < experts; ++expert)
                location = linear(inLayer(layer, ofExpert(of_each, expert)), out, in, BiasRule::never);
            location.weight.tensor = inLayer(layer, of_each) + ".weight";
            return location;
        }
        const bool transposed = !is_gguf_ && family_.experts_transposed;
        const StoredTensor& tensor = found(all);
        const std::vector<std::int64_t> shape = {experts, transposed ? in : out, transposed ? out : in};
        if (tensor.shape != shape) refuse(all, tensor, StoredTensor{tensor.type, shape}.shapeText());
        LinearLocation location{{all, transposed, out, in, {}, 0}, {}};
        if (!model_.mixture.expert_biases) return location;
        const std::string bias = inLayer(layer, bias_of_all);
        const StoredTensor& biases = found(bias);
        if (biases.shape != std::vector<std::int64_t>{experts, out})
            refuse(bias, biases, std::to_string(experts) + " × " + std::to_string(out));
        location.bias = VectorLocation{bias, out, {}, 0};
        return location;
    }

    MixtureWeights mixture(std::int64_t layer) {
        const ExpertMixture& mixture = model_.mixture;
        const MixtureNames& names = mixtureNames(layer);
        const auto name = [&](const std::string& part) { return inLayer(layer, part); };
        MixtureWeights weights;
        weights.router = linear(name(names.router), mixture.experts, model_.width,
                                mixture.router_bias ? BiasRule::always : BiasRule::never);
        // As in llama.cpp, a GGUF file need not have it.
        if (mixture.choice_bias && (!is_gguf_ || store_.has(name(names.choice_bias))))
            weights.choice_bias =
                vector(name(store_.has(name(names.choice_bias)) || names.other_choice_bias.empty()
                                ? names.choice_bias
                                : names.other_choice_bias),
                       mixture.experts, {});
        const std::int64_t F = mixture.feed_forward, C = model_.width;
        FeedForwardWeights& first = weights.first;
        if (!names.all_gate_up.empty() && store_.has(name(names.all_gate_up))) {
            first.gate_up = ofAllExperts(layer, {}, names.all_gate_up, names.gate_up_bias, 2 * F, C);
            first.takes_turns = !is_gguf_ && family_.experts_take_turns;
        } else {
            first.gate = ofAllExperts(layer, names.gate, names.all_gate, names.gate_bias, F, C);
            first.up = ofAllExperts(layer, names.up, names.all_up, names.up_bias, F, C);
        }
        first.down = ofAllExperts(layer, names.down, names.all_down, names.down_bias, C, F);
        if (mixture.shared_feed_forward > 0)
            weights.shared = feedForward(
                name(names.shared_gate), names.shared_gate_up.empty() ? "" : name(names.shared_gate_up),
                name(names.shared_up), name(names.shared_down), mixture.shared_feed_forward);
        if (mixture.shared_is_gated) weights.shared_gate = sharedSwitch(name(names.shared_switch));
        return weights;
    }

    /// Rows of one of the parts of each head, where a tensor holds for each head `first` and then `second`
    /// rows.
    Rows rowsOfHeads(std::int64_t first, std::int64_t second, bool is_second) const {
        Rows rows;
        for (std::int64_t head = 0; head < model_.heads; ++head)
            rows.push_back({head * (first + second) + (is_second ? first : 0), is_second ? second : first});
        return rows;
    }

    /// Multi-head latent attention, and `BlockWeights::query`.
    LatentWeights latent(std::int64_t layer, LinearLocation& query) {
        const LatentNames& names = family_.latent_names;
        const auto name = [&](const std::string& part) { return inLayer(layer, part); };
        const LatentAttention& latent = model_.latent;
        const std::int64_t H = model_.heads, d = model_.head_dim, unrotated = d - latent.rotated,
                           values = model_.valueWidth(), up = H * (unrotated + values);
        const BiasRule bias = biases_.query_key_value;
        LatentWeights weights;
        // In files the rotated features of a head are its last ones.
        Rows rotated_first;
        for (std::int64_t head = 0; head < H; ++head) {
            rotated_first.push_back({head * d + unrotated, latent.rotated});
            rotated_first.push_back({head * d, unrotated});
        }
        if (latent.query_rank > 0) {
            weights.query_down = linear(name(names.query_down), latent.query_rank, model_.width, bias);
            weights.query_norm =
                NormLocation{vector(name(names.query_norm) + ".weight", latent.query_rank, {})};
            query =
                part(name(names.query_up), H * d, latent.query_rank, H * d, rotated_first, BiasRule::never);
        } else {
            query = part(name(names_.query), H * d, model_.width, H * d, rotated_first, BiasRule::never);
        }
        const std::int64_t all = latent.rank + latent.rotated;
        weights.down = part(name(names.down), latent.rank, model_.width, all, {{0, latent.rank}}, bias);
        weights.shared_key =
            part(name(names.down), latent.rotated, model_.width, all, {{latent.rank, latent.rotated}}, bias);
        weights.norm = NormLocation{vector(name(names.norm) + ".weight", latent.rank, {})};
        weights.keys = {part(name(names.up), H * unrotated, latent.rank, up,
                             rowsOfHeads(unrotated, values, false), BiasRule::never)
                            .weight};
        weights.values = part(name(names.up), H * values, latent.rank, up,
                              rowsOfHeads(unrotated, values, true), BiasRule::never)
                             .weight;
        return weights;
    }

    VectorLocation sinks(const std::string& name) { return vector(name, model_.heads, {}); }

    void requireNoUnknownTensors() const {
        for (const auto& [name, tensor] : store_.tensors())
            if (used_.count(name) == 0 && !hasNoEffect(name))
                throw Error(ErrorKind::checkpoint,
                            store_.pathOfFile(tensor.file) + ": the tensor " + toSingleLine(name) +
                                " has no place in a model of the " + "family " + model_.family);
        for (const auto& [name, tensor] : store_.unsupportedTensors())
            if (!family_.trained_here && !hasNoEffect(name)) throw store_.unsupportedTypeError(name);
    }

    /// Number of parameters of the model.
    std::int64_t parameters() const {
        std::int64_t all = 0;
        for (const auto& [name, tensor] : store_.tensors())
            if (used_.count(name) > 0 || isExtraParameter(name)) all += tensor.count();
        return all;
    }

  private:
    const StoredTensor& found(const std::string& name) {
        used_.insert(name);
        return store_.tensor(name);
    }

    /// The gate of a shared expert, which GGUF files store as a vector.
    LinearLocation sharedSwitch(const std::string& name) {
        const StoredTensor& tensor = found(name + ".weight");
        if (tensor.count() != model_.width || tensor.shape.size() > 2)
            refuse(name + ".weight", tensor, "1 × " + std::to_string(model_.width));
        return {{name + ".weight", false, 1, model_.width}, {}};
    }

    VectorLocation vector(const std::string& name, std::int64_t size, const Rows& parts) {
        const StoredTensor& tensor = found(name);
        const bool is_by_head = model_.query_key_norms == QueryKeyNorms::per_head &&
                                tensor.shape.size() == 2 && tensor.shape[1] == model_.head_dim;
        const bool is_row = tensor.shape.size() == 2 && tensor.shape[0] == 1;
        if (tensor.count() != size || (tensor.shape.size() != 1 && !is_by_head && !is_row))
            refuse(name, tensor, std::to_string(size));
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

    /// Further parameters that our own methods train; these have already been read.
    bool isExtraParameter(const std::string& name) const {
        return family_.trained_here && !name.starts_with("optimizer.") &&
               (name == "relative_bias.weight" || name.ends_with("_frequencies"));
    }

    /// Whether LongRoPE's factors have been read.
    bool scalesByFactors() const {
        return std::any_of(
            model_.rotations.begin(), model_.rotations.end(),
            [](const RotaryConfig& rotation) { return rotation.scaling.method == ScalingMethod::longrope; });
    }

    /// Whether a tensor is of layers after the last, or of other parts that predict several tokens.
    bool isOfFurtherTokens(const std::string& name) const {
        if (anyOf(family_.of_further_tokens,
                  [&](const std::string& part) { return name.find(part) != std::string::npos; }))
            return true;
        const std::string before = names_.layer.substr(0, names_.layer.find("{}"));
        if (!family_.has_further_layers || !name.starts_with(before)) return false;
        const auto layer =
            parseNumber(name.substr(before.size(), name.find('.', before.size()) - before.size()));
        return layer && *layer >= static_cast<double>(model_.layers);
    }

    bool hasNoEffect(const std::string& name) const {
        if (isOfFurtherTokens(name)) return true;
        if (isExtraParameter(name) || (family_.trained_here && name.starts_with("optimizer."))) return true;
        if (is_gguf_)
            return name == kFrequencyFactors ||
                   (scalesByFactors() && (name == kShortFactors || name == kLongFactors)) ||
                   anyOf(family_.gguf_rules.image_tensor_prefixes,
                         [&](const std::string& part) { return name.starts_with(part); });
        const auto endsName = [&](const std::string& end) { return name.ends_with(end); };
        return anyOf(kMadeByPrograms, endsName) || anyOf(family_.recomputed_suffixes, endsName) ||
               (model_.tied && name == names_.head + ".weight");
    }

    const TensorStore& store_;
    const Architecture& model_;
    BiasRules biases_;
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
    if (model.norms_before) block.attention_norm = in.norm(name(names.attention_norm), model.width);
    if (model.latent.isUsed()) {
        block.latent = in.latent(layer, block.query);
    } else if (!names.query_key_value.empty() && in.has(name(names.query_key_value))) {
        in.splitQueryKeyValue(name(names.query_key_value), block);
    } else {
        const BiasRule bias = in.biases().query_key_value;
        block.query = in.linear(name(names.query), of_queries, model.width, bias);
        block.key = in.linear(name(names.key), of_keys, model.width, bias);
        block.value = in.linear(name(names.value), of_keys, model.width, bias);
    }
    block.output =
        in.linear(name(names.output), model.width, model.heads * model.valueWidth(), in.biases().output);
    if (model.normsQueriesIn(layer) && !model.query_key_norm_weights) {
        block.query_norm = block.key_norm = NormLocation{};
    } else if (model.normsQueriesIn(layer)) {
        block.query_norm = in.headNorm(name(names.query_norm), model.heads);
        block.key_norm = in.headNorm(name(names.key_norm), model.key_value_heads);
    }
    if (model.norms_after) {
        block.after_attention_norm = in.norm(name(names.after_attention_norm), model.width);
        block.after_feed_forward_norm = in.norm(name(names.after_feed_forward_norm), model.width);
    }
    if (model.norms_before && !model.shares_norm)
        block.feed_forward_norm = in.norm(name(names.feed_forward_norm), model.width);
    if (model.has_sinks) block.sinks = in.sinks(name(names.sinks));
    if (model.mixture.isIn(layer))
        block.mixture = in.mixture(layer);
    else
        block.feed_forward =
            in.feedForward(name(names.gate), names.gate_up.empty() ? "" : name(names.gate_up), name(names.up),
                           name(names.down), model.feed_forward);
    return block;
}

/// If a head is said to be tied to the embeddings but a different one is stored, it is used, as in
/// transformers.
void untieIfDifferent(const TensorStore& store, const TensorNames& names, Architecture& model,
                      std::vector<std::string>& notes) {
    const std::string head = names.head + ".weight", embedding = names.embedding + ".weight";
    if (!model.tied || !store.has(head) || !store.has(embedding) ||
        haveSameContents(store, store.tensor(head), store.tensor(embedding)))
        return;
    model.tied = false;
    notes.push_back("tie_word_embeddings is true, but " + head + " is not " + embedding +
                    ": it is used, as in transformers");
}

std::int64_t parametersOf(const FeedForwardWeights& layer) {
    const auto of = [](const LinearLocation& location) {
        return location.weight.out * (location.weight.in + (location.bias ? 1 : 0));
    };
    return (layer.gate ? of(*layer.gate) : 0) + (layer.gate_up ? of(*layer.gate_up) : 0) + of(layer.up) +
           of(layer.down);
}

/// Locates the head, if the model has one; if it is tied, its matrix is the embedding table.
void locateHead(Locator& locator, const TensorStore& store, const Architecture& model,
                ModelWeights& weights) {
    const std::string name = locator.names().head;
    if (model.tied) {
        weights.head.emplace(LinearLocation{weights.embedding, locator.biasOfTiedHead()});
    } else if (store.has(name + ".weight") || store.unsupportedTensors().count(name + ".weight") > 0) {
        weights.head = locator.head(model.vocabulary, model.width);
    } else {
        weights.notes.push_back("the model has no head (no tensor " + name +
                                ".weight): it predicts no tokens");
    }
}

}  // namespace

ModelWeights locateWeights(const TensorStore& store, Naming naming, Architecture& architecture,
                           const BiasRules& biases) {
    if (naming == Naming::gguf) {
        architecture.tied = !store.has(ggufNames().head + ".weight");
        // A GGUF file does not say whether a model norms queries and keys if not all of the family do.
        if (findFamily(architecture.family)->config_rules.query_key_norms_flag != nullptr &&
            architecture.query_key_norm_weights && !store.has("blk.0." + ggufNames().query_norm + ".weight"))
            architecture.query_key_norms = QueryKeyNorms::none;
    }
    Locator locator(store, naming, architecture, biases);
    const TensorNames& names = locator.names();
    ModelWeights weights;
    untieIfDifferent(store, names, architecture, weights.notes);
    // Of two tied matrices, a file may store either.
    const bool only_head_stored =
        architecture.tied && !store.has(names.embedding + ".weight") && store.has(names.head + ".weight");
    weights.embedding = locator.table(only_head_stored ? names.head : names.embedding,
                                      architecture.vocabulary, architecture.width);
    architecture.vocabulary = weights.embedding.out;
    if (architecture.learned_positions)
        weights.positions = locator.table(names.positions, architecture.context, architecture.width);
    for (std::int64_t layer = 0; layer < architecture.layers; ++layer)
        weights.blocks.push_back(locateBlock(locator, architecture, layer));
    if (!architecture.post_norm) weights.final_norm = locator.norm(names.final_norm, architecture.width);
    locateHead(locator, store, architecture, weights);
    locator.requireNoUnknownTensors();
    weights.parameters = weights.parameters_per_token = locator.parameters();
    for (const BlockWeights& block : weights.blocks)
        if (block.mixture)
            weights.parameters_per_token -= (architecture.mixture.experts - architecture.mixture.per_token) *
                                            parametersOf(block.mixture->first);
    return weights;
}

FeedForwardWeights MixtureWeights::expert(std::int64_t number) const {
    FeedForwardWeights weights = first;
    const auto of = [&](LinearLocation& location) {
        location.weight.tensor = ofExpert(location.weight.tensor, number);
        if (location.weight.index) location.weight.index = number;
        if (location.bias) location.bias->index = number;
    };
    if (weights.gate) of(*weights.gate);
    if (weights.gate_up) of(*weights.gate_up);
    of(weights.up);
    of(weights.down);
    return weights;
}

std::vector<float> readMatrix(const TensorStore& store, const MatrixLocation& location) {
    const StoredTensor& tensor = store.tensor(location.tensor);
    const auto out = static_cast<std::size_t>(location.out), in = static_cast<std::size_t>(location.in);
    std::vector<float> matrix(out * in);
    const Rows all = location.rows.empty() ? Rows{{0, location.out}} : location.rows;
    const std::int64_t first =
        location.index.value_or(0) * (location.transposed ? location.in : location.out);
    if (!location.transposed) {
        std::size_t done = 0;
        for (const auto& stretch : all) {
            const std::size_t count = static_cast<std::size_t>(stretch.count) * in;
            store.readRows(tensor, first + stretch.first, stretch.count,
                           std::span(matrix).subspan(done, count));
            done += count;
        }
        return matrix;
    }
    const auto stored_out = static_cast<std::size_t>(tensor.shape.back());
    std::vector<float> row(stored_out);
    for (std::size_t j = 0; j < in; ++j) {
        store.readRows(tensor, first + static_cast<std::int64_t>(j), 1, row);
        std::size_t i = 0;
        for (const auto& stretch : all)
            for (std::int64_t k = 0; k < stretch.count; ++k)
                matrix[i++ * in + j] = row[static_cast<std::size_t>(stretch.first + k)];
    }
    return matrix;
}

std::vector<float> readVector(const TensorStore& store, const VectorLocation& location) {
    const StoredTensor& tensor = store.tensor(location.tensor);
    if (location.index) {
        std::vector<float> row(static_cast<std::size_t>(location.size));
        store.readRows(tensor, *location.index, 1, row);
        return row;
    }
    std::vector<float> all(static_cast<std::size_t>(tensor.count()));
    store.readRows(tensor, 0, tensor.shape.size() > 1 ? tensor.shape[0] : 1, all);
    if (location.parts.empty()) return all;
    std::vector<float> vector;
    for (const auto& stretch : location.parts)
        vector.insert(vector.end(), all.begin() + stretch.first, all.begin() + stretch.first + stretch.count);
    return vector;
}

}  // namespace roper
