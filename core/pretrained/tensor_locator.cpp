#include "core/pretrained/tensor_locator.h"

#include <algorithm>
#include <numeric>

#include "core/base/text.h"
#include "core/pretrained/gguf_rotation.h"

namespace roper {
namespace {

/// Endings of the names of tables that programs compute themselves; files of any family may contain them.
const std::vector<std::string> kMadeByPrograms = {"rotary_emb.inv_freq", ".position_ids"};

/// Prefixes of the names of a composite model's language model; versions of transformers differ.
constexpr const char* kLanguagePrefixes[] = {"model.language_model.", "language_model.model.",
                                             "model.text_model.", "language_model.", "text_model."};

template <class Is>
bool anyOf(const std::vector<std::string>& names, Is is) {
    return std::any_of(names.begin(), names.end(), is);
}

}  // namespace

TensorLocator::TensorLocator(const TensorStore& store, Naming naming, const Architecture& model,
                             const BiasRules& biases)
    : store_(store),
      model_(model),
      biases_(biases),
      family_(*findFamily(model.family)),
      all_names_(naming == Naming::gguf ? ggufNames() : family_),
      is_gguf_(naming == Naming::gguf) {
    if (is_gguf_ && family_.gguf_rules.gate_and_up_fused) names_.gate_up = names_.up;
    if (is_gguf_) {
        const GgufRules& rules = family_.gguf_rules;
        if (rules.attention_norm != nullptr) names_.attention_norm = rules.attention_norm;
        if (rules.feed_forward_norm != nullptr) names_.feed_forward_norm = rules.feed_forward_norm;
        if (rules.final_norm != nullptr) names_.final_norm = rules.final_norm;
    }
    if (!is_gguf_) chooseNames();
    nameNormsOfTwo();
    const std::string alternative_head = family_.alternative_head;
    if (!is_gguf_ && !alternative_head.empty() && store.has(alternative_head + ".weight"))
        names_.head = alternative_head;
    if (!is_gguf_) nameLanguageModel();
}

void TensorLocator::chooseNames() {
    for (const TensorNames& names : family_.other_names)
        if (has(names.embedding) && has(withNumber(names.layer, 0) + names.key)) {
            names_ = names;
            return;
        }
}

/// Parallel blocks with two norms have other names for them in some families.
void TensorLocator::nameNormsOfTwo() {
    if (!model_.parallel || model_.shares_norm) return;
    const GgufRules& rules = family_.gguf_rules;
    if (is_gguf_ && rules.attention_norm_of_two != nullptr) {
        names_.attention_norm = rules.attention_norm_of_two;
        names_.feed_forward_norm = rules.feed_forward_norm_of_two;
    } else if (!names_.attention_norm_of_two.empty()) {
        names_.attention_norm = names_.attention_norm_of_two;
        names_.feed_forward_norm = names_.feed_forward_norm_of_two;
    }
}

/// Adapts prefixes: names of models saved without a head, and of the language model of a composite model,
/// have others.
void TensorLocator::nameLanguageModel() {
    const std::size_t dot = names_.layer.find('.');
    if (dot == std::string::npos) return;
    const std::string usual = names_.layer.substr(0, dot + 1);
    const std::string blocks = names_.layer.substr(dot + 1, names_.layer.find("{}") - dot - 1);
    const auto has = [&](const std::string& prefix) {
        const auto first = store_.tensors().lower_bound(prefix);
        return first != store_.tensors().end() && first->first.starts_with(prefix);
    };
    if (model_.composite.empty()) {
        if (!has(usual)) replacePrefix(usual, "");
        return;
    }
    language_prefix_ = usual;
    for (const char* const prefix : kLanguagePrefixes)
        if (has(prefix + blocks)) {
            language_prefix_ = prefix;
            replacePrefix(usual, prefix);
            break;
        }
    if (const std::string nested = "language_model." + names_.head; store_.has(nested + ".weight"))
        names_.head = nested;
}

/// Replaces the prefix of names outside layers, and of `TensorNames::layer`.
void TensorLocator::replacePrefix(const std::string& from, const std::string& to) {
    EncoderNames& encoder = all_names_.encoder_names;
    GemmaNames& gemma = all_names_.gemma_names;
    for (std::string* const name :
         {&names_.embedding, &names_.embedding_norm, &names_.embedding_in, &names_.embedding_out,
          &names_.positions, &names_.final_norm, &names_.layer, &names_.streams_sum, &encoder.token_types,
          &encoder.sinusoids, &gemma.layer_table, &gemma.layer_projection, &gemma.layer_projection_norm,
          &gemma.streams_in, &gemma.streams_out})
        if (name->starts_with(from)) name->replace(0, from.size(), to);
}

/// Whether a tensor belongs to a composite model, but not to its language model.
bool TensorLocator::isOfOtherPart(const std::string& name) const {
    return !language_prefix_.empty() && !name.starts_with(language_prefix_) &&
           name != names_.head + ".weight";
}

std::optional<std::string> TensorLocator::otherPartsNote() const {
    std::size_t tensors = 0;
    double bytes = 0;
    for (const auto& [name, tensor] : store_.tensors()) {
        if (!isOfOtherPart(name)) continue;
        ++tensors;
        bytes += static_cast<double>(tensor.bytes());
    }
    if (tensors == 0) return std::nullopt;
    return "this is the language model of a " + model_.composite + "; its other parts (" +
           countOf(tensors, "tensor") + ", " + formatBytes(bytes) +
           "), which read images or sounds, are left out";
}

std::string TensorLocator::inLayer(std::int64_t layer, const std::string& part) const {
    std::string prefix = names_.layer, name = part;
    const std::int64_t attentions = is_gguf_ ? 1 : family_.config_rules.sizes.attentions_of_layer;
    prefix.replace(prefix.find("{}"), 2, std::to_string(layer / attentions));
    if (const std::size_t at = name.find("[]"); at != std::string::npos)
        name.replace(at, 2, std::to_string(layer % attentions));
    return prefix + name;
}

const StoredTensor& TensorLocator::tensor(const std::string& name) {
    used_.insert(name);
    return store_.tensor(name);
}

const StoredTensor& TensorLocator::tensor(const std::string& name, const std::vector<std::int64_t>& shape) {
    const StoredTensor& found = tensor(name);
    if (found.shape != shape) refuse(name, found, StoredTensor{found.type, shape}.shapeText());
    return found;
}

MatrixLocation TensorLocator::table(const std::string& name, std::int64_t rows, std::int64_t columns) {
    const StoredTensor& found = tensor(name + ".weight");
    if (found.shape.size() != 2 || found.shape[0] < rows || found.shape[1] != columns)
        refuse(name + ".weight", found, std::to_string(rows) + " × " + std::to_string(columns));
    return {name + ".weight", false, found.shape[0], columns};
}

VectorLocation TensorLocator::vector(const std::string& name, std::int64_t size, const Rows& parts) {
    const StoredTensor& found = tensor(name);
    const bool is_by_head = model_.query_key_norms == QueryKeyNorms::per_head && found.shape.size() == 2 &&
                            found.shape[1] == model_.head_dim;
    const bool is_row = found.shape.size() == 2 && found.shape[0] == 1;
    if (found.count() != size || (found.shape.size() != 1 && !is_by_head && !is_row))
        refuse(name, found, std::to_string(size));
    std::int64_t count = parts.empty() ? size : 0;
    for (const auto& range : parts)
        count += range.count;
    return {name, count, parts};
}

VectorLocation TensorLocator::vectorOfHeads(const std::string& name, std::int64_t heads) {
    for (std::int64_t head = 0; head < heads; ++head)
        vector(withNumber(name, head), model_.head_dim);
    return {name, heads * model_.head_dim, {}, {}, heads};
}

double TensorLocator::number(const std::string& name) {
    const StoredTensor& found = tensor(name);
    if (found.count() != 1) refuse(name, found, "1");
    return store_.readAll(found).front();
}

NormLocation TensorLocator::norm(const std::string& name, std::int64_t size) {
    // BERT's first files, and files of some of its descendants written by transformers 5, use these names.
    const bool is_old = store_.has(name + ".gamma");
    NormLocation location;
    if (model_.norm_weights) location.weight = vector(name + (is_old ? ".gamma" : ".weight"), size);
    if (model_.norm == NormKind::layer && model_.norm_biases)
        location.bias = vector(name + (is_old ? ".beta" : ".bias"), size);
    return location;
}

LinearLocation TensorLocator::linear(const std::string& name, std::int64_t out, std::int64_t in,
                                     BiasRule bias) {
    return part(name, out, in, out, {}, bias);
}

LinearLocation TensorLocator::part(const std::string& name, std::int64_t out, std::int64_t in,
                                   std::int64_t all, const Rows& rows, BiasRule rule,
                                   bool may_be_transposed) {
    const std::string weight = name + ".weight", bias = name + ".bias";
    const StoredTensor& found = tensor(weight);
    const bool transposed = may_be_transposed && !is_gguf_ && family_.transposed;
    const std::vector<std::int64_t> expected =
        transposed ? std::vector<std::int64_t>{in, all} : std::vector<std::int64_t>{all, in};
    if (transposed && found.quantized != nullptr)  // quantizers transpose such a matrix first
        store_.refuse(weight, found,
                      "is quantized, which is not supported in models of the family " + model_.family);
    if (found.shape != expected)
        refuse(weight, found, std::to_string(expected[0]) + " × " + std::to_string(expected[1]));
    LinearLocation location{{weight, transposed, out, in, rows}, {}};
    if (rule == BiasRule::never && store_.has(bias))
        store_.refuse(bias, store_.tensor(bias),
                      "is a bias, and this model of the family " + model_.family + " has none there");
    if (rule == BiasRule::always || store_.has(bias)) location.bias = vector(bias, all, rows);
    return location;
}

LinearLocation TensorLocator::fusedPart(const std::string& name, std::int64_t in, std::int64_t groups,
                                        const std::vector<std::int64_t>& counts, std::size_t which,
                                        BiasRule rule) {
    const auto here = counts.begin() + static_cast<std::ptrdiff_t>(which);
    const std::int64_t before = std::accumulate(counts.begin(), here, std::int64_t{0}),
                       group_rows = std::accumulate(here, counts.end(), before);
    Rows rows;
    for (std::int64_t group = 0; group < groups; ++group)
        rows.push_back({group * group_rows + before, *here});
    return part(name, groups * *here, in, groups * group_rows, rows, rule);
}

void TensorLocator::refuse(const std::string& name, const StoredTensor& tensor,
                           const std::string& expected) const {
    store_.refuse(name, tensor, "is " + tensor.shapeText() + "; a model of these sizes has " + expected);
}

void TensorLocator::requireNoUnknownTensors() const {
    const auto why = [&](const std::string& name) {
        std::string text = "has no place in a model of the family " + model_.family;
        if (isGguf() && name.ends_with(ggufNames().mixture_names.front().choice_bias))
            text +=
                ": only routers that compute sigmoids have such a bias, but the entry expert_gating_func is "
                "not 2; llama.cpp's converter omits it if config.json has no scoring_func";
        return text;
    };
    for (const auto& [name, tensor] : store_.tensors())
        // transformers saves shared experts of width 0.
        if (used_.count(name) == 0 && !hasNoEffect(name) && tensor.count() > 0)
            store_.refuse(name, tensor, why(name));
    for (const auto& [name, tensor] : store_.unsupportedTensors())
        if (!family_.trained_here && !hasNoEffect(name)) store_.refuseUnsupported(name);
}

std::int64_t TensorLocator::parameters() const {
    std::int64_t all = 0;
    for (const auto& [name, tensor] : store_.tensors())
        if (!holdsWholeNumbers(tensor.type) && (used_.count(name) > 0 || isExtraParameter(name)))
            all += tensor.count();
    return all;
}

/// Whether a position method trained here adds this parameter; it has already been read.
bool TensorLocator::isExtraParameter(const std::string& name) const {
    return family_.trained_here && !name.starts_with("optimizer.") &&
           (name == "relative_bias.weight" || name.ends_with("_frequencies"));
}

/// Whether LongRoPE's factors have been read.
bool TensorLocator::scalesByFactors() const {
    return std::any_of(model_.rotations.begin(), model_.rotations.end(), [](const RotaryConfig& rotation) {
        return rotation.scaling.method == ScalingMethod::longrope;
    });
}

/// Whether a tensor belongs to multi-token prediction.
bool TensorLocator::isMtpTensor(const std::string& name) const {
    if (anyOf(family_.mtp_name_parts,
              [&](const std::string& part) { return name.find(part) != std::string::npos; }))
        return true;
    const std::string before = names_.layer.substr(0, names_.layer.find("{}"));
    if (!family_.has_mtp_layers || !name.starts_with(before)) return false;
    const auto layer = parseNumber(name.substr(before.size(), name.find('.', before.size()) - before.size()));
    return layer && *layer >= static_cast<double>(model_.layers);
}

/// Whether a tensor makes keys or values in a layer that uses those of an earlier one.
bool TensorLocator::isOfSharedKeys(const std::string& name) const {
    for (std::int64_t layer = 0; layer < std::ssize(model_.key_value_source); ++layer)
        if (model_.sharesKeysAndValues(layer))
            for (const std::string* const part : {&names_.key, &names_.value, &names_.key_norm})
                if (name.starts_with(inLayer(layer, *part) + ".")) return true;
    return false;
}

/// Whether a tensor belongs to an expert that is an identity.
bool TensorLocator::isOfIdentityExpert(const std::string& name) const {
    for (const MixtureNames& names : family_.mixture_names)
        for (std::int64_t expert = model_.mixture.experts; expert < model_.mixture.choices(); ++expert)
            for (const std::string* const part : {&names.gate, &names.up, &names.down})
                if (name.ends_with("." + withNumber(*part, expert) + ".weight")) return true;
    return false;
}

bool TensorLocator::hasNoEffect(const std::string& name) const {
    if (isOfOtherPart(name) || isMtpTensor(name) || isOfSharedKeys(name) || isOfIdentityExpert(name))
        return true;
    if (anyOf(family_.other_output_name_parts,
              [&](const std::string& part) { return name.find(part) != std::string::npos; }))
        return true;
    if (isExtraParameter(name) || (family_.trained_here && name.starts_with("optimizer."))) return true;
    if (is_gguf_)
        return name == kFrequencyFactors ||
               (scalesByFactors() && (name == kShortFactors || name == kLongFactors)) ||
               anyOf(family_.gguf_rules.unread_tensor_prefixes,
                     [&](const std::string& part) { return name.starts_with(part); });
    const auto endsName = [&](const std::string& end) { return name.ends_with(end); };
    return anyOf(kMadeByPrograms, endsName) || anyOf(family_.recomputed_suffixes, endsName) ||
           (model_.tied && name == names_.head + ".weight") ||
           (!all_names_.encoder_names.head_bias.empty() &&
            name == (model_.tied ? names_.head + ".bias" : all_names_.encoder_names.head_bias));
}

}  // namespace roper
