#include "ui/pages/inspect/head_maps.h"

#include <QCoreApplication>
#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "core/base/text.h"
#include "ui/live/token_texts.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr Eigen::Index kThumbnailSide = 40;  // cells per side of a thumbnail

QString tr(const char* text) {
    return QCoreApplication::translate("roper::HeadMaps", text);
}

[[noreturn]] void refuse(const SafetensorsFile& file, const std::string& what) {
    throw Error(ErrorKind::checkpoint, file.origin() + ": " + what);
}

/// A tensor, checked for type and rank.
const SafetensorsFile::Tensor& tensorOf(const SafetensorsFile& file, const std::string& name, Dtype dtype,
                                        std::size_t rank) {
    const SafetensorsFile::Tensor& tensor = file.tensor(name);
    if (tensor.dtype != dtype || tensor.shape.size() != rank)
        refuse(file, "\"" + name + "\" is not a " + dtypeName(dtype) + " tensor of " + std::to_string(rank) +
                         " dimensions");
    return tensor;
}

/// Attention weights [layers, heads, queries, keys]; refuses files with no layer or head, or with more than
/// any real model has.
const SafetensorsFile::Tensor& attentionOf(const SafetensorsFile& file,
                                           const std::string& name = "attention") {
    constexpr std::int64_t kMaxLayersOrHeads = 4096;
    const SafetensorsFile::Tensor& attention = tensorOf(file, name, Dtype::F32, 4);
    for (const std::size_t dimension : {0U, 1U})
        if (attention.shape[dimension] < 1 || attention.shape[dimension] > kMaxLayersOrHeads)
            refuse(file, "a model has 1 to " + std::to_string(kMaxLayersOrHeads) + " layers and heads");
    return attention;
}

template <class Number>
Number at(const SafetensorsFile::Tensor& tensor, std::size_t index) {
    Number value;
    std::memcpy(&value, tensor.bytes.data() + index * sizeof value, sizeof value);
    return value;
}

/// Matrix number `index` of a tensor [.., rows, columns].
RowMajor matrixOf(const SafetensorsFile::Tensor& tensor, std::size_t index) {
    const std::size_t rank = tensor.shape.size();
    RowMajor read(tensor.shape[rank - 2], tensor.shape[rank - 1]);
    const auto size = static_cast<std::size_t>(read.size()) * sizeof(float);
    std::memcpy(read.data(), tensor.bytes.data() + index * size, size);
    return read;
}

std::int64_t stepOf(const SafetensorsFile& file) {
    const auto step = parseInteger(file.entry("step"));
    if (!step) refuse(file, "\"step\" is not a number");
    return *step;
}

}  // namespace

Eigen::MatrixXf downsampled(const Eigen::MatrixXf& map, Eigen::Index side) {
    const Eigen::Index span = (map.rows() + side - 1) / std::max<Eigen::Index>(side, 1);
    if (span <= 1) return map;
    const Eigen::Index cells = (map.rows() + span - 1) / span;
    Eigen::MatrixXf thumbnail = Eigen::MatrixXf::Zero(cells, cells);
    for (Eigen::Index row = 0; row < map.rows(); ++row)
        for (Eigen::Index column = 0; column < map.cols(); ++column)
            thumbnail(row / span, column / span) =
                std::max(thumbnail(row / span, column / span), map(row, column));
    return thumbnail;
}

HeatMapView::Map attentionMap(std::shared_ptr<const Eigen::MatrixXd> weights, bool causal,
                              const QStringList& tokens, std::int64_t window) {
    HeatMapView::Map map;
    map.scale = HeatMapView::Scale::sequential;
    map.lower_triangle_only = causal;
    map.has_gaps = window > 0 && window < weights->rows();
    if (map.has_gaps) {
        Eigen::MatrixXd visible = *weights;
        for (Eigen::Index key = 0; key < visible.cols(); ++key)
            for (Eigen::Index query = 0; query < visible.rows(); ++query)
                if (std::abs(query - key) >= window) visible(query, key) = std::nan("");
        weights = std::make_shared<const Eigen::MatrixXd>(std::move(visible));
    }
    map.limit = HeatMapView::limitOf(*weights, causal);
    map.values = std::move(weights);
    map.makePyramid();
    map.row_name = tr("query");
    map.column_name = tr("key");
    map.value_name = tr("weight");
    map.gap_name = tr("masked");
    map.row_labels = map.column_labels = tokens;
    return map;
}

