#include <ATen/ATen.h>

#include "core/base/console.h"
#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/safetensors.h"
#include "core/base/text.h"
#include "core/control/messages.h"
#include "core/operators/tensor_data.h"
#include "core/reading/answers.h"

namespace roper {
namespace {

/// Weights of one head [T, T], without storing the weights of other heads.
at::Tensor attentionOf(const QuestionContext& context) {
    const QuestionContext::Head head = context.selectedHead();
    const auto T = static_cast<std::int64_t>(context.ids.size());
    const at::Tensor all = at::zeros({T, T});
    ForwardHooks recorder;
    recorder.attention_layer = recorder.last_layer = head.layer;
    recorder.attention = [&](std::int64_t, std::int64_t first, const at::Tensor& weights) {
        all.narrow(0, first, weights.size(1))
            .narrow(1, 0, weights.size(2))
            .copy_(weights.select(0, head.head));
    };
    context.reader.hidden(context.ids, context.change, recorder);
    return all;
}

std::string serializeAttention(const QuestionContext& context) {
    constexpr std::int64_t kMaxTokens = 4500;  // limit in tokens, so that the map fits into a reply
    static_assert(kMaxTokens * kMaxTokens * sizeof(float) < kMaxPayloadBytes);
    const auto T = static_cast<std::int64_t>(context.ids.size());
    if (T > kMaxTokens)
        throw Error(ErrorKind::usage, "the text has " + std::to_string(T) + " tokens; maps of at most " +
                                          std::to_string(kMaxTokens) +
                                          " tokens can be sent; roper-train look writes larger ones");
    return serializeTensors({{"weights", attentionOf(context)}});
}

/// Number of keys visible to query n of T.
std::size_t keysSeen(const QuestionContext& context, std::size_t n, std::size_t T) {
    return context.model().causal ? n + 1 : T;
}

/// Prints one head's weights: for each query a list over its visible keys.
void printRows(const QuestionContext& context, AnswerWriter& to) {
    if (!context.question.layer || !context.question.head)
        throw Error(ErrorKind::usage,
                    "the attention of all heads is written to a file: --out FILE.safetensors or .csv; or "
                    "choose one with --layer and --head");
    const at::Tensor weights = attentionOf(context);
    const float* const first = weights.const_data_ptr<float>();
    const std::size_t T = context.ids.size();
    auto rows = nlohmann::ordered_json::array();
    for (std::size_t n = 0; n < T; ++n)
        rows.push_back(std::vector<float>(first + n * T, first + n * T + keysSeen(context, n, T)));
    to.line({{"layer", *context.question.layer},
             {"head", *context.question.head},
             {"ids", context.ids},
             {"tokens", context.reader.textsOf(context.ids)},
             {"weights", rows}});
}

/// Writes table rows of the selected heads, one layer at a time.
void writeTable(const QuestionContext& context, const AppendBytes& append) {
    append(bytesOf("layer,head,query,key,weight\n"));
    const std::size_t T = context.ids.size();
    const auto writeHead = [&](std::int64_t layer, std::int64_t head, const float* weights) {
        std::string lines;
        for (std::size_t n = 0; n < T; ++n)
            for (std::size_t j = 0; j < keysSeen(context, n, T); ++j)
                lines += std::to_string(layer) + "," + std::to_string(head) + "," + std::to_string(n) + "," +
                         std::to_string(j) + "," + formatNumber(static_cast<double>(weights[n * T + j])) +
                         "\n";
        append(bytesOf(lines));
    };
    if (context.question.layer && context.question.head) {
        const QuestionContext::Head one = context.selectedHead();
        return writeHead(one.layer, one.head, attentionOf(context).const_data_ptr<float>());
    }
    context.reader.attention(
        context.ids,
        [&](std::int64_t layer, std::span<const float> weights) {
            for (std::size_t head = 0; head < weights.size() / (T * T); ++head)
                if (context.isSelected(layer, static_cast<std::int64_t>(head)))
                    writeHead(layer, static_cast<std::int64_t>(head), weights.data() + head * T * T);
        },
        context.change);
}

/// Writes "attention" [L, H, T, T] (or [T, T] for one head) and "tokens" [T].
void writeTensors(const QuestionContext& context, const std::filesystem::path& out) {
    const Question& question = context.question;
    const auto T = static_cast<std::int64_t>(context.ids.size());
    const bool of_one = question.layer && question.head;
    const TensorToWrite tokens{
        .name = "tokens", .dtype = Dtype::I64, .shape = {T}, .produce = [&](const AppendBytes& append) {
            append(std::as_bytes(std::span(context.ids)));
        }};
    const auto write = [&](const AppendBytes& append) {
        if (!of_one)
            return context.reader.attention(
                context.ids,
                [&](std::int64_t, std::span<const float> weights) { append(std::as_bytes(weights)); },
                context.change);
        const at::Tensor weights = attentionOf(context);
        append(std::as_bytes(
            std::span(weights.const_data_ptr<float>(), static_cast<std::size_t>(weights.numel()))));
    };
    const TensorToWrite attention{
        .name = "attention",
        .dtype = Dtype::F32,
        .shape = of_one ? std::vector<std::int64_t>{T, T}
                        : std::vector<std::int64_t>{context.model().layers, context.model().heads, T, T},
        .produce = write};
    std::map<std::string, std::string> metadata{{"model", context.reader.model().name}};
    if (of_one)
        metadata.insert(
            {{"layer", std::to_string(*question.layer)}, {"head", std::to_string(*question.head)}});
    writeSafetensors(out, std::vector{tokens, attention}, metadata);
}

void printAttention(const QuestionContext& context, AnswerWriter& to) {
    const std::filesystem::path& out = to.file();
    if (out.empty() && (to.isJson() || to.isText())) return printRows(context, to);
    if (out.empty())
        return writeTable(context, [&](std::span<const std::byte> bytes) {
            to.text().write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
        });
    if (context.question.layer.has_value() != context.question.head.has_value() && out.extension() != ".csv")
        throw Error(ErrorKind::usage,
                    "a .safetensors file holds all heads, or one chosen with both --layer and --head");
    if (out.extension() == ".csv")
        writeFileAtomically(out, [&](const AppendBytes& append) { writeTable(context, append); });
    else if (out.extension() == ".safetensors")
        writeTensors(context, out);
    else
        throw Error(ErrorKind::usage,
                    "attention is written as .safetensors or .csv, not as \"" + out.string() + "\"");
    reportToUser("wrote " + out.string());
}

}  // namespace

AnswerHandler attentionAnswer() {
    return {&serializeAttention, &printAttention};
}

}  // namespace roper
