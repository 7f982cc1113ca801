#include "ui/pages/models/models_page.h"

#include <QFileInfo>
#include <algorithm>
#include <cmath>
#include <map>

#include "core/questions/wilson_interval.h"
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
      tabs_(new QTabWidget),
      change_(new ChangePanel(nullptr)),
      surprise_(new SurpriseView(*state_, this)),
      predictions_(new PredictionsView(*state_, this)),
      atlas_(new AtlasView(*state_, this)),
      grid_(new HeadGridView(*state_, this)),
      map_(new HeatMapView(QStringLiteral("model-head"), this)),
      bands_(new HeatMapView(QStringLiteral("bands"), this)),
      head_bands_(new BarChart(QStringLiteral("head-bands"), tr("pair, the fastest first"), {}, this)),
      subsets_(new SubsetsView(*state_, this)),
      reach_(new CurveChart(QStringLiteral("reach"), tr("distance n − j, tokens"), tr("mean weight"), this)),
      kernels_(new CurveChart(QStringLiteral("kernels"), tr("distance δ, tokens"), tr("‖K(δ)‖"), this)),
      directions_(new CurveChart(QStringLiteral("kernel-directions"), tr("distance δ, tokens"),
                                 tr("cosine of K(δ) and K(0)"), this)),
      lengths_(new CurveChart(QStringLiteral("longer-text"), tr("position"), tr("−ln p, nats"), this)),
      needle_map_(new HeatMapView(QStringLiteral("needle"), this)),
      lens_map_(new HeatMapView(QStringLiteral("logit-lens"), this)),
      patch_map_(new HeatMapView(QStringLiteral("patching"), this)),
      token_map_(new HeatMapView(QStringLiteral("token-map"), this)),
      patch_positions_(new BarChart(QStringLiteral("patching-positions"), tr("token"), {}, this)) {
    contents()->addWidget(makeChooser());
    tabs_->addTab(makeTextTab(), tr("Text"));
    tabs_->addTab(makeHeadsTab(), tr("Heads"));
    tabs_->addTab(makeBandsTab(), tr("Bands"));
    tabs_->addTab(makeValuesTab(), tr("Values by distance"));
    tabs_->addTab(makeSubsetsTab(), tr("Subsets of bands"));
    tabs_->addTab(makeLengthsTab(), tr("Longer text"));
    tabs_->addTab(makeLayersTab(), tr("Layers"));
    tabs_->addTab(makePatchTab(), tr("Patching"));
    auto* scroll = new QScrollArea;
    scroll->setWidget(change_);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setFixedWidth(zoomed(270));
    auto* beside = new QHBoxLayout;
    stack_ = new QStackedWidget;
    stack_->addWidget(makeWelcome());
    stack_->addWidget(tabs_);
    beside->addWidget(stack_, 1);
    beside->addWidget(scroll);
    contents()->addLayout(beside, 1);
    contents()->addWidget(message_);
    connectState();
    connectStudies();
    pictures().set(
        [this] {
            return PageFigures::Figures{surprise_,  predictions_,    atlas_,      map_,        grid_,
                                        reach_,     bands_,          head_bands_, kernels_,    directions_,
                                        token_map_, subsets_,        lengths_,    needle_map_, lens_map_,
                                        patch_map_, patch_positions_};
        },
        infosOf(modelsFields()),
        [this](FigureRequest request) -> Figure& { return prepareFigure(std::move(request)); });
    keepTab("view.models", *tabs_);
    keep(
        "view.models_model",
        [this] { return (wished_model_.isEmpty() ? state_->model() : wished_model_).toStdString(); },
        [this](const std::string& model) {
            const QString name = QString::fromStdString(model);
            if (isVisible() && !name.isEmpty())
                open(name);
            else if (!name.isEmpty())
                wished_model_ = name;  // nothing is computed that nobody looks at
        });
    keep(
        "view.models_head",
        [this] { return std::to_string(state_->layer()) + "." + std::to_string(state_->head()); },
        [this](const std::string& text) {
            const QString head = QString::fromStdString(text);
            if (!head.isEmpty())
                state_->setHead(head.section('.', 0, 0).toInt(), head.section('.', 1).toInt());
        });
    fillModels();
    showModel();
    showWork();
}

