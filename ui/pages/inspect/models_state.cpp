#include "ui/pages/inspect/models_state.h"

#include <QFileInfo>
#include <algorithm>

#include "ui/live/published_models.h"

namespace roper {

ModelsState::ModelsState(RunStore& store, QObject* parent)
    : QObject(parent), store_(store), client_(store, this) {
    connect(&client_, &ModelClient::answered, this,
            [this](const ModelQuestion&, const QByteArray& payload) { take(payload); });
    connect(&client_, &ModelClient::failed, this, [this](const QString& why) {
        if (asking_ != nullptr) fail(why);
    });
    connect(&client_, &ModelClient::progressed, this, [this](int done, int all) {
        progress_ = all > 0 ? static_cast<double>(done) / all : -1;
        emit workChanged();
    });
    connect(&store_, &RunStore::runRemoved, this, [this](const QString& name) {
        if (name == model_) setModel({});
    });
}

void ModelsState::say(const QString& message) {
    message_ = message;
    emit workChanged();
}

ModelsState::Entry& ModelsState::entryOf(const Need& what) {
    Entry& entry = entries_[what.name];
    entry.need = &what;
    return entry;
}

void ModelsState::forget(const std::function<bool(const Need&)>& is_of_the_past) {
    for (auto& [name, entry] : entries_)
        if (is_of_the_past(*entry.need)) {
            entry.known.reset();
            entry.answer.reset();
        }
}

void ModelsState::setModel(const QString& model, std::optional<std::int64_t> step) {
    // A run that trains moves on; what is seen of it is of one checkpoint, the newest when it was opened.
    if (const RunWatcher* run = store_.find(model); run != nullptr && !step)
        if (const auto checkpoints = run->folder().checkpoints(); !checkpoints.empty())
            step = checkpoints.back().step;
    if (model == model_ && step == step_) return;
    cancel();
    client_.close();
    model_ = model;
    step_ = step;
    entries_.clear();
    emit modelChanged();
    emit headChanged();
    askNext();
}

QString ModelsState::title() const {
    return isPublishedModel(model_) ? modelTitle(model_) : QFileInfo(model_).fileName();
}

QColor ModelsState::color(const Theme& theme) const {
    const RunWatcher* run = store_.find(model_);
    return run != nullptr && run->specification() ? Theme::method(run->specification()->methodName())
                                                  : theme.frame;
}

void ModelsState::setText(const QString& text) {
    if (text == text_) return;
    text_ = text;
    cancel();
    forget([](const Need& what) { return what.questionKind().reads_text; });
    emit inputsChanged();
    askNext();
}

void ModelsState::setChange(const ModelChange& change) {
    if (change == change_) return;
    change_ = change;
    cancel();
    forget([](const Need& what) { return what.dependsOnChange(); });
    emit inputsChanged();
    askNext();
}

void ModelsState::setHead(int layer, int head) {
    if (const ModelSummary* model = summary()) {
        layer = std::clamp(layer, 0, static_cast<int>(model->layers) - 1);
        head = std::clamp(head, 0, static_cast<int>(model->heads) - 1);
    }
    if (layer == layer_ && head == head_) return;
    layer_ = layer;
    head_ = head;
    if (asking_ != nullptr && asking_->dependsOnHead()) stopAsking();
    emit headChanged();
    askNext();
}

void ModelsState::setDistance(int distance) {
    if (distance == distance_) return;
    distance_ = distance;
    askNext();
}

void ModelsState::setNeeds(std::vector<const Need*> needs) {
    needs_ = std::move(needs);
    askNext();
}

void ModelsState::request(const Need& what, const Question& question) {
    if (asking_ == &what) stopAsking();
    Entry& entry = entryOf(what);
    entry.requested = question;
    entry.refused.reset();
    entry.known.reset();
    askNext();
}

/// What is being answered is asked again later, if it is still wanted.
void ModelsState::stopAsking() {
    client_.cancel();
    asking_ = nullptr;
    progress_ = -1;
}

void ModelsState::cancel() {
    stopAsking();
    for (auto& [name, entry] : entries_) {
        entry.refused.reset();
        entry.requested.reset();
    }
    say({});
}

const HeadReport* ModelsState::report() const {
    if (const HeadsAnswer* heads = answer(need::heads))
        for (const HeadReport& report : heads->heads)
            if (report.layer == layer_ && report.head == head_) return &report;
    return nullptr;
}

/// Nothing where there is nothing to be asked.
std::optional<Question> ModelsState::questionFor(const Need& what) const {
    const QuestionKind& kind = what.questionKind();
    const auto entry = entries_.find(what.name);
    const bool is_requested = entry != entries_.end() && entry->second.requested;
    if (what.on_request && !is_requested) return std::nullopt;
    if (kind.reads_text && text_.isEmpty()) return std::nullopt;
    if (what.change == Need::Change::only && change_.isNothing()) return std::nullopt;
    if (&what == &need::kernel_history && summary() != nullptr && summary()->checkpoints.size() < 2)
        return std::nullopt;
    Question question = is_requested ? *entry->second.requested : Question{};
    question.what = kind.name;
    if (what.count > 0) question.count = what.count;
    if (!kind.reads_text)
        question.text.clear();
    else if (&what != &need::written)  // which has a prompt of its own
        question.text = text_.toStdString();
    if (kind.heads == QuestionKind::Heads::one || question.positions) {
        question.layer = layer_;
        question.head = head_;
    }
    if (&what == &need::token_map) question.distance = distance_;
    const ModelChange scaled = question.change;  // by which longer texts are read
    question.change = what.dependsOnChange() ? change_ : ModelChange{};
    if (&what == &need::lengths) {
        question.change.factor = scaled.factor;
        question.change.original_length = scaled.original_length;
    }
    return question;
}

void ModelsState::askNext() {
    if (asking_ != nullptr || model_.isEmpty()) return;
    std::vector<const Need*> wanted{&need::model};
    wanted.insert(wanted.end(), needs_.begin(), needs_.end());
    for (const auto& [name, entry] : entries_)
        if (entry.requested) wanted.push_back(entry.need);
    constexpr qsizetype kLongestText = 60000;  // bytes: a message of the socket holds no more
    if (text_.toUtf8().size() > kLongestText && summary() != nullptr) {
        say(tr("The text has %1 bytes; this page reads at most %2. `roper-train look --text-file` reads "
               "longer ones.")
                .arg(text_.toUtf8().size())
                .arg(kLongestText));
        return;
    }
    for (const Need* what : wanted) {
        const auto question = questionFor(*what);
        const Entry& entry = entryOf(*what);
        if (!question || entry.known == question || entry.refused == question) continue;
        if (what != &need::model && summary() == nullptr) return;  // it could not be opened
        asking_ = what;
        asked_ = *question;
        progress_ = -1;
        Request request{Command::look, "1"};
        request.question = questionSettings(*question);
        emit workChanged();
        client_.ask({model_, request, step_});
        return;
    }
    emit workChanged();
}

QString ModelsState::work() const {
    if (asking_ == nullptr) return {};
    if (asking_ == &need::model) return tr("opening the model");
    QString said = tr("computing: %1").arg(QString::fromStdString(asking_->questionKind().help));
    if (asking_->dependsOnHead()) said += tr(", layer %1, head %2").arg(layer_).arg(head_);
    return asked_.change.isNothing() ? said : tr("%1, with the change").arg(said);
}

std::optional<ModelsState::Cost> ModelsState::cost() const {
    if (summary() == nullptr || text_.isEmpty()) return std::nullopt;
    constexpr double kBytesOfAToken = 4, kOverProducts = 2, kGiga = 1e9;
    constexpr double kQueriesAtATime = 128, kLogitsAtATime = 8192;
    const ModelSummary& m = *summary();
    const TextReading* reading = answer(need::reading);
    const auto bytes = static_cast<double>(text_.toUtf8().size());
    const double T = reading != nullptr               ? static_cast<double>(reading->ids.size())
                     : QFileInfo(model_).isAbsolute() ? std::max(1.0, bytes / kBytesOfAToken)
                                                      : bytes;
    const auto C = static_cast<double>(m.width), V = static_cast<double>(m.vocabulary),
               H = static_cast<double>(m.heads), d = static_cast<double>(m.head_dim),
               L = static_cast<double>(m.layers), P = static_cast<double>(m.parameters);
    // Every parameter but the embeddings once a token, the logits, and scores and mixture over half of T².
    const double operations = 2 * T * std::max(0.0, P - V * C) + 2 * T * V * C + 2 * T * T * L * H * d;
    const double held = 4 * (P + T * (2 * static_cast<double>(m.feed_forward) + 6 * C) +
                             3 * kQueriesAtATime * T * H + 3 * kLogitsAtATime * T);
    return Cost{kOverProducts * operations / (std::max(m.gflops, 1.0) * kGiga), held,
                static_cast<std::int64_t>(T)};
}

}  // namespace roper
