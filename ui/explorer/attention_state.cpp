#include "ui/explorer/attention_state.h"

#include <utility>

#include "core/base/error.h"
#include "core/tasks/task.h"
#include "ui/charts/figure_request.h"
#include "ui/live/example_text.h"
#include "ui/live/published_models.h"
#include "ui/live/token_texts.h"

namespace roper {
namespace {

constexpr int kLive_ms = 2000;  // interval of queries to a model in training

/// A setup with the rotation of a run's model.
Setup asInTheRun(Setup setup, const RunHead& head) {
    RotaryConfig rotation = head.model.rotation;
    rotation.scaling = setup.scaling;
    rotation.scaling.method = ScalingMethod::none;
    static_cast<RotaryConfig&>(setup) = rotation;
    setup.value_rotary_fraction = head.model.value_rotary_fraction;
    const PositionMethod& method = positionMethod(head.model.position);
    // A run's additive embeddings are already in its q and k, so its heads use no method.
    setup.method = method.adds_to_embeddings ? "none" : method.name;
    setup.attention = head.model.attention;
    if (!method.rotates) setup.rotary_fraction = setup.value_rotary_fraction = 0;
    setup.learned = head.learned;
    setup.causal = head.model.causal;
    setup.heads = head.model.heads;
    setup.blend = 1;
    setup.mistake = Mistake::none;
    setup.muted.clear();
    return setup;
}

}  // namespace

AttentionState::AttentionState(Selection& selection, RunStore& runs, QObject* parent)
    : QObject(parent), selection_(selection), runs_(runs), source_(runs, nullptr) {
    connect(&selection_, &Selection::changed, this, &AttentionState::follow);
    connect(&source_, &HeadSource::answered, this, &AttentionState::takeRun);
    connect(&source_, &HeadSource::failed, this, &AttentionState::takeFailure);
    // A session may name a run before the folder has been read.
    connect(&runs_, &RunStore::runAdded, this, [this](const RunWatcher* run) {
        const bool is_wanted = setup().source == Source::run && run->name().toStdString() == setup().run;
        if (is_wanted && !isReady() && !asking_) askRun();
    });
    live_.setInterval(kLive_ms);
    connect(&live_, &QTimer::timeout, this, [this] {
        const RunWatcher* run = runs_.find(QString::fromStdString(setup().run));
        if (watchers_ > 0 && !asking_ && run != nullptr && run->state() == RunState::running) askRun();
    });
    follow();
}

void AttentionState::follow() {
    message_.clear();
    if (setup().source == Source::run)
        live_.start();
    else
        live_.stop();
    takeVectors();
    if (isReady())
        finish();
    else
        heads_ = {};
    emit changed();
}

/// Takes the vectors for the setup, or sets a message that says why there are none.
void AttentionState::takeVectors() {
    const Setup& s = setup();
    if (s.source == Source::run) return takeVectorsOfRun();
    const std::tuple wanted{s.tokens, s.head_dim, s.seed, s.similarity};
    if (s.source == Source::hand) {
        heads_ = s.by_hand;
        random_of_.reset();
    } else if (random_of_ != wanted || heads_.tokens() == 0) {
        heads_ = randomHeadVectors(s.tokens, s.head_dim, s.seed, s.similarity);
        random_of_ = wanted;
    }
}

void AttentionState::takeVectorsOfRun() {
    const Setup& s = setup();
    random_of_.reset();
    const HeadQuestion wanted{QString::fromStdString(s.run), s.layer, s.head,
                              QString::fromStdString(s.run_text)};
    if (asked_ != wanted) {
        asked_ = wanted;
        askRun();
    }
    if (!run_head_ || run_head_->question != wanted) {
        message_ = asking_ ? tr("Asking “%1” …").arg(modelTitle(wanted.run)) : failure_;
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
        message_ = tr("The heads of “%1” have %2 features; even widths up to %3 can be shown.")
                       .arg(wanted.run)
                       .arg(width)
                       .arg(bounds::kMostHeadDim);
}

void AttentionState::askRun() {
    asking_ = true;
    failure_.clear();
    source_.ask(*asked_);
}

void AttentionState::takeFailure(const QString& why) {
    asking_ = false;
    failure_ = why;
    if (setup().source == Source::run) follow();
}

void AttentionState::takeRun(const RunHead& head) {
    asking_ = false;
    run_head_ = head;
    if (setup().source != Source::run) return;
    takeLearned(head.learned);
    if (std::exchange(adopted_run_, {}) == head.question.run) {
        const Setup before = setup();
        selection_.set(asInTheRun(before, head), tr("Run"));
        if (!(setup() == before)) return;  // `follow` has handled it
    }
    follow();
}

/// Parameters learned by the run are not a change by the user, so there is no undo step.
void AttentionState::takeLearned(const Learned& learned) {
    if (setup().learned == learned) return;
    Setup with = setup();
    with.learned = learned;
    selection_.replace(with);
}

void AttentionState::finish() {
    const Setup& s = setup();
    names_.clear();
    if (s.source == Source::run) {
        for (const std::string& token : run_head_->tokens)
            names_ << shownToken(token);
    } else {
        names_ = QString::fromStdString(s.words).split(' ', Qt::SkipEmptyParts);
    }
    // With fewer words than tokens no token is named; surplus words do no harm.
    names_ = names_.size() >= tokens() ? names_.mid(0, tokens()) : QStringList();
    rule_ = scoreRule(s);
    score_row_ = roper::scoreRow(rule_, heads_, query(), s.shift);
    weight_row_ = roper::weightRow(rule_, heads_, score_row_, query());
    mixed_ = mixedValues(setup(), weight_row_, heads_.V, query(), key());
}

QString AttentionState::tokenText(int token) const {
    if (token >= names_.size()) return QString::number(token);
    return QStringLiteral("%1 “%2”").arg(token).arg(names_[token]);
}

QString AttentionState::mixedText() const {
    switch (setup().shownMixture()) {
        case Mixture::one:
            return tr("one token with all the weight");
        case Mixture::two:
            return tr("two equal values, one of them at the query");
        case Mixture::all:
            break;
    }
    return sourceText();
}

QString AttentionState::sourceText() const {
    const Setup& s = setup();
    if (s.source == Source::random)
        return tr("random vectors, seed %1, similarity %2").arg(s.seed).arg(s.similarity);
    if (s.source == Source::hand) return tr("vectors set by hand");
    const QString model = QString::fromStdString(s.run);
    if (run_head_ && run_head_->model.step < 0)  // a published model: only runs have steps
        return tr("layer %1, head %2 of %3").arg(s.layer).arg(s.head).arg(modelTitle(model));
    return tr("layer %1, head %2 of %3 at step %4")
        .arg(s.layer)
        .arg(s.head)
        .arg(model)
        .arg(run_head_ ? run_head_->model.step : 0);
}

void AttentionState::useRun(const QString& run) {
    Setup next = setup();
    next.source = Source::run;
    next.run = run.toStdString();
    if (const RunWatcher* watcher = runs_.find(run)) {
        // A text of another task has characters unknown to this model.
        const auto other = runs_.find(QString::fromStdString(setup().run));
        const bool same_task = other != nullptr && other->specification() && watcher->specification() &&
                               other->specification()->task.name == watcher->specification()->task.name;
        if (next.run_text.empty() || !same_task) next.run_text = exampleText(*watcher).toStdString();
    } else if (isPublishedModel(run) && !isPublishedModel(QString::fromStdString(setup().run))) {
        next.run_text = exampleProse().toStdString();
    }
    next.layer = 0;
    next.head = 0;
    adopted_run_ = run;
    if (run_head_ && run_head_->question.run == run) run_head_.reset();  // so that it is asked again
    asked_.reset();
    selection_.set(next, tr("Run"));
    if (!asked_) follow();  // the setup has not changed
}

void AttentionState::adopt(const std::string& run, const std::function<Setup(const Setup&)>& change) {
    if (run.empty()) {
        const Setup wanted = change(Setup{});
        if (wanted.source == Source::run) throw Error(ErrorKind::usage, "source=run needs a run: --run NAME");
        return selection_.replace(wanted);
    }
    const auto wait = [this, &run] {
        waitWhile([this] { return asking_; }, "the answer of \"" + run + "\"", std::chrono::minutes(1));
    };
    runs_.readAll();
    useRun(QString::fromStdString(run));
    wait();
    selection_.replace(change(setup()));
    wait();
    if (!isReady()) throw Error(ErrorKind::usage, message().toStdString());
}

}  // namespace roper
