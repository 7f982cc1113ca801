#include "ui/pages/inspect/inspect_page.h"

#include <QScrollBar>
#include <QStyledItemDelegate>
#include <algorithm>
#include <cmath>

#include "ui/controls/layout_helpers.h"
#include "ui/live/published_models.h"
#include "ui/live/run_store.h"
#include "ui/pages/inspect/inspect_fields.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

constexpr int kMinPanelHeight = 320;  // pixels; in a lower window, the page scrolls

/// The text, empty, of view settings that are restored but never stored.
std::string nothing() {
    return {};
}

/// Adds space above and below the text of each row. Gaps between rows could not be clicked.
class RoomyRows : public QStyledItemDelegate {
  public:
    using QStyledItemDelegate::QStyledItemDelegate;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        return QStyledItemDelegate::sizeHint(option, index) + QSize(zoomed(4), zoomed(4));
    }
};

/// A list as wide as its longest name.
class PanelList : public QListWidget {
  public:
    PanelList() {
        setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
        setFrameShape(QFrame::NoFrame);
        viewport()->setAutoFillBackground(false);
        setItemDelegate(new RoomyRows(this));
        setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Expanding);
    }
    QSize sizeHint() const override {
        const int bar = verticalScrollBar()->sizeHint().width();
        return {sizeHintForColumn(0) + bar, QListWidget::sizeHint().height()};
    }
};

}  // namespace

InspectPage::InspectPage(RunStore& store, QWidget* parent)
    : Page(tr("Inspect"),
           tr("Inside a model, trained here or published: how it predicts your text, what its heads and "
              "their pairs do, how they formed, what it generates, and what breaks when a part is ablated."),
           parent),
      store_(store),
      state_(new InspectState(store, this)),
      comparison_state_(new InspectState(store, this)),
      shown_{*state_, *comparison_state_},
      panels_{new TextPanel(shown_, this),        new HeadsPanel(shown_, this),
              new WalkthroughPanel(shown_, this), new SnapshotsPanel(shown_, this),
              new GenerationPanel(shown_, this),  new PairsPanel(shown_, this),
              new ValuesPanel(shown_, this),      new SubsetsPanel(shown_, this),
              new LengthsPanel(shown_, this),     new LayersPanel(shown_, this),
              new ExpertsPanel(shown_, this),     new PatchPanel(shown_, this),
              new SizesPanel(shown_, this),       new LearnedPanel(shown_, this)},
      chooser_(new PanelList),
      stack_(new QStackedWidget),
      change_(new ChangePanel(*state_, nullptr)) {
    contents()->addWidget(makeChooser());
    addPanels();
    change_area_ = makeScrollArea(change_);
    change_area_->setFixedWidth(zoomed(270));
    stack_->setMinimumHeight(zoomed(kMinPanelHeight));
    contents()->addLayout(rowOf({chooser_, {stack_, 1}, change_area_}), 1);
    contents()->addWidget(message_);
    pageFigures().set(
        [this] {
            PageFigures::Figures all;
            for (const ModelPanel* panel : panels_)
                for (const Figure* figure : panel->figures())
                    all.push_back(figure);
            return all;
        },
        fieldInfos(inspectFields()));
    registerViewSettings();
    connectState();
    fillModels();
    showModel();
    showProgress();
}

void InspectPage::addPanels() {
    named(chooser_, tr("Panel"), tr("What to show of the model; choose with the arrow keys"));
    stack_->addWidget(makeWelcome());
    for (ModelPanel* panel : panels_) {
        auto* item = new QListWidgetItem(panel->title(), chooser_);
        item->setToolTip(panel->help());
        stack_->addWidget(panel);
        connect(panel, &ModelPanel::hovered, this, [this](const QString& text) { setReadout(text); });
        connect(panel, &ModelPanel::requiredAnswersChanged, this, &InspectPage::requestVisibleAnswers);
        connect(panel, &ModelPanel::attentionRequested, this, [this] { showPanel<HeadsPanel>(); });
        connect(panel, &ModelPanel::valuesRequested, this, [this] { showPanel<ValuesPanel>(); });
        connect(panel, &ModelPanel::walkthroughRequested, this, [this] { showPanel<WalkthroughPanel>(); });
    }
    chooser_->setCurrentRow(0);
}

