#include <QFileInfo>
#include <QtConcurrent>
#include <algorithm>

#include "core/base/error.h"
#include "ui/live/token_texts.h"
#include "ui/pages/inspect/inspect_state.h"

// The pending question, the cost of reading the text, and the answers.

namespace roper {

bool InspectState::isAsking(const AnswerSpec& spec) const {
    const auto found = entries_.find(spec.name);
    return pending_ == &spec || (found != entries_.end() && found->second.requested);
}

QString InspectState::pendingWork() const {
    if (pending_ == nullptr) return {};
    if (pending_ == &answers::model) return tr("opening the model");
    QString text = tr("computing: %1").arg(QString::fromStdString(pending_->questionKind().help));
    if (pending_->dependsOnHead()) text += tr(", layer %1, head %2").arg(layer_).arg(head_);
    return sent_question_.change.isEmpty() ? text : tr("%1, with the change").arg(text);
}

QString InspectState::placeholder(const QString& otherwise) const {
    return !message_.isEmpty() ? message_ : isAsking() ? pendingWork() : otherwise;
}

std::optional<InspectState::Cost> InspectState::cost() const {
    if (summary() == nullptr || text_.isEmpty()) return std::nullopt;
    constexpr double kBytesPerToken = 4, kGiga = 1e9;
    constexpr double kSlowdown = 2;  // of a forward pass, relative to its matrix products alone
    constexpr double kQueriesAtATime = 128, kLogitsAtATime = 8192;
    const ModelSummary& m = *summary();
    const TextPredictions* reading = answer(answers::predictions);
    const Walkthrough* walkthrough = answer(answers::walkthrough);
    const HeadsAnswer* heads = answer(answers::heads);
    const auto bytes = static_cast<double>(text_.toUtf8().size());
    const double T = reading != nullptr               ? static_cast<double>(reading->ids.size())
                     : walkthrough != nullptr         ? static_cast<double>(walkthrough->tokens.size())
                     : heads != nullptr               ? static_cast<double>(heads->tokens.size())
                     : QFileInfo(model_).isAbsolute() ? std::max(1.0, bytes / kBytesPerToken)
                                                      : bytes;
    const auto C = static_cast<double>(m.width), V = static_cast<double>(m.vocabulary),
               H = static_cast<double>(m.heads), d = static_cast<double>(m.head_dim),
               L = static_cast<double>(m.layers), P = static_cast<double>(m.parameters_per_token);
    // Two per token and parameter, including the output head, plus scores and weighted sums over all T² pairs
    // of tokens, or half of them. A model that predicts masked tokens reads the text once for each token.
    const double operations = (m.predicts_masked ? T : 1) * (2 * T * std::max(0.0, P - V * C) +
                                                             (m.causal ? 2 : 4) * T * T * L * H * d) +
                              2 * T * V * C;
    // float32: parameters, activations, and blocks of scores and logits.
    const double held =
        4 * (mostParametersUsed(m, T) + T * (2 * static_cast<double>(m.feed_forward) + 6 * C) +
             3 * kQueriesAtATime * T * H + 3 * kLogitsAtATime * T);
    return Cost{kSlowdown * operations / (std::max(m.gflops, 1.0) * kGiga), held,
                static_cast<std::int64_t>(T)};
}

void InspectState::receiveAnswer(const QByteArray& payload) {
    if (pending_ == nullptr) return;
    if (pending_->read == nullptr) return receiveMap(payload);
    try {
        finish(pending_->read(payload));
    } catch (const Error& error) {
        fail(QString::fromStdString(error.what()));
    }
}

/// Drops changes to parts that this model does not have.
void InspectState::clampToModel() {
    const ModelSummary& model = *summary();
    setHead(layer_, head_);
    ModelChange fitting = change_;
    if (model.rotated.find('v') == std::string::npos) fitting.no_value_rotation = false;
    if (model.rotated.find('o') == std::string::npos) fitting.no_inverse = false;
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

void InspectState::finish(std::shared_ptr<const void> answer) {
    const AnswerSpec& spec = *pending_;
    Entry& entry = entryOf(spec);
    entry.answer = std::move(answer);
    entry.known = sent_question_;
    if (failed_ == &spec) setMessage({});
    if (entry.requested && questionFor(spec) == sent_question_) entry.requested.reset();
    if (&spec == &answers::model) clampToModel();
    if (&spec == &answers::patch)
        forget([](const AnswerSpec& one) { return &one == &answers::patch_positions; });
    pending_ = nullptr;
    emit answered(&spec);
    if (&spec == &answers::model) {
        emit modelChanged();
        emit inputsChanged();
    }
    askNext();
}

void InspectState::fail(const QString& why) {
    const AnswerSpec* failed = pending_;
    Entry& entry = entryOf(*failed);
    entry.refused = sent_question_;
    entry.requested.reset();
    pending_ = nullptr;
    setMessage(why, failed);
    askNext();
}

std::int64_t InspectState::windowOf(int layer) const {
    if (const ModelSummary* known = summary()) return known->windowOf(static_cast<std::size_t>(layer));
    return run() != nullptr && run()->specification() ? run()->specification()->model.window : 0;
}

/// Preparing a map of thousands of tokens takes a while, so it runs outside the GUI thread.
void InspectState::receiveMap(const QByteArray& payload) {
    const Question question = sent_question_;
    const bool causal = summary() == nullptr || summary()->causal;
    // A model without an output head cannot answer `reading`, but the answer `heads` lists the tokens, too.
    QStringList tokens;
    if (const TextPredictions* reading = answer(answers::predictions))
        tokens = formatTokens(reading->tokens);
    else if (const HeadsAnswer* heads = answer(answers::heads))
        tokens = formatTokens(heads->tokens);
    const auto is_wanted = [this, question] {
        return pending_ == &answers::attention && sent_question_ == question;
    };
    const std::int64_t window = windowOf(static_cast<int>(question.layer.value_or(0)));
    QtConcurrent::run([payload, causal, tokens, window] {
        auto weights = std::make_shared<const Eigen::MatrixXd>(
            readAttention(SafetensorsFile::parse(payload.toStdString(), "the model's answer")));
        const bool are_named = tokens.size() == weights->rows();
        return attentionMap(std::move(weights), causal, are_named ? tokens : QStringList(), window);
    })
        .then(this,
              [this, question, is_wanted](HeatMapView::Map map) {
                  if (!is_wanted()) return;
                  finish(std::make_shared<const HeadMap>(HeadMap{static_cast<int>(question.layer.value_or(0)),
                                                                 static_cast<int>(question.head.value_or(0)),
                                                                 std::move(map)}));
              })
        .onFailed(this, [this, is_wanted](const std::exception& error) {
            if (is_wanted()) fail(QString::fromStdString(error.what()));
        });
}

}  // namespace roper
