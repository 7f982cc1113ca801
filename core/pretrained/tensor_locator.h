#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/pretrained/family.h"
#include "core/pretrained/model_weights.h"

namespace roper {

/// Finds the tensors of a model by name, checks their shapes, and records which were found. Names are without
/// ".weight" and ".bias", except in `hasTensor`, `tensor`, `vector`, `vectorOfHeads` and `number`. Every
/// function that finds a tensor throws Error (checkpoint) if it is missing or has another shape.
class TensorLocator {
  public:
    using Rows = std::vector<MatrixLocation::Rows>;

    /// `store` and `model` must outlive it.
    TensorLocator(const TensorStore& store, Naming naming, const Architecture& model,
                  const BiasRules& biases);
    TensorLocator(const TensorLocator&) = delete;
    TensorLocator& operator=(const TensorLocator&) = delete;

    const Architecture& model() const { return model_; }
    const Family& family() const { return family_; }
    const ModelNames& allNames() const { return all_names_; }
    const TensorNames& names() const { return names_; }
    const BiasRules& biases() const { return biases_; }
    bool isGguf() const { return is_gguf_; }
    /// The name `part` (from `TensorNames` and the like) with the prefix of a layer; "[]" in it stands for
    /// the number of an attention in a layer of the file (`SizeNames::attentions_of_layer`).
    std::string inLayer(std::int64_t layer, const std::string& part) const;
    bool hasTensor(const std::string& name) const { return store_.has(name); }
    bool has(const std::string& name) const { return store_.has(name + ".weight"); }

    /// A tensor whose shape the caller checks.
    const StoredTensor& tensor(const std::string& name);
    /// A tensor of this shape.
    const StoredTensor& tensor(const std::string& name, const std::vector<std::int64_t>& shape);
    /// A table of at least `rows` rows.
    MatrixLocation table(const std::string& name, std::int64_t rows, std::int64_t columns);
    /// @param parts  ranges of the vector that are used; empty: all
    VectorLocation vector(const std::string& name, std::int64_t size, const Rows& parts = {});
    /// A vector stored as a tensor [head_dim] for each head.
    /// @param name  with "{}" for the head
    VectorLocation vectorOfHeads(const std::string& name, std::int64_t heads);
    /// The value of a tensor with one element.
    double number(const std::string& name);
    NormLocation norm(const std::string& name, std::int64_t size);
    LinearLocation linear(const std::string& name, std::int64_t out, std::int64_t in, BiasRule bias);
    /// A linear layer [out, in] stored as these rows of a tensor with `all` rows; no rows: all.
    LinearLocation part(const std::string& name, std::int64_t out, std::int64_t in, std::int64_t all,
                        const Rows& rows, BiasRule rule, bool may_be_transposed = true);
    /// Part `which` of several linear layers that are fused into one tensor. The tensor's rows form equal
    /// groups, each with counts[0] rows of part 0, then counts[1] rows of part 1, and so on.
    LinearLocation fusedPart(const std::string& name, std::int64_t in, std::int64_t groups,
                             const std::vector<std::int64_t>& counts, std::size_t which, BiasRule rule);

    /// @throws Error (checkpoint) saying that a tensor's shape differs from the expected one
    [[noreturn]] void refuse(const std::string& name, const StoredTensor& tensor,
                             const std::string& expected) const;
    /// @throws Error (checkpoint) naming a tensor of the file that was not found by name here, and may change
    /// what the model computes
    void requireNoUnknownTensors() const;
    /// Number of parameters of the model.
    std::int64_t parameters() const;
    /// A note on the parts of a composite model that are left out; nullopt if none is.
    std::optional<std::string> otherPartsNote() const;

  private:
    void chooseNames();
    void nameNormsOfTwo();
    void nameLanguageModel();
    void replacePrefix(const std::string& from, const std::string& to);
    bool isOfOtherPart(const std::string& name) const;
    bool isExtraParameter(const std::string& name) const;
    bool scalesByFactors() const;
    bool isMtpTensor(const std::string& name) const;
    bool isOfIdentityExpert(const std::string& name) const;
    bool isOfSharedKeys(const std::string& name) const;
    bool hasNoEffect(const std::string& name) const;

    const TensorStore& store_;
    const Architecture& model_;
    BiasRules biases_;
    const Family& family_;
    ModelNames all_names_;
    TensorNames& names_ = all_names_.names;
    bool is_gguf_;
    /// Prefix of the names of a composite model's language model, except its head.
    std::string language_prefix_;
    std::set<std::string> used_;
};

}  // namespace roper