void InspectPage::choose(const ModelPanel& panel) {
    const auto found = std::ranges::find(panels_, &panel);
    chooser_->setCurrentRow(static_cast<int>(found - panels_.begin()));
}

void InspectPage::registerViewSettings() {
    const auto restore = [this](const std::string& model) {
        if (model.empty()) return;
        if (isVisible())
            open(QString::fromStdString(model));
        else
            model_to_restore_ = QString::fromStdString(model);  // opened when the page is shown
    };
    const auto restore_head = [this](const std::string& text) {
        const QString head = QString::fromStdString(text);
        if (!head.isEmpty()) state_->setHead(head.section('.', 0, 0).toInt(), head.section('.', 1).toInt());
    };
    // Settings of older versions, in which two pages, Models and Inspect, had these panels.
    registerViewSetting("view.models_model", nothing, restore);
    registerViewSetting("view.models_head", nothing, restore_head);
    registerViewSetting(
        "view.inspect_run",
        [this] { return (model_to_restore_.isEmpty() ? state_->model() : model_to_restore_).toStdString(); },
        restore);
    registerViewSetting(
        "view.inspect_head",
        [this] { return std::to_string(state_->layer()) + "." + std::to_string(state_->head()); },
        restore_head);
    registerViewSetting(
        "view.inspect_beside", [this] { return comparison_state_->model().toStdString(); },
        [this](const std::string& model) {
            const QString name = QString::fromStdString(model);
            if (store_.find(name) != nullptr || isPublishedModel(name)) setComparison(name);
        });
    registerPanelSetting();
}

/// Stores the title of the shown panel; also restores settings of older versions, which stored its index on
/// one of two pages, and settings that only guided tours contain.
void InspectPage::registerPanelSetting() {
    const auto show_named = [this](const QString& name) {
        for (const ModelPanel* panel : panels_)  // older versions stored the help text
            if (name == panel->title() || name == panel->help()) choose(*panel);
    };
    const QList<const ModelPanel*> models{
        &panel<TextPanel>(),    &panel<HeadsPanel>(),   &panel<PairsPanel>(),  &panel<ValuesPanel>(),
        &panel<SubsetsPanel>(), &panel<LengthsPanel>(), &panel<LayersPanel>(), &panel<PatchPanel>()};
    const QList<const ModelPanel*> inspect{&panel<SnapshotsPanel>(), &panel<GenerationPanel>(),
                                           &panel<SizesPanel>(), &panel<LearnedPanel>()};
    for (const auto& [key, panels] : {std::pair("view.models", models), std::pair("view.inspect", inspect)})
        registerViewSetting(key, nothing, [this, panels = panels](const std::string& text) {
            bool is_number = false;
            const int index = QString::fromStdString(text).toInt(&is_number);
            if (const ModelPanel* former = panels.value(index); is_number && former != nullptr)
                choose(*former);
        });
    registerViewSetting(
        "view.inspect_panel", [this] { return shownPanel().title().toStdString(); },
        [show_named](const std::string& title) {
            show_named(title == "Bands" ? tr("Pairs") : QString::fromStdString(title));  // former title
        });
    registerViewSetting(
        "view.inspect_changes",
        [this] { return changes_wanted_ ? std::string(*changes_wanted_ ? "1" : "0") : std::string(); },
        [this](const std::string& text) {
            changes_wanted_ = text.empty() ? std::nullopt : std::optional(text == "1");
            showOrHideChanges();
        });
    // Guided tours set the texts. They are not stored, because a copied setup should not contain them.
    registerViewSetting("view.inspect_text", nothing, [this](const std::string& text) {
        if (!text.empty()) readText(QString::fromStdString(text));
    });
    registerViewSetting("view.inspect_other", nothing, [this](const std::string& text) {
        if (!text.empty()) panel<PatchPanel>().setOther(QString::fromStdString(text));
    });
}

