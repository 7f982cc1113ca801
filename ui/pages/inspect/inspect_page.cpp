#include "ui/pages/inspect/inspect_page.h"

#include <QFormLayout>
#include <QHBoxLayout>
#include <QSplitter>
#include <algorithm>
#include <array>

#include "ui/live/example_text.h"
#include "ui/live/published_models.h"
#include "ui/live/token_texts.h"
#include "ui/pages/inspect/inspect_fields.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

QStringList labelsOf(const std::vector<std::string>& tokens) {
    QStringList labels;
    for (const std::string& token : tokens)
        labels << shownToken(token);
    return labels;
}

}  // namespace

InspectPage::InspectPage(RunStore& store, QWidget* parent)
    : Page(tr("Inspect"),
           tr("Inside a model: what every head looks at, what the model generates after a text, and what it "
              "can solve."),
           parent),
      store_(store),
      state_(new InspectState(store, this)),
      beside_state_(new InspectState(store, this)),
      tabs_(new QTabWidget),
      thumbnails_(new ThumbnailsView(*state_, this)),
      beside_thumbnails_(new ThumbnailsView(*beside_state_, this)),
      map_(new HeatMapView(QStringLiteral("head"), this)),
      beside_map_(new HeatMapView(QStringLiteral("head"), this)),
      sizes_(new SizesView(*state_, this)),
      beside_sizes_(new SizesView(*beside_state_, this)),
      continuation_(new ContinuationView(*state_, this)),
      beside_continuation_(new ContinuationView(*beside_state_, this)),
      learned_(new LearnedView(*state_, this)) {
    auto* chooser = makeChooser();
    tabs_->addTab(makeHeadsTab(), tr("Heads"));
    tabs_->addTab(makeGenerationTab(), tr("Generate"));
    tabs_->addTab(makeSizesTab(), tr("Solved by size"));
    tabs_->addTab(learned_, tr("Learned positions"));
    contents()->addWidget(chooser);
    contents()->addWidget(tabs_, 1);
    contents()->addWidget(message_);

    connect(state_, &InspectState::runChanged, this, &InspectPage::showRun);
    connect(state_, &InspectState::snapshotsChanged, this, &InspectPage::showSnapshots);
    connect(state_, &InspectState::checkpointsChanged, this, &InspectPage::fillSteps);
    connect(state_, &InspectState::mapsChanged, this, [this] {
        showSnapshots();
        showMap();
    });
    connect(state_, &InspectState::headChanged, this, &InspectPage::showMap);
    connect(state_, &InspectState::continuationChanged, this, &InspectPage::fillHeads);
    for (InspectState* state : {state_, beside_state_})
        connect(state, &InspectState::sizesChanged, this, &InspectPage::showSizes);
    for (SizesView* view : {sizes_, beside_sizes_})
        connect(view, &SizesView::pointed, this, [this](const QString& text) { setReadout(text); });
    connect(state_, &InspectState::messageChanged, this, &InspectPage::showMessage);
    for (FigureView* view : std::initializer_list<FigureView*>{
             thumbnails_, beside_thumbnails_, map_, beside_map_, continuation_, beside_continuation_})
        connect(view, &FigureView::pointed, this, [this](const QString& text) { setReadout(text); });
    connect(&learned_->chart(), &CurveChart::pointed, this,
            [this](const QString& text) { setReadout(text); });
    connect(&store_, &RunStore::runAdded, this, &InspectPage::fillRuns);
    connect(&store_, &RunStore::runRemoved, this, &InspectPage::fillRuns);
    pictures().set(
        [this] {
            PageFigures::Figures all{thumbnails_, map_, continuation_, &sizes_->map(), &learned_->chart()};
            if (!beside_state_->run().isEmpty())
                all.insert(all.end(),
                           {beside_thumbnails_, beside_map_, beside_continuation_, &beside_sizes_->map()});
            return all;
        },
        infosOf(inspectFields()),
        [this](FigureRequest request) -> Figure& { return prepareFigure(std::move(request)); });
    const auto is_there = [this](const std::string& name) {
        const QString model = QString::fromStdString(name);
        return store_.find(model) != nullptr || isPublishedModel(model);
    };
    keepTab("view.inspect", *tabs_);
    keep(
        "view.inspect_run", [this] { return state_->run().toStdString(); },
        [this, is_there](const std::string& run) {
            if (!run.empty() && is_there(run)) state_->setRun(QString::fromStdString(run));
        });
    keep(
        "view.inspect_beside", [this] { return beside_state_->run().toStdString(); },
        [this](const std::string& run) {
            if (!run.empty() && store_.find(QString::fromStdString(run)) != nullptr)
                setBeside(QString::fromStdString(run));
        });
    connect(&player_, &QTimer::timeout, this, [this] {
        const int next = state_->snapshot() + 1;
        if (next >= static_cast<int>(state_->snapshots().size())) return play();
        state_->showSnapshot(next);
    });
    connectBeside();
    fillRuns();
    showRun();
}