void ModelsPage::connectState() {
    connect(state_, &ModelsState::modelChanged, this, &ModelsPage::showModel);
    connect(state_, &ModelsState::workChanged, this, &ModelsPage::showWork);
    connect(state_, &ModelsState::answered, this, &ModelsPage::showAnswer);
    connect(state_, &ModelsState::headChanged, this, &ModelsPage::showHead);
    connect(state_, &ModelsState::inputsChanged, this, &ModelsPage::showAnswers);
    connect(change_, &ChangePanel::changed, this, [this](const ModelChange& change) {
        // Who takes something away wants to see what that does.
        if (state_->change().isNothing() && !change.isNothing())
            shade_->setCurrentIndex(static_cast<int>(SurpriseView::Shade::difference));
        state_->setChange(change);
        wantWhatIsSeen();
    });
    connect(change_, &ChangePanel::solvingWanted, this, [this] {
        constexpr std::int64_t kProblems = 64;
        Question question{"solve"};
        question.count = kProblems;
        state_->request(need::solved, question);
    });
    connect(surprise_, &SurpriseView::chosenChanged, predictions_, &PredictionsView::setToken);
    connect(tabs_, &QTabWidget::currentChanged, this, &ModelsPage::wantWhatIsSeen);
    for (auto signal : {&ModelsState::modelChanged, &ModelsState::workChanged})
        connect(beside_state_, signal, this, [this] {
            showHeadBands();
            showKernels();
            showWork();
        });
    connect(state_, &ModelsState::inputsChanged, beside_state_,
            [this] { beside_state_->setText(state_->text()); });
    for (FigureView* view :
         std::initializer_list<FigureView*>{surprise_, predictions_, atlas_, grid_, map_, bands_, subsets_})
        connect(view, &FigureView::pointed, this, [this](const QString& text) { setReadout(text); });
    for (CurveChart* chart : {reach_, kernels_, directions_})
        connect(chart, &CurveChart::pointed, this, [this](const QString& text) { setReadout(text); });
    connect(map_, &HeatMapView::cellPointed, this,
            [this](int row, int column) { setReadout(pointedWeight(row, column)); });
    connect(bands_, &HeatMapView::cellPointed, this,
            [this](int row, int column) { setReadout(pointedBand(row, column)); });
    connect(bands_, &HeatMapView::cellClicked, this, [this](int row, int) {
        if (state_->answer(need::heads) == nullptr) return;
        const HeadReport& report = state_->answer(need::heads)->heads.at(static_cast<std::size_t>(row));
        state_->setHead(static_cast<int>(report.layer), static_cast<int>(report.head));
    });
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

void ModelsPage::readText(const QString& text) {
    if (text != text_->toPlainText()) text_->setPlainText(text);
    state_->setText(text);
    wantWhatIsSeen();  // also after it was cancelled
}

/// Of another model, text or change some are not known any more.
void ModelsPage::showAnswers() {
    change_->show(state_->change());
    showEffect();
    showSolved();
    showWritten();
    showLabels();
    showBands();
    showHead();
    showLens();
    showLengths();
    showNeedle();
    showPatch();
    showPatchPositions();
    emit explanationChanged();
}

/// What only another tab shows is not computed.
void ModelsPage::wantWhatIsSeen() {
    wantBeside();
    switch (tabs_->currentIndex()) {
        case text_tab:
            return state_->setNeeds({&need::reading, &need::changed});
        case heads_tab:
            return state_->setNeeds(
                {&need::reading, &need::heads, &need::attention, &need::thumbnails, &need::changed});
        case bands_tab:
            return state_->setNeeds({&need::heads, &need::reading, &need::changed});
        case values_tab:
            if (over_training_->isChecked())
                return state_->setNeeds({&need::kernel_history, &need::token_map, &need::reading,
                                         &need::changed, &need::kernels});
            return state_->setNeeds({&need::kernels, &need::token_map, &need::reading, &need::changed});
        case layers_tab:
            return state_->setNeeds({&need::lens, &need::reading, &need::changed});
        default:
            return state_->setNeeds({&need::reading, &need::changed});
    }
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
        messages << titleOf(*beside_state_) + QStringLiteral(": ") + beside_state_->message();
    messages.removeAll(QString());
    message_->setText(messages.join('\n'));
    message_->setVisible(!messages.isEmpty());
    const auto cost = state_->cost();
    if (works)
        cost_->setText(&busy == state_ ? busy.work() : titleOf(busy) + QStringLiteral(": ") + busy.work());
    else if (cost)
        cost_->setText(tr("%1 tokens: about %2 and %3 a reading")
                           .arg(cost->tokens)
                           .arg(cost->seconds < 1 ? tr("a second") : shortDuration(cost->seconds),
                                QString::fromStdString(bytesText(cost->bytes))));
    else
        cost_->clear();
}

void ModelsPage::showAnswer(const Need* what) {
    static const std::map<const Need*, std::vector<void (ModelsPage::*)()>> shown_by = {
        {&need::reading, {&ModelsPage::showEffect}},
        {&need::changed, {&ModelsPage::showEffect}},
        {&need::heads, {&ModelsPage::showLabels, &ModelsPage::showBands, &ModelsPage::showHead}},
        {&need::attention, {&ModelsPage::showMap, &ModelsPage::showReach}},
        {&need::kernels, {&ModelsPage::showKernels}},
        {&need::kernel_history, {&ModelsPage::showKernels}},
        {&need::token_map, {&ModelsPage::showTokenMap}},
        {&need::written, {&ModelsPage::showWritten}},
        {&need::lens, {&ModelsPage::showLens}},
        {&need::lengths, {&ModelsPage::showLengths}},
        {&need::needle, {&ModelsPage::showNeedle}},
        {&need::patch, {&ModelsPage::showPatch, &ModelsPage::showPatchPositions}},
        {&need::patch_positions, {&ModelsPage::showPatchPositions}},
        {&need::solved, {&ModelsPage::showSolved}}};
    if (const auto found = shown_by.find(what); found != shown_by.end())
        for (const auto show : found->second)
            (this->*show)();
    emit explanationChanged();
}

void ModelsPage::showEffect() {
    const TextReading *before = state_->answer(need::reading), *after = state_->answer(need::changed);
    if (before == nullptr || before->nll.empty()) return change_->setEffect({});
    QString text = tr("loss %1 nats a token, perplexity %2")
                       .arg(fixedNumber(before->loss, 4), noteNumber(std::exp(before->loss), 4));
    if (after != nullptr && after->nll.size() == before->nll.size())
        text += tr("\nwith the change %1 (%2%3), perplexity %4")
                    .arg(fixedNumber(after->loss, 4),
                         after->loss < before->loss ? QString() : QStringLiteral("+"),
                         fixedNumber(after->loss - before->loss, 4), noteNumber(std::exp(after->loss), 4));
    change_->setEffect(text);
}

void ModelsPage::showSolved() {
    const SolvedAnswer* answer = state_->answer(need::solved);
    if (answer == nullptr) return change_->setSolved({});
    const auto share = [](const std::vector<bool>& solved) {
        const std::int64_t count = SolvedAnswer::count(solved);
        const auto [low, high] = wilsonInterval(count, static_cast<std::int64_t>(solved.size()));
        return tr("%1 of %2 solved (95 % interval %3 to %4 %)")
            .arg(count)
            .arg(solved.size())
            .arg(fixedNumber(100 * low, 0), fixedNumber(100 * high, 0));
    };
    QString text = share(answer->solved);
    if (!state_->change().isNothing())
        text += tr("\nwith the change %1; %2 lost, %3 gained")
                    .arg(share(answer->changed))
                    .arg(answer->lost())
                    .arg(answer->gained());
    change_->setSolved(text);
}

void ModelsPage::showWritten() {
    const GeneratedText* written = state_->answer(need::written);
    if (written == nullptr) {
        written_->setToolTip({});
        return written_->clear();
    }
    const QString end =
        written->text.empty() ? tr("(it ends the text at once)") : QString::fromStdString(written->text);
    written_->setText(state_->change().isNothing() ? end : tr("with the change: %1").arg(end));
    written_->setToolTip(tr("%1 tokens%2")
                             .arg(written->generated.size())
                             .arg(state_->change().isNothing() ? QString() : tr(", with the change")));
}

void ModelsPage::write() {
    Question question{"generate"};
    question.count = count_->value();
    question.temperature = temperature_->value();
    question.seed = seed_->value();
    state_->request(need::written, question);
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