QString weightAt(const HeatMapView::Map& map, int row, int column) {
    if (map.values == nullptr || row < 0 || column < 0) return {};
    const auto name = [&](int token) {
        return map.row_labels.isEmpty() ? QString::number(token)
                                        : tr("“%1” (%2)").arg(map.row_labels[token], QString::number(token));
    };
    const double weight = (*map.values)(row, column);
    return tr("query %1, key %2, distance %3: %4")
        .arg(name(row), name(column), numberText(row - column),
             std::isnan(weight) ? tr("masked") : tr("weight %1").arg(numberText(weight, 4)));
}

HeadMaps readHeadMaps(const SafetensorsFile& file) {
    const auto& attention = attentionOf(file);
    HeadMaps maps;
    maps.step = stepOf(file);
    maps.text = file.entry("text");
    maps.causal = file.entryOr("causal", "true") == "true";
    maps.layers = static_cast<int>(attention.shape[0]);
    maps.heads = static_cast<int>(attention.shape[1]);
    maps.thumbnails = {maps.layers, maps.heads, {}};
    maps.tokens = tokenTexts(file);
    const auto T = static_cast<std::int64_t>(maps.tokens.size());
    if (attention.shape[2] != T || attention.shape[3] != T || T == 0)
        refuse(file, "the maps do not match the text of " + std::to_string(T) + " tokens");
    const auto count = static_cast<std::size_t>(attention.shape[0] * attention.shape[1]);
    for (std::size_t head = 0; head < count; ++head) {
        const RowMajor weights = matrixOf(attention, head);
        maps.weights.push_back(std::make_shared<const Eigen::MatrixXd>(weights.cast<double>()));
        maps.statistics.push_back(headStatistics(*maps.weights.back(), maps.causal));
        maps.thumbnails.maps.push_back(downsampled(weights, kThumbnailSide));
    }
    return maps;
}

HeadThumbnails readThumbnails(const SafetensorsFile& file) {
    const auto& weights = attentionOf(file, "weights");
    HeadThumbnails all{static_cast<int>(weights.shape[0]), static_cast<int>(weights.shape[1]), {}};
    for (int head = 0; head < all.layers * all.heads; ++head)
        all.maps.emplace_back(matrixOf(weights, static_cast<std::size_t>(head)));
    return all;
}

Eigen::MatrixXd readAttention(const SafetensorsFile& file) {
    return matrixOf(tensorOf(file, "weights", Dtype::F32, 2), 0).cast<double>();
}

Continuation readContinuation(const SafetensorsFile& file) {
    const auto& attention = attentionOf(file);
    const auto& probability = tensorOf(file, "probability", Dtype::F32, 1);
    const auto& top_token = tensorOf(file, "top_token", Dtype::I64, 2);
    const auto& top_probability = tensorOf(file, "top_probability", Dtype::F32, 2);
    const std::vector<std::string> candidate_texts = readTexts(file, "candidate_texts");
    Continuation c;
    c.step = stepOf(file);
    c.prompt = file.entry("text");
    c.tokens = readTexts(file, "token_texts");
    c.layers = static_cast<int>(attention.shape[0]);
    c.heads = static_cast<int>(attention.shape[1]);
    const auto N = probability.shape[0], whole = static_cast<std::int64_t>(c.tokens.size());
    if (N < 1 || N >= whole || attention.shape[2] != N || attention.shape[3] != whole ||
        top_token.shape[0] != N || top_probability.shape != top_token.shape ||
        static_cast<std::int64_t>(candidate_texts.size()) != N * top_token.shape[1])
        refuse(file, "the tensors do not match the text of " + std::to_string(whole) + " tokens");
    c.prompt_tokens = static_cast<std::size_t>(whole - N);
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
        c.attention.emplace_back(matrixOf(attention, head).cast<double>());
    return c;
}

QString modelAtStep(const QString& title, std::int64_t step) {
    return step < 0 ? title : tr("%1 at step %2").arg(title).arg(step);
}

QString headTitle(int layer, int head) {
    return tr("layer %1, head %2").arg(layer).arg(head);
}

}  // namespace roper