void InspectPage::inspect(const QString& run, bool with_twin) {
    open(run);
    setComparison(with_twin ? twinNameOf(store_, run) : QString());
}

void InspectPage::connectState() {
    connect(state_, &InspectState::modelChanged, this, &InspectPage::showModel);
    connect(state_, &InspectState::inputsChanged, this, &InspectPage::showOrHideChanges);
    for (auto signal : {&InspectState::inputsChanged, &InspectState::headChanged})
        connect(state_, signal, this, &Page::explanationChanged);
    for (InspectState* state : {state_, comparison_state_})
        for (auto signal : {&InspectState::answerOrProgressChanged, &InspectState::snapshotsChanged})
            connect(state, signal, this, &InspectPage::showProgress);
    connect(comparison_state_, &InspectState::modelChanged, this, &InspectPage::showProgress);
    connect(change_, &ChangePanel::changed, this, [this](const ModelChange& change) {
        // After the first change, tokens are shaded by its effect.
        if (state_->change().isEmpty() && !change.isEmpty())
            panel<TextPanel>().setShade(SurprisalView::Shade::difference);
        state_->setChange(change);
        requestVisibleAnswers();
    });
    connect(chooser_, &QListWidget::currentRowChanged, this, [this] {
        showCurrentPanel();
        requestVisibleAnswers();
        for (InspectState* state : {state_, comparison_state_})
            state->dismissError();
        showProgress();
    });
    connect(state_, &InspectState::inputsChanged, comparison_state_,
            [this] { comparison_state_->setText(state_->text()); });
    connect(state_, &InspectState::modelChanged, comparison_state_,
            [this] { comparison_state_->matchStep(*state_); });
    // Both models show the same head; the comparison model clamps it to the heads that it has.
    const auto link_head = [this] { comparison_state_->setHead(state_->layer(), state_->head()); };
    connect(state_, &InspectState::headChanged, this, link_head);
    connect(comparison_state_, &InspectState::modelChanged, this, link_head);
    for (auto signal : {&InspectState::checkpointsChanged, &InspectState::modelChanged})
        connect(state_, signal, this, &InspectPage::fillSteps);
    connect(&store_, &RunStore::titlesChanged, this, [this] {
        if (isVisible()) fillModels();
    });
}

/// If no model is open, opens the newest run that has snapshots: names of runs begin with the time.
void InspectPage::onVisibilityChanged(bool seen) {
    if (!seen) return;
    fillModels();
    const QString wished = std::exchange(model_to_restore_, {});
    if (store_.find(wished) != nullptr || isPublishedModel(wished)) open(wished);
    const std::vector<RunWatcher*> runs = store_.runs();
    for (auto run = runs.rbegin(); run != runs.rend() && state_->model().isEmpty(); ++run)
        if ((*run)->specification() && (*run)->hasSnapshots()) {
            open((*run)->name());
            showPanel<SnapshotsPanel>();
        }
    if (text_->toPlainText().isEmpty()) {
        text_->setPlainText(exampleProse());
        state_->setText(text_->toPlainText());
    }
}

void InspectPage::refreshHiddenTabs() {
    for (ModelPanel* panel : panels_)
        panel->refreshNow();
}

void InspectPage::readText(const QString& text) {
    if (text != text_->toPlainText()) text_->setPlainText(text);
    state_->setText(text);
    requestVisibleAnswers();  // asks a cancelled question again
}

/// Requests only what the visible panel needs.
void InspectPage::requestVisibleAnswers() {
    if (is_preparing_) return;
    comparison_state_->setRequiredAnswers(shownPanel().comparisonAnswers());
    state_->setRequiredAnswers(shownPanel().requiredAnswers());
}

