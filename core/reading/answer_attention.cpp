#include <ATen/ATen.h>

#include "core/base/console.h"
#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/safetensors.h"
#include "core/base/text.h"
#include "core/control/messages.h"
#include "core/operators/tensor_bytes.h"
#include "core/reading/answers.h"

namespace roper {
namespace {

/// Weights of one head [T, T], without storing those of others.
at::Tensor attentionOf(const Asked& asked) {
    const Asked::Head head = asked.oneHead();
    const auto T = static_cast<std::int64_t>(asked.ids.size());
    const at::Tensor all = at::zeros({T, T});
    PassRecorder recorder;
    recorder.attention = [&](std::int64_t layer, std::int64_t first, const at::Tensor& weights) {
        if (layer == head.layer)
            all.narrow(0, first, weights.size(1))
                .narrow(1, 0, weights.size(2))
                .copy_(weights.select(0, head.head));
    };
    asked.reader.hidden(asked.ids, asked.change, recorder);
    return all;
}

std::string sentAttention(const Asked& asked) {
    constexpr std::int64_t kLongest = 4500;  // limit in tokens, so that the map fits into a reply
    static_assert(kLongest * kLongest * sizeof(float) < kLargestPayload);
    const auto T = static_cast<std::int64_t>(asked.ids.size());
    if (T > kLongest)
        throw Error(ErrorKind::usage, "the text has " + std::to_string(T) +
                                          " tokens; a map is sent of at most " + std::to_string(kLongest) +
                                          ", `roper-train look` writes larger ones");
    return sentTensors({{"weights", attentionOf(asked)}});
}

/// Number of keys visible to query n of T.
std::size_t keysSeen(const Asked& asked, std::size_t n, std::size_t T) {
    return asked.model().causal ? n + 1 : T;
}

/// Prints one head's weights: for each query a list over its visible keys.
void printRows(const Asked& asked, AnswerWriter& to) {
    if (!asked.question.layer || !asked.question.head)
        throw Error(ErrorKind::usage,
                    "the attention of all heads goes into a file: --out FILE.safetensors or .csv; or "
                    "choose one with --layer and --head");
    const at::Tensor weights = attentionOf(asked);
    const float* const first = weights.const_data_ptr<float>();
    const std::size_t T = asked.ids.size();
    auto rows = nlohmann::ordered_json::array();
    for (std::size_t n = 0; n < T; ++n)
        rows.push_back(std::vector<float>(first + n * T, first + n * T + keysSeen(asked, n, T)));
    to.line({{"layer", *asked.question.layer},
             {"head", *asked.question.head},
             {"ids", asked.ids},
             {"tokens", asked.reader.textsOf(asked.ids)},
             {"weights", rows}});
}

/// Writes table rows of the selected heads, one layer at a time.
void writeTable(const Asked& asked, const AppendBytes& append) {
    append(bytesOf("layer,head,query,key,weight\n"));
    const std::size_t T = asked.ids.size();
    asked.reader.attention(
        asked.ids,
        [&](std::int64_t layer, std::span<const float> weights) {
            for (std::size_t head = 0; head < weights.size() / (T * T); ++head) {
                if (!asked.isWanted(layer, static_cast<std::int64_t>(head))) continue;
                std::string lines;
                for (std::size_t n = 0; n < T; ++n)
                    for (std::size_t j = 0; j < keysSeen(asked, n, T); ++j)
                        lines += std::to_string(layer) + "," + std::to_string(head) + "," +
                                 std::to_string(n) + "," + std::to_string(j) + "," +
                                 formatNumber(static_cast<double>(weights[(head * T + n) * T + j])) + "\n";
                append(bytesOf(lines));
            }
        },
        asked.change);
}

/// Writes "attention" [L, H, T, T] (or [T, T] for one head) and "tokens" [T].
void writeTensors(const Asked& asked, const std::filesystem::path& out) {
    const Question& question = asked.question;
    const auto T = static_cast<std::int64_t>(asked.ids.size());
    const bool of_one = question.layer && question.head;
    const StreamedTensor tokens{"tokens", Dtype::I64, {T}, [&](const AppendBytes& append) {
                                    append(std::as_bytes(std::span(asked.ids)));
                                }};
    const auto write = [&](const AppendBytes& append) {
        if (!of_one)
            return asked.reader.attention(
                asked.ids,
                [&](std::int64_t, std::span<const float> weights) { append(std::as_bytes(weights)); },
                asked.change);
        const at::Tensor weights = attentionOf(asked);
        append(std::as_bytes(
            std::span(weights.const_data_ptr<float>(), static_cast<std::size_t>(weights.numel()))));
    };
    const StreamedTensor attention{
        "attention", Dtype::F32,
        of_one ? std::vector<std::int64_t>{T, T}
               : std::vector<std::int64_t>{asked.model().layers, asked.model().heads, T, T},
        write};
    std::map<std::string, std::string> metadata{{"model", asked.reader.model().name}};
    if (of_one)
        metadata.insert(
            {{"layer", std::to_string(*question.layer)}, {"head", std::to_string(*question.head)}});
    writeSafetensors(out, std::vector{tokens, attention}, metadata);
}

void printAttention(const Asked& asked, AnswerWriter& to) {
    const std::filesystem::path& out = to.file();
    if (out.empty() && (to.isJson() || to.isText())) return printRows(asked, to);
    if (out.empty())
        return writeTable(asked, [&](std::span<const std::byte> bytes) {
            to.text().write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
        });
    if (asked.question.layer.has_value() != asked.question.head.has_value() && out.extension() != ".csv")
        throw Error(ErrorKind::usage, "a .safetensors file holds all heads, or one: --layer and --head");
    if (out.extension() == ".csv")
        writeFileAtomically(out, [&](const AppendBytes& append) { writeTable(asked, append); });
    else if (out.extension() == ".safetensors")
        writeTensors(asked, out);
    else
        throw Error(ErrorKind::usage,
                    "attention is written as .safetensors or .csv, not as \"" + out.string() + "\"");
    tellPerson("wrote " + out.string());
}

}  // namespace

Answering attentionAnswer() {
    return {&sentAttention, &printAttention};
}

}  // namespace roper