/// Who opens the page wants to see something: of the runs with snapshots the last by name, and names begin
/// with the time.
void InspectPage::becomeSeen(bool seen) {
    if (!seen || !state_->run().isEmpty()) return;
    const std::vector<RunWatcher*> runs = store_.runs();
    for (auto run = runs.rbegin(); run != runs.rend(); ++run)
        if ((*run)->specification() && (*run)->hasSnapshots()) return state_->setRun((*run)->name());
}

void InspectPage::fillRuns() {
    QStringList names;
    for (const RunWatcher* run : store_.runs())
        if (run->specification()) names << run->name();
    names << publishedModels();
    QStringList shown;
    for (int i = 0; i < runs_->count(); ++i)
        shown << runs_->itemData(i).toString();
    if (names != shown) {
        runs_->clear();
        for (const QString& name : names)
            runs_->addItem(modelTitle(name), name);
    }
    runs_->setCurrentIndex(static_cast<int>(names.indexOf(state_->run())));
    runs_->setEnabled(!names.isEmpty());
    beside_listing_.start();
}

void InspectPage::fillSteps() {
    const QScopedValueRollback filling(filling_, true);
    steps_->clear();
    steps_->addItem(tr("its newest step"));
    for (const std::int64_t step : state_->checkpoints()) {
        steps_->addItem(tr("checkpoint %1").arg(step), QVariant::fromValue<qlonglong>(step));
        if (state_->step() == step) steps_->setCurrentIndex(steps_->count() - 1);
    }
    if (steps_->currentIndex() == 0) state_->setStep(std::nullopt);  // the one that was chosen is gone
}

void InspectPage::showRun() {
    fillRuns();
    fillSteps();
    const RunWatcher* run = store_.find(state_->run());
    const bool is_published = isPublishedModel(state_->run());
    const bool is_there = run != nullptr || is_published;
    for (QWidget* widget : std::initializer_list<QWidget*>{steps_, look_, generate_, text_, prompt_})
        widget->setEnabled(is_there);
    const Specification* s = run != nullptr && run->specification() ? &*run->specification() : nullptr;
    const bool has_problems = s != nullptr && s->task.hasProblems();
    const bool writes = is_there && !(s != nullptr && s->isMasked());
    generate_->setEnabled(writes);
    generate_->setToolTip(writes || !is_there
                              ? tr("Let the model continue the prompt")
                              : tr("This model predicts masked tokens from both sides; it cannot "
                                   "generate"));
    count_sizes_->setEnabled(has_problems);
    problems_->setEnabled(has_problems);
    // A solution may be nearly as long as the sequences that were trained on.
    constexpr int kOfAText = 64, kOfALanguageModel = 24;
    if (is_there && state_->run() != shown_run_)
        count_->setValue(has_problems   ? static_cast<int>(s->training.length)
                         : is_published ? kOfALanguageModel
                                        : kOfAText);
    // A prompt of another kind of model means nothing to this one.
    const bool other_kind = !shown_run_.isEmpty() && isPublishedModel(shown_run_) != is_published;
    if (is_there && (prompt_->text().isEmpty() || other_kind))
        prompt_->setText(is_published ? exampleProse() : examplePrompt(*run));
    shown_run_ = is_there ? state_->run() : QString();
    showSnapshots();
    showMap();
    showSizes();
    emit explanationChanged();
}

void InspectPage::showSnapshots() {
    const QScopedValueRollback filling(filling_, true);
    const auto count = static_cast<int>(state_->snapshots().size());
    scrubber_->setRange(0, std::max(0, count - 1));
    scrubber_->setValue(std::max(0, state_->snapshot()));
    scrubber_->setEnabled(count > 1);
    play_->setEnabled(count > 1);
    scrubber_label_->setText(isPublishedModel(state_->run()) ? QString()
                             : count == 0                    ? tr("no snapshots")
                             : state_->maps() && !state_->showsSnapshot()
                                 ? tr("your text at step %1").arg(state_->maps()->step)
                             : state_->maps() ? tr("step %1 (snapshot %2 of %3)")
                                                    .arg(state_->maps()->step)
                                                    .arg(state_->snapshot() + 1)
                                                    .arg(count)
                                              : tr("%1 snapshots").arg(count));
}

void InspectPage::showMap() {
    showMapOf(*state_, *map_, *map_title_);
    emit explanationChanged();
}

