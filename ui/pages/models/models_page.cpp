#include "ui/pages/models/models_page.h"

#include <QFileDialog>
#include <QFileInfo>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/look/wilson_interval.h"
#include "ui/live/example_text.h"
#include "ui/live/published_models.h"
#include "ui/live/run_records.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

/// "135 M"
QString parametersText(std::int64_t count) {
    constexpr double kThousand = 1e3, kMillion = 1e6, kBillion = 1e9;
    const auto n = static_cast<double>(count);
    if (n >= kBillion) return QStringLiteral("%1 B").arg(noteNumber(n / kBillion, 3));
    if (n >= kMillion) return QStringLiteral("%1 M").arg(noteNumber(n / kMillion, 3));
    return n >= kThousand ? QStringLiteral("%1 k").arg(noteNumber(n / kThousand, 3)) : QString::number(count);
}

}  // namespace

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
        LookQuestion question{LookTopic::solve};
        question.count = kProblems;
        state_->request(Need::solved, question);
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
        if (state_->heads() == nullptr) return;
        const HeadReport& report = state_->heads()->heads.at(static_cast<std::size_t>(row));
        state_->setHead(static_cast<int>(report.layer), static_cast<int>(report.head));
    });
    listing_.setSingleShot(true);
    connect(&listing_, &QTimer::timeout, this, [this] {
        if (isVisible()) fillModels();
    });
    connect(&store_, &RunStore::runAdded, this, [this] { listing_.start(); });
    connect(&store_, &RunStore::runRemoved, this, [this] { listing_.start(); });
}

std::vector<const Figure*> ModelsPage::figures() const {
    // What is seen comes first: it is what “Export” means.
    std::vector<const Figure*> all{surprise_, predictions_, atlas_,    map_,        grid_,           reach_,
                                   bands_,    head_bands_,  kernels_,  directions_, token_map_,      subsets_,
                                   lengths_,  needle_map_,  lens_map_, patch_map_,  patch_positions_};
    constexpr std::array<std::size_t, 8> first_of_tab = {0, 2, 6, 8, 11, 12, 14, 15};
    const auto seen = first_of_tab[static_cast<std::size_t>(std::max(0, tabs_->currentIndex()))];
    std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(seen),
                all.begin() + static_cast<std::ptrdiff_t>(seen) + 1);
    return all;
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

void ModelsPage::open(const QString& model) {
    const RunWatcher *run = store_.find(model), *before = store_.find(state_->model());
    const auto taskOf = [](const RunWatcher* of) {
        return of != nullptr && of->specification() ? of->specification()->task.name : std::string();
    };
    const bool is_empty = text_->toPlainText().isEmpty();
    if (run != nullptr) {
        // A text of another task means nothing to this model.
        const QString example = exampleText(*run);
        if (!example.isEmpty() && (is_empty || taskOf(run) != taskOf(before))) text_->setPlainText(example);
    } else if (QFileInfo(model).isAbsolute()) {
        if (is_empty || before != nullptr) text_->setPlainText(exampleProse());
        rememberModel(model);
    }
    state_->setText(text_->toPlainText());
    state_->setModel(model);
    if (beside_state_->model() == model) setBeside({});
    fillModels();
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
            return state_->setNeeds({Need::reading, Need::changed});
        case heads_tab:
            return state_->setNeeds(
                {Need::reading, Need::heads, Need::attention, Need::thumbnails, Need::changed});
        case bands_tab:
            return state_->setNeeds({Need::heads, Need::reading, Need::changed});
        case values_tab:
            return state_->setNeeds({Need::kernels, Need::token_map, Need::reading, Need::changed});
        case layers_tab:
            return state_->setNeeds({Need::lens, Need::reading, Need::changed});
        default:
            return state_->setNeeds({Need::reading, Need::changed});
    }
}

/// Only what is drawn of it.
void ModelsPage::wantBeside() {
    if (tabs_->currentIndex() == bands_tab) return beside_state_->setNeeds({Need::heads});
    if (tabs_->currentIndex() == values_tab) return beside_state_->setNeeds({Need::kernels});
    beside_state_->setNeeds({});
}

void ModelsPage::setBeside(const QString& model) {
    beside_state_->setText(state_->text());
    beside_state_->setModel(model);
    fillBeside();
    wantBeside();
}

