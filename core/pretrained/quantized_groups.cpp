#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/pretrained/quantized_tensors.h"

// Matrices of integers of 2 to 8 bits. Each group of numbers of a row has a scale, and a zero point or a
// bias.

namespace roper {
namespace {

using Words = std::vector<std::uint32_t>;

/// Number `i` of a bit stream, lowest bits first; words are `stride` apart.
template <std::int64_t bits>
int packedNumber(const std::uint32_t* words, std::int64_t stride, std::int64_t i) {
    const std::int64_t bit = i * bits, word = bit / 32, shift = bit % 32;
    std::uint32_t number = words[word * stride] >> shift;
    if constexpr (32 % bits != 0)
        if (shift + bits > 32) number |= words[(word + 1) * stride] << (32 - shift);
    return static_cast<int>(number & ((1U << bits) - 1U));
}

/// Numbers `first` to `first + count` of such a stream. A separate loop for each number of bits, since
/// constant shifts are several times faster.
template <std::int64_t bits>
void unpackStream(const std::uint32_t* words, std::int64_t stride, std::int64_t first, std::int64_t count,
                  int* out) {
    for (std::int64_t i = 0; i < count; ++i)
        out[i] = packedNumber<bits>(words, stride, first + i);
}
using Unpack = void (*)(const std::uint32_t*, std::int64_t, std::int64_t, std::int64_t, int*);
Unpack unpackOf(std::int64_t bits) {
    constexpr std::array<Unpack, 9> kUnpack = {nullptr,         nullptr,         unpackStream<2>,
                                               unpackStream<3>, unpackStream<4>, unpackStream<5>,
                                               unpackStream<6>, nullptr,         unpackStream<8>};
    return kUnpack[static_cast<std::size_t>(bits)];
}

/// Rows of a tensor of 32-bit words.
Words wordsOf(const TensorStore& store, const StoredTensor& tensor, std::int64_t first, std::int64_t rows) {
    const std::vector<std::byte> bytes = store.readRowBytes(tensor, first, rows);
    Words words(bytes.size() / sizeof(std::uint32_t));
    if (!words.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
    return words;
}

/// MLX: rows of numbers, number · scale + bias.
class MlxMatrix : public QuantizedMatrix {
  public:
    MlxMatrix(StoredTensor numbers, StoredTensor scales, StoredTensor biases, std::int64_t bits,
              std::int64_t group)
        : numbers_(std::move(numbers)),
          scales_(std::move(scales)),
          biases_(std::move(biases)),
          unpack_(unpackOf(bits)),
          group_(group) {}

    void decodeRows(const TensorStore& store, std::int64_t first, std::int64_t rows,
                    std::span<float> out) const override {
        const std::int64_t groups = scales_.shape.back(), words = numbers_.shape.back();
        const Words numbers = wordsOf(store, numbers_, first, rows);
        std::vector<float> scales(static_cast<std::size_t>(rows * groups)), biases(scales.size());
        store.readRows(scales_, first, rows, scales);
        store.readRows(biases_, first, rows, biases);
        std::vector<int> group(static_cast<std::size_t>(group_));
        float* to = out.data();
        for (std::int64_t row = 0; row < rows; ++row)
            for (std::int64_t g = 0; g < groups; ++g) {
                unpack_(numbers.data() + row * words, 1, g * group_, group_, group.data());
                const auto at = static_cast<std::size_t>(row * groups + g);
                const float scale = scales[at], bias = biases[at];
                for (const int number : group)
                    *to++ = static_cast<float>(number) * scale + bias;
            }
    }

  private:
    StoredTensor numbers_, scales_, biases_;
    Unpack unpack_;
    std::int64_t group_;
};

/// How GPTQ and AWQ pack their numbers.
enum class Packing {
    along_inputs,   ///< GPTQ: [in · bits / 32, out], a stream for each output
    along_outputs,  ///< AWQ: [in, out / 8] of four bits, in the order of `kAwqPositions`
};

/// Position of each output's number among the eight numbers in a word of AWQ.
constexpr std::array<std::int64_t, 8> kAwqPositions = {0, 4, 1, 5, 2, 6, 3, 7};

int awqNumber(const std::uint32_t* words, std::int64_t o) {
    return packedNumber<4>(words + o / 8, 1, kAwqPositions[static_cast<std::size_t>(o % 8)]);
}

/// GPTQ and AWQ, which store matrices transposed: (number − zero) · scale, where zeros and scales are
/// [groups, out].
class TransposedMatrix : public QuantizedMatrix {
  public:
    struct Parts {
        StoredTensor numbers, zeros, scales;
    };
    TransposedMatrix(Parts parts, Packing packing, std::int64_t bits, bool zeros_are_less_one,
                     std::vector<std::int64_t> group_of_input)
        : parts_(std::move(parts)),
          packing_(packing),
          bits_(bits),
          zeros_are_less_one_(zeros_are_less_one),
          out_(parts_.scales.shape[1]),
          group_of_(std::move(group_of_input)) {}

    void decodeRows(const TensorStore& store, std::int64_t first, std::int64_t rows,
                    std::span<float> out) const override {
        const std::int64_t groups = parts_.scales.shape[0], in = static_cast<std::int64_t>(group_of_.size());
        std::vector<float> scales(static_cast<std::size_t>(groups * out_));
        store.readRows(parts_.scales, 0, groups, scales);
        Words zeros = wordsOf(store, parts_.zeros, 0, groups);
        if (zeros_are_less_one_) addOneToEach(zeros);
        const std::int64_t zero_words = parts_.zeros.shape[1];
        std::vector<int> zero(static_cast<std::size_t>(groups)), numbers(kInputs);
        for (std::int64_t begin = 0; begin < in; begin += kInputs) {
            const std::int64_t end = std::min(in, begin + kInputs);
            const Words words = wordsOf(store, parts_.numbers, wordRow(begin), wordRow(end) - wordRow(begin));
            for (std::int64_t o = first; o < first + rows; ++o) {
                for (std::int64_t g = 0; g < groups; ++g)
                    zero[static_cast<std::size_t>(g)] = zeroAt(zeros.data() + g * zero_words, o);
                readInputs(words, end - begin, o, numbers.data());
                float* const row = out.data() + (o - first) * in;
                for (std::int64_t i = begin; i < end; ++i) {
                    const std::int64_t group = group_of_[static_cast<std::size_t>(i)];
                    row[i] = static_cast<float>(numbers[static_cast<std::size_t>(i - begin)] -
                                                zero[static_cast<std::size_t>(group)]) *
                             scales[static_cast<std::size_t>(group * out_ + o)];
                }
            }
        }
    }

  private:
    /// Inputs read at once: their numbers fill whole words in every packing.
    static constexpr std::int64_t kInputs = 256;

    std::int64_t wordRow(std::int64_t input) const {
        return packing_ == Packing::along_inputs ? input * bits_ / 32 : input;
    }
    int zeroAt(const std::uint32_t* zeros, std::int64_t o) const {
        int zero = 0;
        if (packing_ == Packing::along_outputs)
            zero = awqNumber(zeros, o);
        else
            unpackOf(bits_)(zeros, 1, o, 1, &zero);
        constexpr int kThreeBits = 7;
        return zeros_are_less_one_ && bits_ == 3 ? (zero + 1) & kThreeBits : zero;
    }
    /// As in gptqmodel's convert_gptq_v1_to_v2_format_module: one is added to all fields of a word at once,
    /// so that the largest number becomes zero and carries into the next field. Fields of three bits lie
    /// across words, and nothing is carried.
    void addOneToEach(Words& words) const {
        if (bits_ == 3) return;
        std::uint32_t ones = 0;
        for (std::int64_t bit = 0; bit < 32; bit += bits_)
            ones |= 1U << static_cast<unsigned>(bit);
        for (std::uint32_t& word : words)
            word += ones;
    }
    /// The first `count` inputs of an output.
    void readInputs(const Words& words, std::int64_t count, std::int64_t o, int* out) const {
        if (packing_ == Packing::along_inputs) return unpackOf(bits_)(words.data() + o, out_, 0, count, out);
        for (std::int64_t i = 0; i < count; ++i)
            out[i] = awqNumber(words.data() + i * (out_ / 8), o);
    }

    Parts parts_;
    Packing packing_;
    std::int64_t bits_;
    bool zeros_are_less_one_;
    std::int64_t out_;
    std::vector<std::int64_t> group_of_;
};

/// An integer of the config. @throws Error (usage) if it is missing or not one of the allowed values
std::int64_t wholeOf(const nlohmann::json& members, const std::string& key,
                     const std::vector<std::int64_t>& values) {
    const auto found = members.find(key);
    if (found != members.end() && found->is_number_integer())
        for (const std::int64_t value : values)
            if (*found == value) return value;
    const auto texts = mapped(values, [](std::int64_t value) { return std::to_string(value); });
    throw Error(ErrorKind::usage, key + " is " +
                                      (found == members.end() ? "missing" : quoteExcerpt(found->dump())) +
                                      "; expected one of " + join(texts, ", "));
}

const std::vector<std::int64_t> kGroupSizes = {-1, 16, 32, 64, 128, 256, 512, 1024};

/// Numbers, zeros and scales of a GPTQ or AWQ matrix, with checked shapes; `in` is set to its columns.
TransposedMatrix::Parts takeTransposed(const std::string& name, TensorStore& store, Packing packing,
                                       std::int64_t bits, std::int64_t group_size, std::int64_t& in) {
    TransposedMatrix::Parts parts{takePart(store, name + ".qweight"), takePart(store, name + ".qzeros"),
                                  takePart(store, name + ".scales")};
    requireType(store, name + ".qweight", parts.numbers, {ElementType::I32});
    requireType(store, name + ".qzeros", parts.zeros, {ElementType::I32});
    requireType(store, name + ".scales", parts.scales, kScaleTypes);
    for (const auto& [suffix, part] :
         {std::pair(".qweight", &parts.numbers), {".qzeros", &parts.zeros}, {".scales", &parts.scales}})
        if (part->shape.size() != 2)
            store.refuse(name + suffix, *part, "is " + part->shapeText() + "; a matrix is expected");
    const std::int64_t out = parts.scales.shape[1], words = parts.numbers.shape[0];
    in = packing == Packing::along_inputs ? words * 32 / bits : words;
    const std::int64_t group = group_size == -1 ? in : group_size;
    if (out * bits % 32 != 0 || words * 32 % bits != 0)
        store.refuse(name + ".qweight", parts.numbers, "does not fill whole 32-bit words");
    const std::int64_t groups = blocksIn(in, group);
    requireShape(store, name + ".qweight", parts.numbers,
                 packing == Packing::along_inputs ? std::vector<std::int64_t>{words, out}
                                                  : std::vector<std::int64_t>{in, out * bits / 32});
    requireShape(store, name + ".scales", parts.scales, {groups, out});
    requireShape(store, name + ".qzeros", parts.zeros, {groups, out * bits / 32});
    return parts;
}

void addTransposed(const std::string& name, TensorStore& store, const TransposedMatrix::Parts& parts,
                   Packing packing, std::int64_t bits, bool zeros_are_less_one,
                   std::vector<std::int64_t> group_of) {
    const std::int64_t in = std::ssize(group_of);
    store.addQuantized(
        name + ".weight", {parts.scales.shape[1], in}, parts.numbers.file,
        std::make_shared<TransposedMatrix>(parts, packing, bits, zeros_are_less_one, std::move(group_of)));
}

std::vector<std::int64_t> groupsInOrder(std::int64_t in, std::int64_t group_size) {
    std::vector<std::int64_t> group_of(static_cast<std::size_t>(in));
    for (std::int64_t i = 0; i < in; ++i)
        group_of[static_cast<std::size_t>(i)] = group_size == -1 ? 0 : i / group_size;
    return group_of;
}

/// The stored group of each input, which is not in order if columns were sorted by importance.
std::vector<std::int64_t> groupsAsStored(const std::string& name, const TensorStore& store,
                                         const StoredTensor& stored, std::int64_t in, std::int64_t groups) {
    requireShape(store, name, stored, {in});
    if (stored.type != ElementType::I32) store.refuse(name, stored, "is not of I32");
    std::vector<std::int64_t> group_of;
    for (const std::uint32_t group : wordsOf(store, stored, 0, 1)) {
        if (group >= static_cast<std::uint64_t>(groups))
            store.refuse(name, stored, "names a group beyond the last");
        group_of.push_back(group);
    }
    return group_of;
}

/// Group size and bits of one matrix: the config may override them under its name.
const nlohmann::json& membersOf(const nlohmann::json& members, const std::string& name) {
    const auto found = members.find(name);
    return found != members.end() && found->is_object() ? *found : members;
}

}  // namespace

void combineGptq(const nlohmann::json& members, TensorStore& store) {
    requireOneOf(members, "checkpoint_format", {"gptq", "gptq_v2"});
    requireOneOf(members, "format", {"gptq", "gptq_v2"});
    requireOneOf(members, "pack_dtype", {"int32"});
    requireOneOf(members, "dynamic", {nlohmann::json::object()});
    const std::int64_t bits = wholeOf(members, "bits", {2, 3, 4, 8}),
                       group_size = wholeOf(members, "group_size", kGroupSizes);
    // GPTQ's first format stores zeros minus one. As in transformers 5.24, checkpoint_format replaces format.
    const nlohmann::json none, checkpoint_format = members.value("checkpoint_format", none);
    const nlohmann::json format =
        checkpoint_format.is_null() ? members.value("format", none) : checkpoint_format;
    const bool zeros_are_less_one = format != "gptq_v2";
    for (const std::string& name : store.namesWithoutSuffix(".qweight")) {
        std::int64_t in = 0;
        const auto taken = takeTransposed(name, store, Packing::along_inputs, bits, group_size, in);
        const auto order = store.extract(name + ".g_idx");
        if (!order && taken.scales.shape[0] > 1 && members.value("desc_act", nlohmann::json()) == true)
            store.refuse(name + ".qweight", taken.numbers,
                         "has no g_idx, although desc_act says that columns are sorted by importance");
        auto group_of = order ? groupsAsStored(name + ".g_idx", store, *order, in, taken.scales.shape[0])
                              : groupsInOrder(in, group_size);
        addTransposed(name, store, taken, Packing::along_inputs, bits, zeros_are_less_one,
                      std::move(group_of));
    }
}

void combineAwq(const nlohmann::json& members, TensorStore& store) {
    requireOneOf(members, "version", {"gemm", "GEMM"});
    requireOneOf(members, "format", {"gemm", "GEMM"});
    requireOneOf(members, "checkpoint_format", {"gemm", "GEMM"});
    if (members.value("backend", nlohmann::json()) == "llm-awq")  // another packing
        requireOneOf(members, "backend", {"auto"});
    requireOneOf(members, "zero_point", {true});
    const std::int64_t bits = wholeOf(members, "bits", {4}),
                       group_size = wholeOf(members, "group_size", kGroupSizes);
    for (const std::string& name : store.namesWithoutSuffix(".qweight")) {
        std::int64_t in = 0;
        const auto taken = takeTransposed(name, store, Packing::along_outputs, bits, group_size, in);
        addTransposed(name, store, taken, Packing::along_outputs, bits, /*zeros_are_less_one=*/false,
                      groupsInOrder(in, group_size));
    }
}

void combineMlx(const nlohmann::json& members, TensorStore& store) {
    for (const std::string& name : store.namesWithoutSuffix(".scales")) {
        const nlohmann::json& of_matrix = membersOf(members, name);
        if (name.find(".switch_mlp.") != std::string::npos)
            store.refuse(name + ".scales", takePart(store, name + ".scales"),
                         "belongs to experts stacked by mlx-lm (switch_mlp), which are not supported");
        requireOneOf(of_matrix, "mode", {"affine"});
        const std::int64_t bits = wholeOf(of_matrix, "bits", {2, 3, 4, 5, 6, 8}),
                           group = wholeOf(of_matrix, "group_size", {16, 32, 64, 128});
        const StoredTensor numbers = takePart(store, name + ".weight"),
                           scales = takePart(store, name + ".scales"),
                           biases = takePart(store, name + ".biases");
        requireType(store, name + ".scales", scales, kScaleTypes);
        requireType(store, name + ".biases", biases, kScaleTypes);
        if (numbers.type != ElementType::U32 || numbers.shape.empty() || scales.shape.empty())
            store.refuse(name + ".weight", numbers, "is not a U32 matrix");
        std::vector<std::int64_t> shape = numbers.shape, grid = numbers.shape;
        shape.back() = scales.shape.back() * group;
        grid.back() = scales.shape.back();
        requireShape(store, name + ".scales", scales, grid);
        requireShape(store, name + ".biases", biases, grid);
        if (numbers.shape.back() * 32 != shape.back() * bits)
            store.refuse(name + ".weight", numbers,
                         "does not contain " + std::to_string(shape.back()) + " numbers of " +
                             std::to_string(bits) + " bits in a row");
        store.addQuantized(name + ".weight", std::move(shape), numbers.file,
                           std::make_shared<MlxMatrix>(numbers, scales, biases, bits, group));
    }
}

}  // namespace roper
