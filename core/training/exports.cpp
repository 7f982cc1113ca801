#include "core/training/exports.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/model/generation.h"
#include "core/operators/tensor_data.h"
#include "core/operators/translate_errors.h"
#include "core/specification/cost.h"
#include "core/training/checkpoint.h"
#include "core/training/loaded_model.h"

namespace roper {
namespace {

/// Writes a row for each number of a tensor [A, B, C, D]: its four indices, and the number.
/// @param header  first line
/// @param first   names for the first index; empty: the index itself
/// @param causal  omit numbers whose last index exceeds the third
void writeCsv(const at::Tensor& numbers, const std::string& header, const std::vector<std::string>& first,
              bool causal, const std::filesystem::path& out) {
    std::string csv = header + "\n";
    const auto number = numbers.accessor<float, 4>();
    for (std::int64_t a = 0; a < number.size(0); ++a)
        for (std::int64_t b = 0; b < number.size(1); ++b)
            for (std::int64_t c = 0; c < number.size(2); ++c)
                for (std::int64_t d = 0; d < (causal ? c + 1 : number.size(3)); ++d)
                    csv += csvLine({first.empty() ? std::to_string(a) : first.at(static_cast<std::size_t>(a)),
                                    std::to_string(b), std::to_string(c), std::to_string(d),
                                    formatNumber(static_cast<double>(number[a][b][c][d]))});
    writeFileAtomically(out, csv);
}

/// A text encoded for a loaded model.
struct EncodedText {
    LoadedModel loaded;
    std::string run, text;
    at::Tensor tokens;  ///< [1, T], on the model's device
};

/// Encodes a text for a run's model and calls `make`, which writes the result.
template <class Make>
void exportForText(const RunFolder& folder, const ModelLoadOptions& options, const std::string& text,
                   const Make& make) {
    translateErrors([&] {
        const at::NoGradGuard no_gradients;
        if (text.empty()) throw Error(ErrorKind::usage, "this export needs a text: --text \"…\"");
        EncodedText encoded{loadModel(folder, options), folder.name(), text, {}};
        const at::Device device = encoded.loaded.model->parameters().front().second.device();
        encoded.tokens = encodePadded(encoded.loaded.task->vocabulary(), {text}).to(device);
        make(encoded);
    });
}

/// Writes a tensor computed from a text, together with the text's tokens.
void writeForText(const EncodedText& encoded, const std::string& name, const at::Tensor& made,
                  const std::filesystem::path& out) {
    writeSafetensors(out, TensorsToWrite({{name, made}, {"tokens", encoded.tokens.flatten()}}).views(),
                     {{"run", encoded.run},
                      {"step", std::to_string(encoded.loaded.step)},
                      {"text", encoded.text},
                      {"precision", encoded.loaded.model->computeType() == at::kBFloat16 ? "bf16" : "fp32"}});
}

}  // namespace

void exportAttention(const RunFolder& folder, const ModelLoadOptions& options, const std::string& text,
                     const std::filesystem::path& out) {
    exportForText(folder, options, text, [&](const EncodedText& encoded) {
        const at::Tensor attention =
            encoded.loaded.model->attentionWeights(encoded.tokens, Transformer::NumberMode::compute)
                .select(1, 0)
                .to(at::kCPU, at::kFloat)
                .contiguous();  // [L, H, T, T]
        if (out.extension() == ".csv")
            writeCsv(attention, "layer,head,query,key,weight", {}, encoded.loaded.model->causal(), out);
        else
            writeForText(encoded, "attention", attention, out);
    });
}

void exportNorms(const RunFolder& folder, const ModelLoadOptions& options, const std::string& text,
                 const std::filesystem::path& out) {
    exportForText(folder, options, text, [&](const EncodedText& encoded) {
        const at::Tensor norms =
            encoded.loaded.model->statistics(encoded.tokens, Transformer::NumberMode::compute)
                .norms.to(at::kCPU, at::kFloat)
                .contiguous();
        if (out.extension() == ".csv")
            writeCsv(norms, "vector,layer,head,pair,norm", {"q", "k", "v", "output"}, false, out);
        else
            writeForText(encoded, "norms", norms, out);
    });
}

void exportLogits(const RunFolder& folder, const ModelLoadOptions& options, const std::string& text,
                  const std::filesystem::path& out) {
    exportForText(folder, options, text, [&](const EncodedText& encoded) {
        writeForText(encoded, "logits", encoded.loaded.model->forward(encoded.tokens).squeeze(0), out);
    });
}

void exportWeights(const RunFolder& folder, const ModelLoadOptions& options,
                   const std::filesystem::path& out) {
    const StepFile checkpoint = chooseCheckpoint(folder, options.step);
    const SafetensorsFile file = readCheckpoint(checkpoint.path, costOf(folder.specification()).parameters);
    std::vector<TensorToWrite> weights;
    for (const auto& [name, tensor] : file.tensors()) {
        if (name.starts_with("optimizer.") || name.starts_with("random.")) continue;
        weights.push_back({name, tensor.dtype, tensor.shape, tensor.bytes});
    }
    std::map<std::string, std::string> metadata = file.metadata();
    metadata.erase("checksum");  // it also covers the omitted tensors
    writeSafetensors(out, weights, metadata);
}

}  // namespace roper
