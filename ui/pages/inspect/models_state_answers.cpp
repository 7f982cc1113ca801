#include <QtConcurrent>
#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "core/base/safetensors.h"
#include "ui/live/token_texts.h"
#include "ui/pages/inspect/models_state.h"

// How the answers of a model are read.

namespace roper {
namespace {

constexpr const char* kOrigin = "the model's answer";

/// A tensor of float32 and its shape. @throws Error (checkpoint) if the answer is something else
struct Weights {
    std::vector<std::int64_t> shape;
    std::vector<float> numbers;
};
Weights weightsOf(const QByteArray& payload, std::size_t dimensions) {
    const SafetensorsFile file = SafetensorsFile::parse(payload.toStdString(), kOrigin);
    const SafetensorsFile::Tensor& tensor = file.tensor("weights");
    if (tensor.dtype != Dtype::F32 || tensor.shape.size() != dimensions)
        throw Error(ErrorKind::checkpoint, std::string(kOrigin) + ": weights of another form than expected");
    Weights weights{tensor.shape, std::vector<float>(tensor.bytes.size() / sizeof(float))};
    std::memcpy(weights.numbers.data(), tensor.bytes.data(), tensor.bytes.size());
    return weights;
}

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

HeatMapView::Map mapOf(const QByteArray& payload, bool causal) {
    const Weights weights = weightsOf(payload, 2);
    HeatMapView::Map map;
    map.values = std::make_shared<const Eigen::MatrixXd>(
        Eigen::Map<const RowMajor>(weights.numbers.data(), weights.shape[0], weights.shape[1])
            .cast<double>());
    map.scale = HeatMapView::Scale::sequential;
    map.lower_only = causal;
    map.limit = HeatMapView::limitOf(*map.values, causal);
    map.pyramid = HeatMapView::makePyramid(*map.values, map.scale, map.limit, causal);
    map.row_name = ModelsState::tr("query");
    map.column_name = ModelsState::tr("key");
    map.value_name = ModelsState::tr("weight");
    return map;
}

}  // namespace

template <>
std::shared_ptr<const void> readAnswer<HeadThumbnails>(const QByteArray& payload) {
    const Weights weights = weightsOf(payload, 4);
    HeadThumbnails all{static_cast<int>(weights.shape[0]), static_cast<int>(weights.shape[1]), {}};
    const std::int64_t side = weights.shape[2];
    for (std::int64_t head = 0; head < weights.shape[0] * weights.shape[1]; ++head)
        all.maps.emplace_back(
            Eigen::Map<const RowMajor>(weights.numbers.data() + head * side * side, side, side));
    return std::make_shared<const HeadThumbnails>(std::move(all));
}

void ModelsState::take(const QByteArray& payload) {
    if (asking_ == nullptr) return;
    if (asking_->read == nullptr) return takeMap(payload);
    try {
        finish(asking_->read(payload));
    } catch (const Error& error) {
        fail(QString::fromStdString(error.what()));
    }
}

/// What this model lacks cannot be changed.
void ModelsState::fitToModel() {
    const ModelSummary& model = *summary();
    setHead(layer_, head_);
    ModelChange fitting = change_;
    if (!model.rotates_values) fitting.no_value_rotation = fitting.no_inverse = false;
    if (!model.rotates) {
        fitting.mute.clear();
        fitting.no_rotation = false;
        fitting.base = 0;
        fitting.scaling = ScalingMethod::none;
    }
    if (fitting.layer && *fitting.layer >= model.layers) fitting.layer.reset();
    if (fitting.head && *fitting.head >= model.heads) fitting.head.reset();
    change_ = fitting;
}

void ModelsState::finish(std::shared_ptr<const void> answer) {
    const Need& what = *asking_;
    Entry& entry = entryOf(what);
    entry.answer = std::move(answer);
    entry.known = asked_;
    if (entry.requested && questionFor(what) == asked_) entry.requested.reset();
    if (&what == &need::model) fitToModel();
    if (&what == &need::patch) forget([](const Need& one) { return &one == &need::patch_positions; });
    asking_ = nullptr;
    emit answered(&what);
    if (&what == &need::model) {
        emit modelChanged();
        emit inputsChanged();
    }
    askNext();
}

void ModelsState::fail(const QString& why) {
    Entry& entry = entryOf(*asking_);
    entry.refused = asked_;
    entry.requested.reset();
    asking_ = nullptr;
    say(why);
    askNext();
}

/// A map of thousands of tokens takes a while to be made ready, outside the window's thread.
void ModelsState::takeMap(const QByteArray& payload) {
    const Question question = asked_;
    const bool causal = summary() == nullptr || summary()->causal;
    // A model without a head reads no text, but its heads do.
    QStringList tokens;
    if (const TextReading* reading = answer(need::reading))
        tokens = shownTokens(reading->tokens);
    else if (const HeadsAnswer* heads = answer(need::heads))
        tokens = shownTokens(heads->tokens);
    const auto is_wanted = [this, question] { return asking_ == &need::attention && asked_ == question; };
    QtConcurrent::run([payload, causal] { return mapOf(payload, causal); })
        .then(this,
              [this, question, tokens, is_wanted](HeatMapView::Map map) {
                  if (!is_wanted()) return;
                  if (tokens.size() == map.values->rows()) map.row_labels = map.column_labels = tokens;
                  finish(std::make_shared<const HeadMap>(HeadMap{static_cast<int>(question.layer.value_or(0)),
                                                                 static_cast<int>(question.head.value_or(0)),
                                                                 tokens, std::move(map)}));
              })
        .onFailed(this, [this, is_wanted](const std::exception& error) {
            if (is_wanted()) fail(QString::fromStdString(error.what()));
        });
}

}  // namespace roper
