#include "ui/pages/models/models_page.h"

#include <algorithm>
#include <cmath>

#include "ui/live/example_text.h"
#include "ui/live/published_models.h"
#include "ui/pages/models/models_fields.h"
#include "ui/theme/numbers.h"

namespace roper {

ModelsPage::ModelsPage(RunStore& store, QWidget* parent)
    : Page(tr("Models"),
           tr("Inside a published model, or one trained here: how it predicts your text, what its heads and "
              "their "
              "bands do, and what breaks when a part is taken away."),
           parent),
      store_(store),
      state_(new ModelsState(store, this)),
      beside_state_(new ModelsState(store, this)),
      panels_{new TextPanel(*state_, this),
              new HeadsPanel(*state_, this),
              new BandsPanel(*state_, *beside_state_, this),
              new ValuesPanel(*state_, *beside_state_, this),
              new SubsetsPanel(*state_, this),
              new LengthsPanel(*state_, this),
              new LayersPanel(*state_, this),
              new PatchPanel(*state_, this)},
      tabs_(new QTabWidget),
      stack_(new QStackedWidget),
      change_(new ChangePanel(*state_, nullptr)) {
    contents()->addWidget(makeChooser());
    for (ModelPanel* panel : panels_) {
        tabs_->addTab(panel, panel->title());
        connect(panel, &ModelPanel::pointed, this, [this](const QString& text) { setReadout(text); });
        connect(panel, &ModelPanel::needsChanged, this, &ModelsPage::wantWhatIsSeen);
    }
    auto* scroll = new QScrollArea;
    scroll->setWidget(change_);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setFixedWidth(zoomed(270));
    auto* beside = new QHBoxLayout;
    stack_->addWidget(makeWelcome());
    stack_->addWidget(tabs_);
    beside->addWidget(stack_, 1);
    beside->addWidget(scroll);
    contents()->addLayout(beside, 1);
    contents()->addWidget(message_);
    pictures().set(
        [this] {
            PageFigures::Figures all;
            for (const ModelPanel* panel : panels_)
                for (const Figure* figure : panel->figures())
                    all.push_back(figure);
            return all;
        },
        infosOf(modelsFields()),
        [this](FigureRequest request) -> Figure& { return prepareFigure(std::move(request)); });
    keepView();
    connectState();
    fillModels();
    showModel();
    showWork();
}

void ModelsPage::keepView() {
    keepTab("view.models", *tabs_);
    keep(
        "view.models_model",
        [this] { return (wished_model_.isEmpty() ? state_->model() : wished_model_).toStdString(); },
        [this](const std::string& model) {
            if (model.empty()) return;
            if (isVisible())
                open(QString::fromStdString(model));
            else
                wished_model_ = QString::fromStdString(model);  // nothing is computed that nobody looks at
        });
    keep(
        "view.models_head",
        [this] { return std::to_string(state_->layer()) + "." + std::to_string(state_->head()); },
        [this](const std::string& text) {
            const QString head = QString::fromStdString(text);
            if (!head.isEmpty())
                state_->setHead(head.section('.', 0, 0).toInt(), head.section('.', 1).toInt());
        });
}

void ModelsPage::connectState() {
    connect(state_, &ModelsState::modelChanged, this, &ModelsPage::showModel);
    for (auto signal : {&ModelsState::inputsChanged, &ModelsState::headChanged})
        connect(state_, signal, this, &Page::explanationChanged);
    for (ModelsState* state : {state_, beside_state_})
        connect(state, &ModelsState::workChanged, this, &ModelsPage::showWork);
    connect(beside_state_, &ModelsState::modelChanged, this, &ModelsPage::showWork);
    connect(change_, &ChangePanel::changed, this, [this](const ModelChange& change) {
        // Who takes something away wants to see what that does.
        if (state_->change().isNothing() && !change.isNothing())
            panel<TextPanel>().setShade(SurpriseView::Shade::difference);
        state_->setChange(change);
        wantWhatIsSeen();
    });
    connect(tabs_, &QTabWidget::currentChanged, this, &ModelsPage::wantWhatIsSeen);
    connect(state_, &ModelsState::inputsChanged, beside_state_,
            [this] { beside_state_->setText(state_->text()); });
    listing_.setSingleShot(true);
    connect(&listing_, &QTimer::timeout, this, [this] {
        if (isVisible()) fillModels();
    });
    connect(&store_, &RunStore::runAdded, this, [this] { listing_.start(); });
    connect(&store_, &RunStore::runRemoved, this, [this] { listing_.start(); });
}

void ModelsPage::becomeSeen(bool seen) {
    if (!seen) return;
    fillModels();
    const QString wished = std::exchange(wished_model_, {});
    if (store_.find(wished) != nullptr || isPublishedModel(wished)) open(wished);
    if (text_->toPlainText().isEmpty()) {
        text_->setPlainText(exampleProse());
        state_->setText(text_->toPlainText());
    }
}

void ModelsPage::refresh() {
    wantWhatIsSeen();
}

void ModelsPage::refreshHidden() {
    for (ModelPanel* panel : panels_)
        panel->refreshNow();
}

void ModelsPage::readText(const QString& text) {
    if (text != text_->toPlainText()) text_->setPlainText(text);
    state_->setText(text);
    wantWhatIsSeen();  // also after it was cancelled
}

/// What only another tab shows is not computed.
void ModelsPage::wantWhatIsSeen() {
    beside_state_->setNeeds(shownPanel().besideNeeds());
    state_->setNeeds(shownPanel().needs());
}

void ModelsPage::showWork() {
    const ModelsState& busy = state_->isAsking() ? *state_ : *beside_state_;
    const bool works = busy.isAsking();
    progress_->setVisible(works);
    cancel_->setVisible(works);
    progress_->setRange(0, state_->progress() < 0 ? 0 : 100);
    if (state_->progress() >= 0) progress_->setValue(static_cast<int>(std::lround(100 * state_->progress())));
    QStringList messages{state_->message()};
    if (!beside_state_->message().isEmpty())
        messages << beside_state_->title() + QStringLiteral(": ") + beside_state_->message();
    messages.removeAll(QString());
    message_->setText(messages.join('\n'));
    message_->setVisible(!messages.isEmpty());
    const auto cost = state_->cost();
    if (works)
        cost_->setText(&busy == state_ ? busy.work() : busy.title() + QStringLiteral(": ") + busy.work());
    else if (cost)
        cost_->setText(tr("%1 tokens: about %2 and %3 a reading")
                           .arg(cost->tokens)
                           .arg(cost->seconds < 1 ? tr("a second") : shortDuration(cost->seconds),
                                QString::fromStdString(bytesText(cost->bytes))));
    else
        cost_->clear();
}

QString ModelsPage::explanation() const {
    return tr(
        "<h3>Looking into a model</h3>"
        "<p>The model is read where it lies, in a process of its own, in float32. <i>−ln p</i> of a token is "
        "how "
        "badly the model predicted it from what stands before: 0 is certain, 0.69 even odds, 8 about 1 in "
        "3,000. "
        "The loss is its mean.</p>"
        "<h3>Heads</h3>"
        "<p>entropy = −Σ<sub>j</sub> a<sub>n,j</sub> ln a<sub>n,j</sub>, mean distance = Σ<sub>j</sub> "
        "a<sub>n,j</sub> (n − j), both as means over queries n ≥ 1. A head's label is the first rule that "
        "applies: "
        "induction (0.4 of the weight on tokens that followed an earlier occurrence of the query's token), "
        "previous "
        "token (0.4), same token (0.4), first token (0.5), local (0.7 on the last eight), content (0.5 of "
        "the "
        "scores' variance from pairs that finish no turn within the text), else mixed.</p>"
        "<h3>Bands</h3>"
        "<p>A score is a sum over pairs of features, s = Σ<sub>i</sub> s<sup>(i)</sup>, and pair i turns by "
        "θ<sub>i</sub> a position. Its share is Σ<sub>n</sub> cov<sub>j</sub>(s<sup>(i)</sup>, s) / "
        "Σ<sub>n</sub> "
        "var<sub>j</sub>(s): what all keys have in common changes no weight and counts for nothing. Fast "
        "pairs know "
        "near positions, pairs that never finish a turn hardly any.</p>"
        "<h3>Values by distance</h3>"
        "<p>K(δ) = W<sub>O</sub> R(−δ) W<sub>V</sub> is what a head adds for a token δ positions back, "
        "before its "
        "weight: the output is Σ<sub>j</sub> a<sub>n,j</sub> K(n − j) x<sub>j</sub>. Where values do not "
        "rotate "
        "(RoPE), K is the same at every distance; with RoPER it turns (RoVE, arXiv 2606.11275). The token "
        "map says what that "
        "means: W<sub>U</sub> γ K(δ) x<sub>a</sub> for the embedding x<sub>a</sub> of each token of the "
        "text, and "
        "the logit of each (Elhage et al. 2021, with a distance).</p>");
}

}  // namespace roper
