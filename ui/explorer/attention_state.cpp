#include "ui/explorer/attention_state.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/control/messages.h"
#include "core/explorer/setup_fields.h"
#include "core/tasks/task.h"
#include "ui/live/published_models.h"
#include "ui/live/run_texts.h"
#include "ui/live/token_texts.h"
#include "ui/page/page_figures.h"

namespace roper {
namespace {

constexpr int kPollInterval_ms = 2000;  // interval of queries to a model in training

/// A setup with the rotation of a run's model.
Setup asInTheRun(Setup setup, const RunHead& head) {
    RotaryConfig rotation = head.model.rotation;
    rotation.scaling = setup.scaling;
    rotation.scaling.method = ScalingMethod::none;
    static_cast<RotaryConfig&>(setup) = rotation;
    setup.value_rotary_fraction = head.model.value_rotary_fraction;
    setup.value_rotation_strength = head.model.value_rotation_strength;
    const PositionMethod& method = positionMethod(head.model.position);
    // A run's additive embeddings are already in its q and k, so its heads use no method.
    setup.method = method.adds_to_embeddings ? "none" : method.name;
    setup.attention = head.model.attention;
    if (!method.rotates()) setup.rotary_fraction = setup.value_rotary_fraction = 0;
    setup.learned = head.learned;
    setup.rotates = head.learned.specific_settings.text("rotates");
    setup.causal = head.model.causal;
    setup.heads = head.model.heads;
    setup.shared_key_value = false;
    setup.mistake = Mistake::none;
    setup.ablated_pairs.clear();
    return setup;
}

/// Undoes the adoption of a run: members that still have the run's values get the user's own again.
/// @param adopted  the setup just after the adoption
Setup withoutRunSettings(Setup setup, const Setup& adopted, const Setup& own) {
    // These are kept for when a run is chosen again.
    constexpr std::string_view kChoiceOfHead[] = {"run", "run_text", "layer", "head"};
    setup.learned = own.learned;
    for (const SetupField& field : setupFields()) {
        if (std::ranges::count(kChoiceOfHead, field.key()) > 0) continue;
        const std::string of_run = field.text(adopted), users = field.text(own);
        if (users != of_run && field.text(setup) == of_run) field.set(setup, users);
    }
    return setup;
}

}  // namespace

AttentionState::AttentionState(Selection& selection, RunStore& runs, QObject* parent)
    : QObject(parent), selection_(selection), runs_(runs), client_(runs, nullptr) {
    connect(&selection_, &Selection::changed, this, &AttentionState::onSelectionChanged);
    connect(&client_, &ModelClient::failed, this, &AttentionState::onFailed);
    connect(&client_, &ModelClient::answered, this, [this](const ModelQuestion&, const QByteArray& payload) {
        try {
            applyRunHead(readRunHead(*pending_question_, payload));
        } catch (const Error& error) {
            onFailed(QString::fromStdString(error.what()));
        }
    });
    // A restored setup may name a run before the folder of runs has been read.
    connect(&runs_, &RunStore::runAdded, this, [this](const RunWatcher* run) {
        const bool is_wanted =
            setup().source == VectorSource::run && run->name().toStdString() == setup().run;
        if (is_wanted && !isReady() && !is_asking_) requestVectors();
    });
    poll_timer_.setInterval(kPollInterval_ms);
    connect(&poll_timer_, &QTimer::timeout, this, [this] {
        const RunWatcher* run = runs_.find(QString::fromStdString(setup().run));
        if (visible_pages_ > 0 && !is_asking_ && run != nullptr && run->state() == RunState::running)
            requestVectors();
    });
    onSelectionChanged();
}

void AttentionState::onSelectionChanged() {
    const bool is_run = setup().source == VectorSource::run;
    if (std::exchange(was_run_, is_run) && !is_run && setup_from_run_) {
        const Setup without = sanitized(withoutRunSettings(setup(), *setup_from_run_, own_));
        if (!(without == setup())) return selection_.replace(without);  // calls this function again
    }
    if (!is_run) own_ = setup();
    message_.clear();
    if (is_run)
        poll_timer_.start();
    else
        poll_timer_.stop();
    updateVectors();
    if (isReady())
        updateDerived();
    else
        heads_ = {};
    emit changed();
}

/// Takes the vectors for the setup, or sets a message that says why there are none.
void AttentionState::updateVectors() {
    const Setup& s = setup();
    if (s.source == VectorSource::run) return updateRunVectors();
    const std::tuple wanted{s.tokens, s.head_dim, s.seed, s.similarity, s.shared_key_value};
    if (s.source == VectorSource::hand) {
        heads_ = s.manual_vectors;
        random_parameters_.reset();
    } else if (random_parameters_ != wanted || heads_.tokens() == 0) {
        heads_ = randomHeadVectors(s.tokens, s.head_dim, s.seed, s.similarity);
        random_parameters_ = wanted;
    }
    if (s.shared_key_value) heads_.V = heads_.K;
}

void AttentionState::updateRunVectors() {
    const Setup& s = setup();
    random_parameters_.reset();
    const HeadQuestion wanted{QString::fromStdString(s.run), s.layer, s.head,
                              QString::fromStdString(s.run_text)};
    if (pending_question_ != wanted) {
        pending_question_ = wanted;
        requestVectors();
    }
    if (!run_head_ || run_head_->question != wanted) {
        message_ = is_asking_ ? tr("Asking “%1” …").arg(runs_.titleOf(wanted.run)) : failure_;
        return;
    }
    heads_ = run_head_->vectors;
    const auto width = static_cast<int>(heads_.Q.cols());
    if (width == s.head_dim) return;
    // The dimension of given vectors cannot be changed.
    Setup fitting = s;
    fitting.head_dim = width;
    if (sanitized(fitting).head_dim == width)
        selection_.replace(fitting);
    else
        message_ = tr("The heads of “%1” have %2 features; only even widths up to %3 can be shown.")
                       .arg(runs_.titleOf(wanted.run))
                       .arg(width)
                       .arg(bounds::kMaxHeadDim);
}

void AttentionState::requestVectors() {
    is_asking_ = true;
    failure_.clear();
    Request request{Command::head, "1"};
    request.layer = pending_question_->layer;
    request.head = pending_question_->head;
    request.text = pending_question_->text.toStdString();
    client_.ask({pending_question_->run, request});
}

void AttentionState::onFailed(const QString& why) {
    is_asking_ = false;
    failure_ = why;
    if (setup().source == VectorSource::run) onSelectionChanged();
}

void AttentionState::applyRunHead(const RunHead& head) {
    is_asking_ = false;
    run_head_ = head;
    if (setup().source != VectorSource::run) return;
    followTraining(head);
    if (std::exchange(run_to_apply_, {}) == head.question.run) {
        const Setup before = setup();
        setup_from_run_ = sanitized(asInTheRun(before, head));
        selection_.set(*setup_from_run_, tr("Run"));
        if (!(setup() == before)) return;  // `onSelectionChanged` has handled it
    }
    onSelectionChanged();
}

/// Takes over what training changes: the learned parameters, and the strength of the value rotation during
/// its warm-up unless the user has chosen another. This is not a change by the user, so there is no undo
/// step.
void AttentionState::followTraining(const RunHead& head) {
    Setup now = setup();
    now.learned = head.learned;
    if (setup_from_run_ && now.value_rotation_strength == setup_from_run_->value_rotation_strength)
        now.value_rotation_strength = setup_from_run_->value_rotation_strength =
            head.model.value_rotation_strength;
    if (!(now == setup())) selection_.replace(now);
}

/// Updates the tokens' names, the chosen query's scores and weights, and the values that it mixes.
void AttentionState::updateDerived() {
    const Setup& s = setup();
    names_ = s.source == VectorSource::run ? formatTokens(run_head_->tokens)
                                           : QString::fromStdString(s.words).split(' ', Qt::SkipEmptyParts);
    // With fewer words than tokens no token is named; surplus words do no harm.
    names_ = names_.size() >= tokens() ? names_.mid(0, tokens()) : QStringList();
    rule_ = scoreFormula(s);
    score_row_ = roper::scoreRow(rule_, heads_, query(), s.shift);
    weight_row_ = roper::weightRow(rule_, heads_, score_row_, query());
    mixed_ = mixedValues(setup(), weight_row_, heads_.V, query(), key());
}

Eigen::VectorXd AttentionState::outputRow(const AttentionForm& form, double shift) const {
    return roper::outputRow(form, mixed_.weights, mixed_.V, consecutivePositions(tokens(), shift), query());
}

ValueChain AttentionState::valueChain(const AttentionForm& form, double shift) const {
    return roper::valueChain(form, mixed_.weights, mixed_.V, consecutivePositions(tokens(), shift), query(),
                             setup().pair);
}

QString AttentionState::tokenText(int token) const {
    if (token >= names_.size()) return QString::number(token);
    return QStringLiteral("%1 “%2”").arg(token).arg(names_[token]);
}

QString AttentionState::mixedText() const {
    switch (setup().effectiveMixedTokens()) {
        case MixedTokens::one:
            return tr("one token with all the weight");
        case MixedTokens::two:
            return tr("two equal values, one of them at the query");
        case MixedTokens::all:
            break;
    }
    return sourceText();
}

QString AttentionState::sourceText() const {
    const Setup& s = setup();
    if (s.source == VectorSource::random)
        return tr("random vectors, seed %1, similarity %2").arg(s.seed).arg(s.similarity);
    if (s.source == VectorSource::hand) return tr("vectors from the table");
    const QString model = runs_.titleOf(QString::fromStdString(s.run));
    const QString head = tr("layer %1, head %2 of %3").arg(s.layer).arg(s.head).arg(model);
    const std::int64_t step = run_head_ ? run_head_->model.step : 0;
    // A published model has no steps.
    return step < 0 ? head : tr("%1 at step %2").arg(head, QString::number(step));
}

void AttentionState::useRun(const QString& run) {
    Setup next = setup();
    next.source = VectorSource::run;
    next.run = run.toStdString();
    if (const RunWatcher* watcher = runs_.find(run)) {
        // A text of another task may have characters unknown to this model.
        const auto other = runs_.find(QString::fromStdString(setup().run));
        const bool same_task = other != nullptr && other->specification() && watcher->specification() &&
                               other->specification()->task.name == watcher->specification()->task.name;
        if (next.run_text.empty() || !same_task) next.run_text = exampleText(*watcher).toStdString();
    } else if (isPublishedModel(run) && !isPublishedModel(QString::fromStdString(setup().run))) {
        next.run_text = exampleProse().toStdString();
    }
    next.layer = 0;
    next.head = 0;
    run_to_apply_ = run;
    if (run_head_ && run_head_->question.run == run) run_head_.reset();  // so that the run is asked again
    pending_question_.reset();
    selection_.set(next, tr("Run"));
    if (!pending_question_) onSelectionChanged();  // the setup has not changed
}

void AttentionState::loadForFigure(const std::string& run, const std::function<Setup(const Setup&)>& change) {
    if (run.empty()) {
        const Setup wanted = change(Setup{});
        if (wanted.source == VectorSource::run)
            throw Error(ErrorKind::usage, "source=run needs a run: --run NAME");
        return selection_.replace(wanted);
    }
    const auto wait = [this, &run] {
        waitWhile([this] { return is_asking_; }, "the answer of \"" + run + "\"", std::chrono::minutes(1));
    };
    runs_.readAll();
    useRun(QString::fromStdString(run));
    wait();
    selection_.replace(change(setup()));
    wait();
    if (!isReady()) throw Error(ErrorKind::usage, message().toStdString());
}

}  // namespace roper
