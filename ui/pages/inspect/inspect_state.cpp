#include "ui/pages/inspect/inspect_state.h"

#include <algorithm>

namespace roper {

namespace {

constexpr int kPollInterval_ms = 1000;

}  // namespace

InspectState::InspectState(RunStore& store, QObject* parent)
    : QObject(parent), store_(store), client_(store, this) {
    connect(&client_, &ModelClient::answered, this,
            [this](const ModelQuestion&, const QByteArray& payload) { receiveAnswer(payload); });
    connect(&client_, &ModelClient::failed, this, [this](const QString& why) {
        if (pending_ != nullptr) fail(why);
    });
    connect(&client_, &ModelClient::progressed, this, [this](int done, int all) {
        progress_ = all > 0 ? static_cast<double>(done) / all : -1;
        emit answerOrProgressChanged();
    });
    connect(&store_, &RunStore::runRemoved, this, [this](const QString& name) {
        if (name == model_) setModel({});
    });
    connect(&sizes_, &SolvedBySize::changed, this, &InspectState::answerOrProgressChanged);
    connect(&timer_, &QTimer::timeout, this, &InspectState::checkForCheckpoints);
    timer_.start(kPollInterval_ms);
}

void InspectState::setMessage(const QString& message, const AnswerSpec* failed) {
    message_ = message;
    failed_ = failed;
    emit answerOrProgressChanged();
}

void InspectState::dismissError() {
    const auto& required = required_answers_;
    if (failed_ != nullptr && failed_ != &answers::model &&
        std::ranges::find(required, failed_) == required.end())
        setMessage({});
}

InspectState::Entry& InspectState::entryOf(const AnswerSpec& spec) {
    Entry& entry = entries_[spec.name];
    entry.spec = &spec;
    return entry;
}

/// Cancels the pending and requested questions of outdated specs. Failed questions may be asked again.
void InspectState::dropRequests(const AnswerPredicate& is_outdated) {
    if (pending_ != nullptr && is_outdated(*pending_)) clearPending();
    for (auto& [name, entry] : entries_) {
        entry.refused.reset();
        if (is_outdated(*entry.spec)) entry.requested.reset();
    }
    setMessage({});
}

void InspectState::forget(const AnswerPredicate& is_outdated) {
    for (auto& [name, entry] : entries_)
        if (is_outdated(*entry.spec)) {
            entry.known.reset();
            entry.answer.reset();
        }
}

/// Called after an input has changed: drops the requests and answers of outdated specs, and asks again.
void InspectState::dropOutdated(const AnswerPredicate& is_outdated) {
    dropRequests(is_outdated);
    forget(is_outdated);
    emit inputsChanged();
    askNext();
}

void InspectState::setModel(const QString& model, std::optional<std::int64_t> step) {
    const std::optional<std::int64_t> chosen = step;
    // A run in training advances; the state stays at the checkpoint that was newest when it was opened.
    if (const RunWatcher* run = store_.find(model); run != nullptr && !step)
        if (const auto found = run->folder().checkpoints(); !found.empty()) step = found.back().step;
    if (model == model_ && step == step_ && chosen == chosen_step_) return;
    cancel();
    client_.close();
    if (model != model_) {
        token_.reset();
        sizes_.stop();
        snapshots_ = {};
        known_checkpoints_.clear();
        reads_maps_ = false;
    }
    model_ = model;
    step_ = step;
    chosen_step_ = chosen;
    sizes_.forget();  // counted with other weights
    entries_.clear();
    checkForCheckpoints();
    setHead(layer_, head_);
    emit modelChanged();
    askNext();
}

void InspectState::setStep(std::optional<std::int64_t> step) {
    if (step != chosen_step_) setModel(model_, step);
}

void InspectState::matchStep(const InspectState& other) {
    const std::vector<std::int64_t> steps = checkpoints();
    std::optional<std::int64_t> step = other.chosenStep();
    if (step && !steps.empty()) step = steps[static_cast<std::size_t>(nearestStep(steps, *step))];
    setStep(run() != nullptr ? step : std::nullopt);
}

std::vector<std::int64_t> InspectState::checkpoints() const {
    const RunWatcher* run = this->run();
    if (run == nullptr) return {};
    const auto listed = run->folder().checkpointsIfReadable();
    return listed ? stepsOf(*listed) : known_checkpoints_;
}

/// Looks for new checkpoints and snapshots of the run.
void InspectState::checkForCheckpoints() {
    if (run() == nullptr) return;
    std::vector<std::int64_t> checkpoints = this->checkpoints();
    if (checkpoints != known_checkpoints_) {
        known_checkpoints_ = std::move(checkpoints);
        emit checkpointsChanged();
    }
    if (snapshots_.list(run()->folder())) emit snapshotsChanged();
}

void InspectState::showSnapshot(int index) {
    reads_maps_ = false;
    snapshots_.show(index);
    emit snapshotsChanged();
    emit answerOrProgressChanged();
}

void InspectState::readMaps() {
    reads_maps_ = true;
    request(answers::maps);
    emit snapshotsChanged();
}

QString InspectState::title() const {
    return store_.titleOf(model_);
}

QString InspectState::modelName() const {
    if (summary() == nullptr) return {};
    return run() != nullptr ? title() : QString::fromStdString(summary()->name);
}

QColor InspectState::color(const Theme& theme) const {
    const RunWatcher* run = this->run();
    return run != nullptr && run->specification() ? Theme::method(run->specification()->methodName())
                                                  : theme.frame;
}

void InspectState::setText(const QString& text) {
    if (text == text_) return;
    text_ = text;
    token_.reset();
    dropOutdated(&AnswerSpec::dependsOnText);
}

void InspectState::setChange(const ModelChange& change) {
    if (change == change_) return;
    change_ = change;
    dropOutdated(&AnswerSpec::dependsOnChange);
}

void InspectState::setHead(int layer, int head) {
    const ModelSummary* model = summary();
    const auto maps = this->maps();
    if (model != nullptr || maps != nullptr) {
        layer = std::clamp(layer, 0, (model != nullptr ? static_cast<int>(model->layers) : maps->layers) - 1);
        head = std::clamp(head, 0, (model != nullptr ? static_cast<int>(model->heads) : maps->heads) - 1);
    }
    if (layer == layer_ && head == head_) return;
    layer_ = layer;
    head_ = head;
    if (pending_ != nullptr && pending_->dependsOnHead()) clearPending();
    emit headChanged();
    askNext();
}

void InspectState::setDistance(int distance) {
    if (distance == distance_) return;
    distance_ = distance;
    askNext();
}

void InspectState::setToken(std::optional<int> token) {
    if (token == token_) return;
    token_ = token;
    emit tokenChanged();
    askNext();
}

void InspectState::setRequiredAnswers(AnswerSpecs requiredAnswers) {
    required_answers_ = std::move(requiredAnswers);
    askNext();
}

void InspectState::request(const AnswerSpec& spec, const Question& question) {
    if (pending_ == &spec) clearPending();
    Entry& entry = entryOf(spec);
    entry.requested = question;
    entry.refused.reset();
    entry.known.reset();
    dismissError();
    askNext();
}

/// Cancels the pending question; it is asked again later if still needed.
void InspectState::clearPending() {
    client_.cancel();
    pending_ = nullptr;
    progress_ = -1;
}

void InspectState::cancel() {
    dropRequests([](const AnswerSpec&) { return true; });
}

const HeadReport* InspectState::report(int layer, int head) const {
    for (const HeadReport& report : reports())
        if (report.layer == layer && report.head == head) return &report;
    return nullptr;
}

/// Whether the spec is for predictions that a panel shows beside other answers, and the model predicts none.
bool InspectState::isUnansweredExtra(const AnswerSpec& spec) const {
    const auto predicts = [](const AnswerSpec* one) {
        return one == &answers::predictions || one == &answers::changed_predictions;
    };
    return predicts(&spec) && summary() != nullptr && !summary()->has_head &&
           !std::ranges::all_of(required_answers_, predicts);
}

/// The question for a spec with the current inputs; nothing if it cannot or need not be asked.
std::optional<Question> InspectState::questionFor(const AnswerSpec& spec) const {
    const QuestionKind& kind = spec.questionKind();
    const auto entry = entries_.find(spec.name);
    const bool is_requested = entry != entries_.end() && entry->second.requested;
    if (spec.on_request && !is_requested) return std::nullopt;
    if (spec.dependsOnText() && text_.isEmpty()) return std::nullopt;
    if (spec.change == AnswerSpec::Change::required && change_.isEmpty()) return std::nullopt;
    if (isUnansweredExtra(spec)) return std::nullopt;
    if (&spec == &answers::kernel_history && summary() != nullptr && summary()->checkpoints.size() < 2)
        return std::nullopt;
    Question question = is_requested ? *entry->second.requested : Question{};
    question.what = kind.name;
    if (spec.count > 0) question.count = spec.count;
    if (!kind.reads_text)
        question.text.clear();
    else if (spec.dependsOnText())
        question.text = text_.toStdString();
    if (kind.heads == QuestionKind::Heads::one || question.positions) {
        question.layer = layer_;
        question.head = head_;
    }
    if (&spec == &answers::token_map) question.distance = distance_;
    if (&spec == &answers::walkthrough) question.token = token_;
    const ModelChange scaled = question.change;  // scaling for longer texts
    question.change = spec.dependsOnChange() ? change_ : ModelChange{};
    if (&spec == &answers::lengths) {
        question.change.factor = scaled.factor;
        question.change.original_length = scaled.original_length;
    }
    return question;
}

/// The step of the checkpoint to ask; nothing for a published model, and for a run whose trainer answers.
std::optional<std::int64_t> InspectState::stepFor(const AnswerSpec& spec) const {
    const RunWatcher* run = this->run();
    if (!spec.is_live || chosen_step_ || run == nullptr) return step_;
    if (run->isActive() || known_checkpoints_.empty()) return std::nullopt;
    return known_checkpoints_.back();
}

void InspectState::askNext() {
    if (pending_ != nullptr || model_.isEmpty()) return;
    AnswerSpecs wanted = required_answers_;
    for (const auto& [name, entry] : entries_)
        if (entry.requested) wanted.push_back(entry.spec);
    if (!wanted.empty()) wanted.insert(wanted.begin(), &answers::model);
    constexpr qsizetype kMaxTextBytes = 60000;  // bytes: limit of a socket message
    if (text_.toUtf8().size() > kMaxTextBytes && summary() != nullptr) {
        setMessage(
            tr("The text has %1 bytes; this page reads at most %2. “roper-train look --text-file” reads "
               "longer ones.")
                .arg(text_.toUtf8().size())
                .arg(kMaxTextBytes));
        return;
    }
    for (const AnswerSpec* spec : wanted) {
        const auto question = questionFor(*spec);
        const Entry& entry = entryOf(*spec);
        if (!question || entry.known == question || entry.refused == question) continue;
        if (spec != &answers::model && summary() == nullptr) return;  // the model could not be opened
        pending_ = spec;
        sent_question_ = *question;
        progress_ = -1;
        Request request{Command::question, "1"};
        request.question = questionSettings(*question);
        emit answerOrProgressChanged();
        client_.ask({model_, request, stepFor(*spec)});
        return;
    }
    emit answerOrProgressChanged();
}

}  // namespace roper