QStringList InspectPage::comparingPanels() const {
    QStringList titles;
    for (const ModelPanel* panel : panels_)
        if (!panel->comparisonAnswers().empty()) titles << panel->title();
    return titles;
}

void InspectPage::showProgress() {
    const InspectState& busy = state_->isAsking() ? *state_ : *comparison_state_;
    const bool works = busy.isAsking();
    progress_->setVisible(works);
    cancel_->setVisible(works);
    progress_->setRange(0, busy.progress() < 0 ? 0 : 100);
    if (busy.progress() >= 0) progress_->setValue(static_cast<int>(std::lround(100 * busy.progress())));
    QStringList messages;
    for (const InspectState* one : {state_, comparison_state_})
        for (const QString& message : {one->message(), one->snapshots().problem(), one->sizes().message()})
            if (!message.isEmpty())
                messages << (one == state_ ? message : one->title() + QStringLiteral(": ") + message);
    messages.removeDuplicates();
    if (!comparison_state_->model().isEmpty() && shownPanel().comparisonAnswers().empty())
        messages << tr("%1 shows one model; these panels compare: %2.")
                        .arg(shownPanel().title(), comparingPanels().join(QStringLiteral(", ")));
    setTextOrHide(*message_, messages.join('\n'));
    const auto cost = state_->cost();
    if (works)
        cost_->setText(&busy == state_ ? busy.pendingWork()
                                       : busy.title() + QStringLiteral(": ") + busy.pendingWork());
    else if (cost)
        cost_->setText(tr("%1 tokens: a forward pass takes about %2 and %3 of memory")
                           .arg(cost->tokens)
                           .arg(cost->seconds < 1 ? tr("a second") : shortDuration(cost->seconds),
                                QString::fromStdString(formatBytes(cost->bytes))));
    else
        cost_->clear();
}

