#include "core/training/exports.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <array>

#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/model/generation.h"
#include "core/operators/translating_errors.h"
#include "core/specification/cost.h"
#include "core/training/checkpoint.h"
#include "core/training/loaded_model.h"
#include "core/training/tensor_bytes.h"

namespace roper {
namespace {

void writeAttentionCsv(const at::Tensor& attention, bool causal, const std::filesystem::path& out) {
    std::string csv = "layer,head,query,key,weight\n";
    const auto weights = attention.accessor<float, 4>();
    for (std::int64_t layer = 0; layer < weights.size(0); ++layer)
        for (std::int64_t head = 0; head < weights.size(1); ++head)
            for (std::int64_t query = 0; query < weights.size(2); ++query)
                for (std::int64_t key = 0; key < (causal ? query + 1 : weights.size(3)); ++key)
                    csv += join({std::to_string(layer), std::to_string(head), std::to_string(query),
                                 std::to_string(key),
                                 formatNumber(static_cast<double>(weights[layer][head][query][key]))},
                                ",") +
                           "\n";
    writeFileAtomically(out, csv);
}

void writeNormsCsv(const at::Tensor& norms, const std::filesystem::path& out) {
    constexpr std::array kVectors = {"q", "k", "v", "output"};
    std::string csv = "vector,layer,head,pair,norm\n";
    const auto values = norms.accessor<float, 4>();
    for (std::int64_t vector = 0; vector < values.size(0); ++vector)
        for (std::int64_t layer = 0; layer < values.size(1); ++layer)
            for (std::int64_t head = 0; head < values.size(2); ++head)
                for (std::int64_t pair = 0; pair < values.size(3); ++pair)
                    csv += join({kVectors.at(static_cast<std::size_t>(vector)), std::to_string(layer),
                                 std::to_string(head), std::to_string(pair),
                                 formatNumber(static_cast<double>(values[vector][layer][head][pair]))},
                                ",") +
                           "\n";
    writeFileAtomically(out, csv);
}

/// A text as a loaded model reads it.
struct ReadText {
    LoadedModel loaded;
    std::string run, text;
    at::Tensor tokens;  ///< [1, T], on the model's device
};

ReadText readText(const RunFolder& folder, const ReadingOptions& options, const std::string& text) {
    if (text.empty()) throw Error(ErrorKind::usage, "this export needs a text: --text \"…\"");
    ReadText read{loadModel(folder, options), folder.name(), text, {}};
    const at::Device device = read.loaded.model->parameters().front().second.device();
    read.tokens = encodePadded(read.loaded.task->vocabulary(), {text}).to(device);
    return read;
}

/// Writes what the model made of a text, beside the text's tokens. `made` is contiguous, on the CPU.
void writeForText(const ReadText& read, const std::string& name, const at::Tensor& made,
                  const std::filesystem::path& out) {
    const at::Tensor tokens = read.tokens.flatten().cpu().contiguous();
    writeSafetensors(out, {tensorToWrite(name, made), tensorToWrite("tokens", tokens)},
                     {{"run", read.run},
                      {"step", std::to_string(read.loaded.step)},
                      {"text", read.text},
                      {"precision", read.loaded.model->computeType() == at::kBFloat16 ? "bf16" : "fp32"}});
}

}  // namespace

void exportAttention(const RunFolder& folder, const ReadingOptions& options, const std::string& text,
                     const std::filesystem::path& out) {
    translatingErrors([&] {
        const at::NoGradGuard no_gradients;
        const ReadText read = readText(folder, options, text);
        const at::Tensor attention =
            read.loaded.model->attentionWeights(read.tokens, Transformer::Numbers::compute)
                .select(1, 0)
                .to(at::kCPU, at::kFloat)
                .contiguous();  // [L, H, T, T]
        if (out.extension() == ".csv")
            writeAttentionCsv(attention, read.loaded.model->causal(), out);
        else
            writeForText(read, "attention", attention, out);
    });
}

void exportNorms(const RunFolder& folder, const ReadingOptions& options, const std::string& text,
                 const std::filesystem::path& out) {
    translatingErrors([&] {
        const at::NoGradGuard no_gradients;
        const ReadText read = readText(folder, options, text);
        const at::Tensor norms = read.loaded.model->inside(read.tokens, Transformer::Numbers::compute)
                                     .norms.to(at::kCPU, at::kFloat)
                                     .contiguous();
        if (out.extension() == ".csv")
            writeNormsCsv(norms, out);
        else
            writeForText(read, "norms", norms, out);
    });
}

void exportLogits(const RunFolder& folder, const ReadingOptions& options, const std::string& text,
                  const std::filesystem::path& out) {
    translatingErrors([&] {
        const at::NoGradGuard no_gradients;
        const ReadText read = readText(folder, options, text);
        writeForText(read, "logits", read.loaded.model->forward(read.tokens).squeeze(0).cpu().contiguous(),
                     out);
    });
}

void exportWeights(const RunFolder& folder, const ReadingOptions& options, const std::filesystem::path& out) {
    const StepFile checkpoint = chooseCheckpoint(folder, options.step);
    const SafetensorsFile file = readCheckpoint(checkpoint.path, costOf(folder.specification()).parameters);
    std::vector<TensorToWrite> weights;
    for (const auto& [name, tensor] : file.tensors()) {
        if (name.starts_with("optimizer.") || name.starts_with("random.")) continue;
        weights.push_back({name, tensor.dtype, tensor.shape, tensor.bytes});
    }
    std::map<std::string, std::string> metadata = file.metadata();
    metadata.erase("checksum");  // of what is left out, too
    writeSafetensors(out, weights, metadata);
}

}  // namespace roper