/// The twin first, then all other models.
void ModelsPage::fillBeside() {
    const QScopedValueRollback filling(filling_, true);
    beside_->clear();
    beside_->addItem(tr("nothing"), QString());
    const QString twin = twinNameOf(store_, state_->model());
    if (!twin.isEmpty()) beside_->addItem(tr("its twin"), twin);
    for (int i = 0; i < models_->count(); ++i) {
        const QString model = models_->itemData(i).toString();
        if (!model.isEmpty() && model != state_->model() && model != twin)
            beside_->addItem(models_->itemText(i), model);
    }
    beside_->setCurrentIndex(std::max(0, beside_->findData(beside_state_->model())));
    beside_->setToolTip(beside_->currentText());
}

void ModelsPage::fillModels() {
    const QScopedValueRollback filling(filling_, true);
    models_->clear();
    const auto add = [this](const QString& title, const QString& model, const QString& help) {
        models_->addItem(title, model);
        models_->setItemData(models_->count() - 1, help, Qt::ToolTipRole);
    };
    QStringList published = publishedModels();
    if (QFileInfo(state_->model()).isAbsolute() && !published.contains(state_->model()))
        published.prepend(state_->model());
    for (const QString& path : published)
        add(modelTitle(path), path, path);
    bool first_run = models_->count() > 0;
    std::vector<RunWatcher*> runs = store_.runs();
    std::stable_sort(runs.begin(), runs.end(),
                     [](const RunWatcher* a, const RunWatcher* b) { return a->madeAt_s() > b->madeAt_s(); });
    for (const RunWatcher* run : runs) {
        if (!run->specification()) continue;
        if (std::exchange(first_run, false)) models_->insertSeparator(models_->count());
        add(run->name(), run->name(), tr("a run of yours"));
    }
    models_->setCurrentIndex(state_->model().isEmpty() ? -1 : models_->findData(state_->model()));
    fillWelcome();
    fillBeside();
    models_->setPlaceholderText(models_->count() == 0 ? tr("open a model from a file")
                                                      : tr("choose a model"));
}

/// What to do first, with a button for it.
void ModelsPage::fillWelcome() {
    while (QLayoutItem* item = welcome_buttons_->takeAt(0)) {
        item->widget()->deleteLater();  // perhaps a button that is being clicked
        delete item;
    }
    const auto add = [this](const QString& text, const QString& help, auto run) {
        auto* button = new QPushButton(text);
        button->setToolTip(help);
        connect(button, &QPushButton::clicked, this, run);
        welcome_buttons_->addWidget(button);
    };
    constexpr int kMost = 4;
    int offered = 0;
    for (int i = 0; i < models_->count() && offered < kMost; ++i) {
        const QString model = models_->itemData(i).toString();
        const RunWatcher* run = store_.find(model);
        if (run != nullptr && run->folder().checkpoints().empty())
            continue;  // there is nothing to be opened yet
        ++offered;
        if (!model.isEmpty())
            add(tr("Open %1").arg(models_->itemText(i)), model, [this, model] { open(model); });
    }
    add(tr("Open a GGUF file…"), tr("A model as llama.cpp has it"), [this] { chooseFile(); });
    add(tr("Open a Hugging Face folder…"), tr("config.json, tokenizer.json and .safetensors files"),
        [this] { chooseFolder(); });
}

void ModelsPage::chooseFile() {
    const QString path =
        QFileDialog::getOpenFileName(this, tr("Open a GGUF file"), {}, tr("GGUF models (*.gguf)"));
    if (!path.isEmpty()) openPublished(path);
}

void ModelsPage::chooseFolder() {
    const QString path = QFileDialog::getExistingDirectory(this, tr("Open a Hugging Face folder"));
    if (!path.isEmpty()) openPublished(path);
}

void ModelsPage::openPublished(const QString& path) {
    if (isPublishedModel(path)) return open(QFileInfo(path).absoluteFilePath());
    say(tr("%1 is no model: a folder needs a config.json beside its tokenizer.json and .safetensors files.")
            .arg(path));
}

