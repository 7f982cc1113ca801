#include "ui/pages/inspect/head_maps.h"

#include <cstring>

#include "core/base/error.h"
#include "core/base/text.h"
#include "ui/live/published_models.h"
#include "ui/live/token_texts.h"

namespace roper {
namespace {

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

[[noreturn]] void refuse(const SafetensorsFile& file, const std::string& what) {
    throw Error(ErrorKind::checkpoint, file.origin() + ": " + what);
}

/// A tensor of this type and rank.
const SafetensorsFile::Tensor& tensorOf(const SafetensorsFile& file, const std::string& name, Dtype dtype,
                                        std::size_t rank) {
    const SafetensorsFile::Tensor& tensor = file.tensor(name);
    if (tensor.dtype != dtype || tensor.shape.size() != rank)
        refuse(file, "\"" + name + "\" is not a " + dtypeName(dtype) + " tensor of " + std::to_string(rank) +
                         " dimensions");
    return tensor;
}

/// Weights of layers × heads; a file with none, or with more than any model has, is not believed.
const SafetensorsFile::Tensor& attentionOf(const SafetensorsFile& file) {
    constexpr std::int64_t kMost = 4096;
    const SafetensorsFile::Tensor& attention = tensorOf(file, "attention", Dtype::F32, 4);
    for (const std::size_t dimension : {0U, 1U})
        if (attention.shape[dimension] < 1 || attention.shape[dimension] > kMost)
            refuse(file, "a model has 1 to " + std::to_string(kMost) + " layers and heads");
    return attention;
}

template <class Number>
Number at(const SafetensorsFile::Tensor& tensor, std::size_t index) {
    Number value;
    std::memcpy(&value, tensor.bytes.data() + index * sizeof value, sizeof value);
    return value;
}

/// Matrix number `index` of a tensor [.., .., rows, columns].
Eigen::MatrixXd matrixOf(const SafetensorsFile::Tensor& tensor, std::size_t index) {
    const Eigen::Index rows = tensor.shape[2], columns = tensor.shape[3];
    RowMajor read(rows, columns);
    const auto size = static_cast<std::size_t>(read.size()) * sizeof(float);
    std::memcpy(read.data(), tensor.bytes.data() + index * size, size);
    return read.cast<double>();
}

std::int64_t stepOf(const SafetensorsFile& file) {
    const auto step = parseInteger(file.entry("step"));
    if (!step) refuse(file, "\"step\" is not a number");
    return *step;
}

}  // namespace

HeadMaps readHeadMaps(const SafetensorsFile& file) {
    const auto& attention = attentionOf(file);
    HeadMaps maps;
    maps.step = stepOf(file);
    maps.text = file.entry("text");
    maps.causal = file.entryOr("causal", "true") == "true";
    maps.layers = static_cast<int>(attention.shape[0]);
    maps.heads = static_cast<int>(attention.shape[1]);
    maps.tokens = tokenTexts(file);
    const auto T = static_cast<std::int64_t>(maps.tokens.size());
    if (attention.shape[2] != T || attention.shape[3] != T || T == 0)
        refuse(file, "the maps do not fit the text of " + std::to_string(T) + " tokens");
    const auto count = static_cast<std::size_t>(attention.shape[0] * attention.shape[1]);
    for (std::size_t head = 0; head < count; ++head) {
        maps.weights.push_back(std::make_shared<const Eigen::MatrixXd>(matrixOf(attention, head)));
        maps.statistics.push_back(headStatistics(*maps.weights.back(), maps.causal));
    }
    return maps;
}

Continuation readContinuation(const SafetensorsFile& file) {
    const auto& attention = attentionOf(file);
    const auto& probability = tensorOf(file, "probability", Dtype::F32, 1);
    const auto& top_token = tensorOf(file, "top_token", Dtype::I64, 2);
    const auto& top_probability = tensorOf(file, "top_probability", Dtype::F32, 2);
    const std::vector<std::string> candidate_texts = textsIn(file, "candidate_texts");
    Continuation c;
    c.step = stepOf(file);
    c.prompt = file.entry("text");
    c.tokens = textsIn(file, "token_texts");
    c.layers = static_cast<int>(attention.shape[0]);
    c.heads = static_cast<int>(attention.shape[1]);
    const auto N = probability.shape[0], whole = static_cast<std::int64_t>(c.tokens.size());
    if (N < 1 || N >= whole || attention.shape[2] != N || attention.shape[3] != whole ||
        top_token.shape[0] != N || top_probability.shape != top_token.shape ||
        static_cast<std::int64_t>(candidate_texts.size()) != N * top_token.shape[1])
        refuse(file, "the tensors do not fit the text of " + std::to_string(whole) + " tokens");
    c.given = static_cast<std::size_t>(whole - N);
    const auto candidates = static_cast<std::size_t>(top_token.shape[1]);
    for (std::size_t i = 0; i < c.generated(); ++i) {
        c.probability.push_back(static_cast<double>(at<float>(probability, i)));
        auto& of_step = c.candidates.emplace_back();
        for (std::size_t k = 0; k < candidates; ++k)
            of_step.push_back({candidate_texts[i * candidates + k],
                               static_cast<double>(at<float>(top_probability, i * candidates + k))});
    }
    const auto count = static_cast<std::size_t>(attention.shape[0] * attention.shape[1]);
    for (std::size_t head = 0; head < count; ++head)
        c.attention.push_back(matrixOf(attention, head));
    return c;
}

QString modelAtStep(const QString& model, std::int64_t step) {
    return step < 0 ? modelTitle(model)
                    : QCoreApplication::translate("roper::HeadMaps", "%1 at step %2").arg(model).arg(step);
}

}  // namespace roper