QString InspectPage::explanation() const {
    QString text = tr(
        "<h3>Looking inside a model</h3>"
        "<p>A separate process reads the model from where it is stored and computes in float32. <i>−ln p</i> "
        "of a token, its surprisal, measures how badly the model predicted it from the preceding tokens (an "
        "encoder: from all others): 0 is certain, 0.69 even odds, 8 about 1 in 3,000. The loss is its "
        "mean.</p>"
        "<h3>Heads</h3>"
        "<p>entropy = −Σ<sub>j</sub> a<sub>n,j</sub> ln a<sub>n,j</sub>, mean distance = Σ<sub>j</sub> "
        "a<sub>n,j</sub> |n − j|, both as means over queries n (in causal models n ≥ 1). A head's label is "
        "given by the first rule that applies: induction (0.4 of the weight on tokens that followed an "
        "earlier occurrence of the query's token), previous token (0.4), same token (0.4), first token "
        "(0.5), local (0.7 on the last eight), content (0.5 of the scores' variance from pairs that complete "
        "no turn within the text, and from features that do not rotate), otherwise mixed.</p>"
        "<h3>Walkthrough</h3>"
        "<p>With x̂ for x after the layer's norm: q<sub>n</sub> = W<sub>Q</sub> x̂<sub>n</sub>, "
        "k<sub>j</sub> = W<sub>K</sub> x̂<sub>j</sub>, v<sub>j</sub> = W<sub>V</sub> x̂<sub>j</sub>; "
        "s<sub>nj</sub> = c ⟨R(n) q<sub>n</sub>, R(j) k<sub>j</sub>⟩, usually with c = 1/√d; a<sub>nj</sub> "
        "= softmax<sub>j</sub>(s<sub>nj</sub>); o<sub>n</sub> = Σ<sub>j</sub> a<sub>nj</sub> v<sub>j</sub>, "
        "or R(−n) Σ<sub>j</sub> a<sub>nj</sub> R(j) v<sub>j</sub> with RoPER. The head adds W<sub>O</sub> "
        "o<sub>n</sub> to the residual stream. The logit lens applies the final norm and the output head to "
        "x<sub>n</sub>.</p>"
        "<h3>Pairs</h3>"
        "<p>A score is a sum over pairs of features, s = Σ<sub>i</sub> s<sup>(i)</sup>, and pair i turns by "
        "θ<sub>i</sub> per position. Its share is Σ<sub>n</sub> cov<sub>j</sub>(s<sup>(i)</sup>, s) / "
        "Σ<sub>n</sub> var<sub>j</sub>(s): a term that is the same for all keys changes no weight and is not "
        "counted. Fast pairs distinguish near positions; pairs that never complete a turn hardly distinguish "
        "any.</p>"
        "<h3>Values by distance</h3>"
        "<p>K(δ) = W<sub>O</sub> R(−δ) W<sub>V</sub> is what a head adds for a token δ positions back, "
        "before weighting: the output is Σ<sub>j</sub> a<sub>n,j</sub> K(n − j) x̂<sub>j</sub>. Where values "
        "do not rotate (RoPE), K is the same at every distance; with RoPER it rotates with δ (RoVE, arXiv "
        "2606.11275). The token map shows the effect on logits: W<sub>U</sub> γ K(δ) x̂<sub>a</sub> for the "
        "embedding x<sub>a</sub> of each token of the text, and the logit of each; γ is the weight of the "
        "final norm (Elhage et al. 2021, extended by a distance).</p>"
        "<h3>Experts</h3>"
        "<p>In a mixture of experts, the router of a layer scores all experts for each token and selects "
        "those with the highest scores: the layer's output is the sum of theirs, each times its weight. "
        "Shared experts, which process every token, are not shown.</p>");
    text +=
        tr("<h3>What a head does</h3>"
           "<p>a<sub>n,j</sub> is the weight with which query n attends to key j (j ≤ n, unless the model is "
           "bidirectional). Over all T queries of the text, the first included:</p>"
           "<p>entropy = −(1/T) Σ<sub>n</sub> Σ<sub>j</sub> a<sub>n,j</sub> log a<sub>n,j</sub><br>mean "
           "distance = (1/T) Σ<sub>n</sub> Σ<sub>j</sub> a<sub>n,j</sub> |n − j|<br>diagonal = max over δ of "
           "the mean of a<sub>n,n−δ</sub></p>");
    if (const auto maps = state_->maps()) {
        const HeadStatistics& s = maps->statistics[maps->indexOf(state_->layer(), state_->head())];
        text += tr("<p>Here, %1 of %2: entropy %3 nats, mean distance %4; distance %5 has %6 % of the "
                   "weight.</p>")
                    .arg(headTitle(state_->layer(), state_->head()),
                         modelAtStep(state_->model(), maps->step).toHtmlEscaped())
                    .arg(numberText(s.entropy, 4), numberText(s.mean_distance, 4))
                    .arg(s.diagonal_distance)
                    .arg(numberText(100 * s.diagonal, 3));
    }
    return text +
           tr("<p>Snapshots are taken while the run trains (setting snapshots.every), always of the same "
              "text. Your own text is read by the model itself: by its trainer between two steps, or from "
              "its checkpoint.</p>"
              "<p>Generating: p(next) = softmax(logits), regardless of the sampling temperature; the shading "
              "is the row a<sub>n,j</sub> of the query n that generated the framed token.</p>"
              "<p>Learned positions: trained frequencies start at θ<sub>i</sub>; Su found that they hardly "
              "move. AdamW moves each by about its learning rate per step, regardless of its size, so that "
              "slow frequencies move farthest in proportion; a smaller learning rate for them "
              "(training.frequency_rate) slows them down.</p>"
              "<p><i>Attention: Vaswani et al., Attention Is All You Need, 2017; trained frequencies: Su, "
              "2021</i></p>");
}

}  // namespace roper