void ModelsPage::showModel() {
    const ModelSummary* m = state_->summary();
    stack_->setCurrentIndex(state_->model().isEmpty() ? 0 : 1);
    change_->setModel(m);
    change_->show(state_->change());
    for (QWidget* widget : std::initializer_list<QWidget*>{layer_, head_, write_, compute_, read_longer_,
                                                           hide_needle_, patch_button_})
        widget->setEnabled(m != nullptr);
    showAnswers();
    if (m == nullptr) {
        summary_->clear();
        showHead();
        return;
    }
    const QScopedValueRollback filling(filling_, true);
    layer_->setRange(0, static_cast<int>(m->layers) - 1);
    head_->setRange(0, static_cast<int>(m->heads) - 1);
    write_->setEnabled(m->causal);
    band_count_->setRange(1, static_cast<int>(std::clamp<std::size_t>(m->theta.size(), 1, 8)));
    QString text = tr("%1: %2 parameters, %3 layers of %4 heads")
                       .arg(QString::fromStdString(m->family), parametersText(m->parameters))
                       .arg(m->layers)
                       .arg(m->heads);
    if (m->key_value_heads != m->heads) text += tr(" (%1 of keys and values)").arg(m->key_value_heads);
    text += tr(", head_dim %1").arg(m->head_dim);
    if (m->context > 0) text += tr(", trained on up to %1 tokens").arg(m->context);
    if (!m->theta.empty()) {
        const auto slow = std::count_if(m->theta.begin(), m->theta.end(), [&](double theta) {
            return theta * static_cast<double>(m->context) < 2 * std::numbers::pi;
        });
        text += slow == 0
                    ? tr("; all %1 pairs finish a turn within that").arg(m->theta.size())
                    : tr("; %1 of %2 pairs never finish a turn within that").arg(slow).arg(m->theta.size());
    } else {
        text += tr("; no rotation");
    }
    if (m->rotates_values) text += tr("; values rotate, too");
    if (state_->step()) text += tr("; step %1").arg(*state_->step());
    summary_->setText(text);
    QStringList notes{text};
    for (const std::string& note : m->notes)
        notes << QString::fromStdString(note);
    summary_->setToolTip(notes.join('\n'));
    showHead();
    emit explanationChanged();
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

void ModelsPage::showAnswer(Need what) {
    switch (what) {
        case Need::reading:
        case Need::changed:
            showEffect();
            break;
        case Need::heads:
            showLabels();
            showBands();
            showHead();
            break;
        case Need::attention:
            showMap();
            showReach();
            break;
        case Need::kernels:
            showKernels();
            break;
        case Need::token_map:
            showTokenMap();
            break;
        case Need::written:
            showWritten();
            break;
        case Need::lens:
            showLens();
            break;
        case Need::lengths:
            showLengths();
            break;
        case Need::needle:
            showNeedle();
            break;
        case Need::patch:
            showPatch();
            showPatchPositions();
            break;
        case Need::patch_positions:
            showPatchPositions();
            break;
        case Need::solved:
            showSolved();
            break;
        case Need::thumbnails:
        case Need::subsets:
        case Need::model:
            break;
    }
    emit explanationChanged();
}

void ModelsPage::showEffect() {
    const TextReading *before = state_->reading(), *after = state_->changed();
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
    const SolvedAnswer* answer = state_->solved();
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
    const GeneratedText* written = state_->written();
    if (written == nullptr) {
        written_->setToolTip({});
        return written_->clear();
    }
    const QString end =
        written->text.empty() ? tr("(it ends the text at once)") : QString::fromStdString(written->text);
    written_->setText(end);
    written_->setToolTip(tr("%1 tokens%2")
                             .arg(written->generated.size())
                             .arg(state_->change().isNothing() ? QString() : tr(", with the change")));
}

void ModelsPage::write() {
    LookQuestion question{LookTopic::generate};
    question.count = count_->value();
    question.temperature = temperature_->value();
    question.seed = seed_->value();
    state_->request(Need::written, question);
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

ViewSettings ModelsPage::viewSettings() const {
    ViewSettings settings{
        {"view.models", std::to_string(tabs_->currentIndex())},
        {"view.models_head", std::to_string(state_->layer()) + "." + std::to_string(state_->head())}};
    const QString model = wished_model_.isEmpty() ? state_->model() : wished_model_;
    if (!model.isEmpty()) settings["view.models_model"] = model.toStdString();
    return settings;
}

void ModelsPage::setViewSettings(const ViewSettings& settings) {
    setTab(*tabs_, settings, "view.models");
    const auto model = settings.find("view.models_model");
    if (model == settings.end()) return;
    const QString name = QString::fromStdString(model->second);
    if (isVisible())
        open(name);
    else
        wished_model_ = name;  // nothing is computed that nobody looks at
    if (const auto head = settings.find("view.models_head"); head != settings.end()) {
        const QString text = QString::fromStdString(head->second);
        state_->setHead(text.section('.', 0, 0).toInt(), text.section('.', 1).toInt());
    }
}

}  // namespace roper