void InspectPage::showMapOf(const InspectState& state, HeatMapView& view, QLabel& title) const {
    const auto& maps = state.maps();
    const QString of_run = beside_state_->run().isEmpty() ? QString() : state.run() + QStringLiteral(": ");
    title.setText(!maps ? QString()
                  : maps->step < 0
                      ? of_run + headTitle(*maps, state.head())
                      : of_run + tr("%1, step %2").arg(headTitle(*maps, state.head())).arg(maps->step));
    title.setToolTip(title.text());
    if (!maps) {
        view.setMap({});
        return;
    }
    HeatMapView::Map map;
    map.values = maps->weights[state.head()];
    map.scale = HeatMapView::Scale::sequential;
    map.lower_only = maps->causal;
    map.limit = HeatMapView::limitOf(*map.values, map.lower_only);
    map.pyramid = HeatMapView::makePyramid(*map.values, map.scale, map.limit, map.lower_only);
    map.row_name = tr("query");
    map.column_name = tr("key");
    map.value_name = tr("weight");
    map.row_labels = map.column_labels = labelsOf(maps->tokens);
    view.setCaption(tr("Attention of %1 of %2, text “%3”")
                        .arg(headTitle(*maps, state.head()), modelAtStep(state.run(), maps->step),
                             QString::fromStdString(maps->text)));
    const QRectF kept = view.shownCells();
    const bool same_text = view.map().values && view.map().values->rows() == map.values->rows();
    view.setMap(std::move(map));
    if (same_text) view.showCells(kept);  // the place that is looked at stays while time runs
}

bool InspectPage::isCountingSizes() const {
    return state_->isCountingSizes() || beside_state_->isCountingSizes();
}

void InspectPage::showSizes() {
    count_sizes_->setText(isCountingSizes() ? tr("Cancel") : tr("Solve"));
    with_working_->setVisible(sizes_->hasWorking() || beside_sizes_->hasWorking());
}

void InspectPage::countSizes() {
    const bool stops = isCountingSizes();
    if (!stops) matchCheckpoint();
    for (InspectState* state : {state_, beside_state_}) {
        if (stops)
            state->stopAskingForSizes();
        else if (!state->run().isEmpty())
            state->askForSizes(problems_->value());
    }
}

void InspectPage::showMessage() {
    QStringList messages{state_->message()};
    if (!beside_state_->message().isEmpty())
        messages << beside_state_->run() + QStringLiteral(": ") + beside_state_->message();
    messages.removeAll(QString());
    message_->setText(messages.join('\n'));
    message_->setVisible(!messages.isEmpty());
    const bool asks = state_->isAsking() || beside_state_->isAsking();
    look_->setText(asks ? tr("…") : tr("Look"));
    generate_->setText(asks ? tr("…") : tr("Generate"));
}

void InspectPage::fillHeads() {
    const QScopedValueRollback filling(filling_, true);
    generation_head_->clear();
    generation_head_->addItem(tr("mean of all heads"));
    if (const auto& c = state_->continuation())
        for (int head = 0; head < c->layers * c->heads; ++head)
            generation_head_->addItem(tr("layer %1, head %2").arg(head / c->heads).arg(head % c->heads));
}

QString InspectPage::explanation() const {
    QString text = tr(
        "<h3>What a head does</h3>"
        "<p>a<sub>n,j</sub> is the weight with which query n looks at key j (j ≤ n, unless the model looks "
        "both ways). Over the T queries of the text:</p>"
        "<p>entropy = −(1/T) Σ<sub>n</sub> Σ<sub>j</sub> a<sub>n,j</sub> log a<sub>n,j</sub><br>"
        "mean distance = (1/T) Σ<sub>n</sub> Σ<sub>j</sub> a<sub>n,j</sub> |n − j|<br>"
        "diagonal = max over δ of the mean of a<sub>n,n−δ</sub></p>");
    if (state_->maps()) {
        const HeadStatistics& s = state_->maps()->statistics[state_->head()];
        text += tr("<p>Here, %1 of %2: entropy %3 nats, mean distance %4; at distance %5 lies %6 % of the "
                   "weight.</p>")
                    .arg(headTitle(*state_->maps(), state_->head()),
                         modelAtStep(state_->run(), state_->maps()->step).toHtmlEscaped())
                    .arg(noteNumber(s.entropy, 4), noteNumber(s.mean_distance, 4))
                    .arg(s.diagonal_distance)
                    .arg(noteNumber(100 * s.diagonal, 3));
    }
    return text +
           tr("<p>Snapshots are taken while the run trains (setting snapshots.every), always of the same "
              "text. A text of your own is read by the model itself: by its trainer "
              "between two steps, or by its checkpoint.</p>"
              "<p>Generating: p(next) = softmax(logits), whatever the temperature that it is drawn "
              "at; the shading is the row of "
              "a<sub>n,j</sub> behind the framed token.</p>"
              "<p>Learned positions: trained frequencies begin at θ<sub>i</sub>; Su found that they hardly "
              "move. "
              "AdamW moves each by about its learning rate a step, whatever its size, so slow frequencies "
              "move "
              "farthest in proportion; training.frequency_rate slows them down.</p>"
              "<p><i>Attention: Vaswani et al., Attention Is All You Need, 2017; trained frequencies: Su, "
              "2021"
              "</i></p>");
}

}  // namespace roper
