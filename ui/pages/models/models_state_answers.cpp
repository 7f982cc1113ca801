#include <QtConcurrent>
#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "core/base/safetensors.h"
#include "ui/live/token_texts.h"
#include "ui/pages/models/models_state.h"

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

HeadThumbnails thumbnailsOf(const QByteArray& payload) {
    const Weights weights = weightsOf(payload, 4);
    HeadThumbnails all{static_cast<int>(weights.shape[0]), static_cast<int>(weights.shape[1]), {}};
    const std::int64_t side = weights.shape[2];
    for (std::int64_t head = 0; head < weights.shape[0] * weights.shape[1]; ++head)
        all.maps.emplace_back(
            Eigen::Map<const RowMajor>(weights.numbers.data() + head * side * side, side, side));
    return all;
}

template <class Answer>
std::shared_ptr<const Answer> read(const QByteArray& payload) {
    return std::make_shared<const Answer>(
        parseAnswer<Answer>({payload.constData(), static_cast<std::size_t>(payload.size())}));
}

}  // namespace

void ModelsState::take(const QByteArray& payload) {
    if (!asking_) return;
    const Need what = *asking_;
    try {
        switch (what) {
            case Need::model:
                takeSummary(payload);
                break;
            case Need::reading:
                reading_ = read<TextReading>(payload);
                break;
            case Need::changed:
                changed_ = read<TextReading>(payload);
                break;
            case Need::heads:
                heads_ = read<HeadsAnswer>(payload);
                break;
            case Need::thumbnails:
                thumbnails_ = std::make_shared<const HeadThumbnails>(thumbnailsOf(payload));
                break;
            case Need::attention:
                return takeMap(payload);
            case Need::kernels:
                kernels_ = read<KernelsAnswer>(payload);
                break;
            case Need::kernel_history:
                kernel_history_ = read<KernelHistory>(payload);
                break;
            case Need::token_map:
                token_map_ = read<TokenMap>(payload);
                break;
            case Need::subsets:
                subsets_ = read<SubsetsAnswer>(payload);
                break;
            case Need::written:
                written_ = read<GeneratedText>(payload);
                break;
            case Need::lens:
                lens_ = read<LensAnswer>(payload);
                break;
            case Need::lengths:
                lengths_ = read<LengthsAnswer>(payload);
                break;
            case Need::needle:
                needle_ = read<NeedleAnswer>(payload);
                break;
            case Need::solved:
                solved_ = read<SolvedAnswer>(payload);
                break;
            case Need::patch:
                patch_ = read<PatchAnswer>(payload);
                patch_positions_.reset();
                break;
            case Need::patch_positions:
                patch_positions_ = read<PatchAnswer>(payload);
                break;
        }
    } catch (const Error& error) {
        return fail(what, QString::fromStdString(error.what()));
    }
    finish(what);
}

/// What this model lacks cannot be changed.
void ModelsState::takeSummary(const QByteArray& payload) {
    summary_ = read<ModelSummary>(payload);
    setHead(layer_, head_);
    ModelChange fitting = change_;
    if (!summary_->rotates_values) fitting.no_value_rotation = fitting.no_inverse = false;
    if (!summary_->rotates) {
        fitting.mute.clear();
        fitting.no_rotation = false;
        fitting.base = 0;
        fitting.scaling = ScalingMethod::none;
    }
    if (fitting.layer && *fitting.layer >= summary_->layers) fitting.layer.reset();
    if (fitting.head && *fitting.head >= summary_->heads) fitting.head.reset();
    change_ = fitting;
}

void ModelsState::finish(Need what) {
    known_[what] = asked_;
    const auto now = requested_.find(what) == requested_.end() ? std::nullopt : questionFor(what);
    if (now == asked_) requested_.erase(what);
    asking_.reset();
    emit answered(what);
    if (what == Need::model) {
        emit modelChanged();
        emit inputsChanged();
    }
    askNext();
}

void ModelsState::fail(Need what, const QString& why) {
    refused_[what] = asked_;
    requested_.erase(what);
    asking_.reset();
    say(why);
    askNext();
}

/// A map of thousands of tokens takes a while to be made ready, outside the window's thread.
void ModelsState::takeMap(const QByteArray& payload) {
    const Question question = asked_;
    const bool causal = !summary_ || summary_->causal;
    // A model without a head reads no text, but its heads do.
    QStringList tokens;
    for (const std::string& token : reading_ ? reading_->tokens
                                    : heads_ ? heads_->tokens
                                             : std::vector<std::string>())
        tokens << shownToken(token);
    const auto is_wanted = [this, question] { return asking_ == Need::attention && asked_ == question; };
    QtConcurrent::run([payload, causal] { return mapOf(payload, causal); })
        .then(this,
              [this, question, tokens, is_wanted](HeatMapView::Map map) {
                  if (!is_wanted()) return;
                  if (tokens.size() == map.values->rows()) map.row_labels = map.column_labels = tokens;
                  attention_ = std::make_shared<const HeadMap>(
                      HeadMap{static_cast<int>(question.layer.value_or(0)),
                              static_cast<int>(question.head.value_or(0)), tokens, std::move(map)});
                  finish(Need::attention);
              })
        .onFailed(this, [this, is_wanted](const std::exception& error) {
            if (is_wanted()) fail(Need::attention, QString::fromStdString(error.what()));
        });
}

}  // namespace roper
