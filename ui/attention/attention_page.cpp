#include "ui/attention/attention_page.h"

#include <QScopedValueRollback>
#include <QSplitter>
#include <QtConcurrent>

#include "ui/attention/method_text.h"
#include "ui/attention/source_controls.h"
#include "ui/shell/explain.h"

namespace roper {
namespace {

constexpr int kLargestAtOnce = 1024;  // larger maps are computed in another thread
constexpr int kPlay_ms = 160;

}  // namespace

AttentionPage::AttentionPage(AttentionState& state, QWidget* parent)
    : Page(tr("Attention"),
           tr("Who looks at whom: a row is a query, a column a key. Click a cell to see which pairs make its "
              "score; "
              "click a bar to mute that pair."),
           parent),
      state_(state),
      kinds_(new QTabBar),
      headline_(new QLabel),
      to_mixing_(new QPushButton(tr("This row in Value mixing"))),
      help_(new QPushButton),
      map_(new HeatMapView(QStringLiteral("scores"), this)),
      bars_(new BarChart(QStringLiteral("logit-by-pair"), tr("pair"), tr("part of the score"), this)),
      vectors_(new VectorsTable(state, this)),
      lower_(new QTabWidget),
      gallery_(new MistakeGallery(state, this)),
      panel_(new SetupPanel(state.selection(), this)),
      play_(new QPushButton(tr("Play"))) {
    fillPanel();
    auto* row = new QHBoxLayout;
    row->addWidget(makePictures(), 1);
    row->addWidget(panel_);
    contents()->addLayout(row);

    map_->setAccessibleName(tr("Attention map, query by key"));
    connect(map_, &HeatMapView::cellClicked, this, [this](int query, int key) {
        if (!shown_question_.about_values || map_->map().lower_only) select(query, key);
    });
    connect(map_, &HeatMapView::cellPointed, this, [this](int r, int c) { setReadout(cellText(r, c)); });
    connect(map_, &FigureView::pointed, this, [this](const QString& text) { setReadout(text); });
    connect(bars_, &FigureView::pointed, this, [this](const QString& text) { setReadout(text); });
    connect(bars_, &BarChart::placeClicked, this, &AttentionPage::mute);
    connect(vectors_, &VectorsTable::said, this, [this](const QString& text) { setReadout(text); });
    connect(kinds_, &QTabBar::currentChanged, this, [this](int index) {
        panel_->change(tr("Map"), [&](Setup& s) { s.map = static_cast<MapKind>(index); });
    });
    panel_->whenShown([this](const Setup& s) { kinds_->setCurrentIndex(static_cast<int>(s.map)); });
    connect(&state_, &AttentionState::changed, this, &AttentionPage::follow);
    connect(&computing_, &QFutureWatcherBase::finished, this, [this] {
        takeMap(shown_question_, computing_.result());
        if (std::exchange(again_, false)) showMap();
    });
    connect(&timer_, &QTimer::timeout, this, [this] {
        panel_->change(tr("Shift S"),
                       [](Setup& s) { s.shift = s.shift >= 64 ? -64 : std::round(s.shift) + 1; });
    });
    panel_->showSetup();
    follow();
}

AttentionPage::~AttentionPage() {
    computing_.waitForFinished();
}

std::vector<const Figure*> AttentionPage::figures() const {
    return {map_, bars_};
}

QWidget* AttentionPage::makePictures() {
    for (const auto& [name, help] :
         {std::pair{tr("Scores"), tr("What softmax is taken of")},
          {tr("Weights"), tr("Softmax of each row; for linear attention the share of each similarity")},
          {tr("After the shift"),
           tr("What moving all positions by S changes: nothing, unless there is a mistake")},
          {tr("Against the right form"), tr("What the chosen mistake changes at the same positions")}})
        kinds_->setTabToolTip(kinds_->addTab(name), help);
    kinds_->setAccessibleName(tr("Which map"));
    kinds_->setDocumentMode(true);
    kinds_->setExpanding(false);
    headline_->setForegroundRole(QPalette::PlaceholderText);
    headline_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    to_mixing_->setToolTip(tr("Shows what this query makes of the values it looks at"));
    connect(to_mixing_, &QPushButton::clicked, this, &AttentionPage::mixingWanted);
    help_->setText(tr("Ask again"));
    help_->setToolTip(tr("What to do before there is a map"));
    help_->hide();
    connect(help_, &QPushButton::clicked, this, [this] {
        if (state_.runs().runs().empty()) return emit trainingWanted();
        if (state_.setup().run.empty()) return state_.useRun(state_.runs().runs().front()->name());
        state_.askRun();
    });
    auto* top = new QHBoxLayout;
    top->addWidget(kinds_);
    top->addStretch();
    top->addWidget(help_);
    top->addWidget(to_mixing_);
    lower_->addTab(bars_, tr("Score by pair"));
    lower_->addTab(vectors_, tr("q, k and v"));
    lower_->setDocumentMode(true);
    auto* upper = new QWidget;
    auto* layout = new QVBoxLayout(upper);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(3);
    layout->addLayout(top);
    layout->addWidget(headline_);
    layout->addWidget(map_, 1);
    auto* pictures = new QSplitter(Qt::Vertical);
    pictures->addWidget(upper);
    pictures->addWidget(lower_);
    pictures->setSizes({520, 210});
    pictures->setStretchFactor(0, 1);
    pictures->setChildrenCollapsible(false);
    return pictures;
}

void AttentionPage::fillPanel() {
    panel_->addHeading(tr("Tokens"));
    addSourceControls(*panel_, state_);
    panel_->addHeading(tr("Method"));
    panel_->addWideChoice(tr("Positions by"), tr("How the score learns of positions; F1 shows the formula"),
                          methodNames(), methodEntry, chooseMethod);
    panel_->addCheck(
        tr("Causal"), tr("A query sees itself and what is before it; otherwise everything"),
        [](const Setup& s) { return s.causal; }, [](Setup& s, bool on) { s.causal = on; });
    panel_->addIndex(
        tr("Pair i"), tr("The marked bar; M mutes it or puts it back, as a click does"),
        [](Setup& s) -> int& { return s.pair; }, [](const Setup& s) { return s.pairs(); });
    auto* unmute =
        panel_->addButton(tr("Unmute all pairs"), tr("Puts every pair back into the scores"),
                          [this] { panel_->change(tr("Muted pairs"), [](Setup& s) { s.muted.clear(); }); });
    panel_->whenShown([unmute](const Setup& s) { unmute->setEnabled(!s.muted.empty()); });
    panel_->addHeading(tr("Move all positions"));
    panel_->addDecimal(
        tr("Shift S"), tr("Added to every position; scores and weights do not change"),
        [](Setup& s) -> double& { return s.shift; }, -bounds::kFarthestShift, bounds::kFarthestShift, 1, 2);
    panel_->addSlider(
        tr("Shift, by hand"), tr("Drag S from −64 to 64"), [](Setup& s) -> double& { return s.shift; }, -64,
        64, 1);
    play_->setCheckable(true);
    connect(play_, &QPushButton::toggled, this, [this](bool on) {
        play_->setText(on ? tr("Pause") : tr("Play"));
        on ? timer_.start(kPlay_ms) : timer_.stop();
    });
    panel_->addRow({}, play_, tr("Moves all positions on, step by step (Space)"));
    panel_->addHeading(tr("Known mistakes"));
    panel_->addRow({}, gallery_, {});
    panel_->addHeading(tr("Rotation"));
    addRotationControls(*panel_);
}

void AttentionPage::showEvent(QShowEvent* event) {
    Page::showEvent(event);
    if (stale_) follow();
}

void AttentionPage::follow() {
    // A page that is not seen does not compute.
    stale_ = !isVisible();
    if (stale_ && map_->map().values) return;
    if (!state_.isReady()) return showUnready();
    help_->hide();
    to_mixing_->setEnabled(true);
    showMap();
    showParts();
    setReadout({});
    emit explanationChanged();
}

void AttentionPage::showUnready() {
    map_->setMap({});
    map_->setMarked(-1, -1);
    map_->setEmptyText(state_.message());
    bars_->setBars({}, {});
    bars_->setHeadline({});
    headline_->clear();
    to_mixing_->setEnabled(false);
    const bool no_runs = state_.runs().runs().empty();
    help_->setText(no_runs                      ? tr("Train a model first")
                   : state_.setup().run.empty() ? tr("Take the first run")
                                                : tr("Ask again"));
    help_->setVisible(!state_.isAsking());
}

void AttentionPage::showMap() {
    if (computing_.isRunning()) {
        again_ = true;
        return;
    }
    MapQuestion question = mapQuestion(state_.setup(), state_.heads());
    if (state_.tokens() <= kLargestAtOnce) {
        HeatMapView::Map map = computeMap(question);
        return takeMap(question, std::move(map));
    }
    headline_->setText(tr("Computing %1 × %1 scores …").arg(state_.tokens()));
    shown_question_ = question;
    computing_.setFuture(
        QtConcurrent::run([question = std::move(question)] { return computeMap(question); }));
}

void AttentionPage::takeMap(const MapQuestion& question, HeatMapView::Map map) {
    static const char* const kNames[] = {"scores", "weights", "shift-difference", "mistake"};
    const Setup& s = state_.setup();
    shown_question_ = question;
    headline_->setText(mapHeadline(question, map));
    map.row_labels = state_.tokenNames();
    if (map.column_name == tr("key")) map.column_labels = state_.tokenNames();
    map_->setName(QString::fromLatin1(kNames[static_cast<int>(question.kind)]));
    map_->setCaption(
        tr("%1: %2; %3; d = %4, base %5, shift %6%7")
            .arg(kinds_->tabText(static_cast<int>(question.kind)), methodNames()[methodEntry(s)],
                 state_.sourceText())
            .arg(s.head_dim)
            .arg(s.base)
            .arg(s.shift)
            .arg(s.mistake == Mistake::none ? QString() : tr("; mistake: %1").arg(describe(s.mistake).name)));
    const bool square = map.values->rows() == map.values->cols() && map.column_name == tr("key");
    map_->setMap(std::move(map));
    map_->setMarked(state_.query(), square ? state_.key() : -1);
    emit explanationChanged();
}

void AttentionPage::showParts() {
    const Setup& s = state_.setup();
    const int query = state_.query(), key = state_.key();
    const Eigen::VectorXd parts = scoreParts(state_.rule(), state_.heads(), query, key, s.shift);
    const Theme theme = Theme::of(palette());
    const Rotary& rotary = state_.rule().form.query.rotary;
    BarChart::Series series{QStringLiteral("part"), tr("part of the score"), theme.frame, {}, {}};
    std::vector<int> places;
    for (int i = 0; i < rotary.planes(); ++i) {
        places.push_back(i);
        series.values.push_back(parts[i]);
        const bool turns = s.rotates() && i < rotary.pairs();
        series.colors.push_back(turns ? theme.pair(i, rotary.pairs()) : theme.faint_text);
    }
    bars_->clearPlaceNames();
    if (parts[rotary.planes()] != 0) {
        places.push_back(rotary.planes());
        series.values.push_back(parts[rotary.planes()]);
        series.colors.push_back(theme.text);
        bars_->setPlaceName(rotary.planes(), s.method == Method::linear_cosine ? tr("1") : tr("bias"));
    }
    bars_->setBars(places, {series});
    bars_->setMuted(s.muted);
    bars_->setMarked(s.pair);
    const double score = state_.scoreRow()[key], weight = state_.weightRow()[key];
    bars_->setHeadline(tr("query %1, key %2, distance %3:   score %4 = Σ of the bars   weight %5")
                           .arg(state_.tokenText(query), state_.tokenText(key))
                           .arg(query - key)
                           .arg(score, 0, 'f', 6)
                           .arg(weight, 0, 'g', 4)
                           .replace('-', QChar(0x2212)));
    bars_->setCaption(
        tr("The score of query %1 and key %2 by pair: %3").arg(query).arg(key).arg(state_.sourceText()));
}

QString AttentionPage::cellText(int row, int column) const {
    if (!state_.isReady() || row >= state_.tokens()) return {};
    const auto number = [](double value) { return noteNumber(value, 7); };
    const double value = (*map_->map().values)(row, column);
    if (map_->map().column_name != tr("key"))
        return tr("query %1    feature %2    difference of the output %3")
            .arg(state_.tokenText(row))
            .arg(column)
            .arg(number(value));
    const Eigen::VectorXd scores = scoreRow(state_.rule(), state_.heads(), row, state_.setup().shift);
    const Eigen::VectorXd weights = weightRow(state_.rule(), state_.heads(), scores, row);
    QString text = tr("query %1    key %2    distance %3    score %4    weight %5")
                       .arg(state_.tokenText(row), state_.tokenText(column))
                       .arg(noteNumber(row - column), number(scores[column]), number(weights[column]));
    if (shown_question_.kind == MapKind::shift_difference || shown_question_.kind == MapKind::form_difference)
        text += tr("    difference %1").arg(number(value));
    return text;
}

void AttentionPage::mute(int pair) {
    if (pair >= state_.setup().pairs()) return;  // the bias is not a pair
    panel_->change(tr("Muted pairs"), [&](Setup& s) {
        const auto found = std::find(s.muted.begin(), s.muted.end(), pair);
        found == s.muted.end() ? s.muted.push_back(pair) : void(s.muted.erase(found));
        s.pair = pair;
    });
}

void AttentionPage::select(int query, int key) {
    panel_->change(tr("Query and key"), [&](Setup& s) {
        s.query = query;
        s.key = s.causal ? std::min(key, query) : key;
    });
}

void AttentionPage::moveKey(int by) {
    if (!state_.isReady()) return;
    const int last = state_.setup().causal ? state_.query() : state_.tokens() - 1;
    select(state_.query(), std::clamp(state_.key() + by, 0, last));
}

void AttentionPage::moveQuery(int by) {
    if (state_.isReady()) select(std::clamp(state_.query() + by, 0, state_.tokens() - 1), state_.key());
}

void AttentionPage::addActions(Actions& actions) {
    const QString group = tr("Attention");
    actions.add(group, tr("Play or pause the shift"), Qt::Key_Space, [this] { play_->click(); });
    actions.add(group, tr("Next key"), Qt::Key_Right, [this] { moveKey(1); });
    actions.add(group, tr("Previous key"), Qt::Key_Left, [this] { moveKey(-1); });
    actions.add(group, tr("Ten keys on"), Qt::SHIFT | Qt::Key_Right, [this] { moveKey(10); });
    actions.add(group, tr("Ten keys back"), Qt::SHIFT | Qt::Key_Left, [this] { moveKey(-10); });
    actions.add(group, tr("First key"), Qt::Key_Home, [this] { moveKey(-bounds::kMostTokens); });
    actions.add(group, tr("Next query"), Qt::Key_Down, [this] { moveQuery(1); });
    actions.add(group, tr("Previous query"), Qt::Key_Up, [this] { moveQuery(-1); });
    actions.add(group, tr("This row in Value mixing"), Qt::Key_Return, [this] { to_mixing_->click(); });
    actions.add(group, tr("Mute or unmute the marked pair"), Qt::Key_M,
                [this] { mute(state_.setup().pair); });
    actions.add(group, tr("Unmute all pairs"), {},
                [this] { panel_->change(tr("Muted pairs"), [](Setup& s) { s.muted.clear(); }); });
    actions.add(group, tr("No mistake"), {},
                [this] { panel_->change(tr("Mistake"), [](Setup& s) { s.mistake = Mistake::none; }); });
    actions.add(group, tr("Ask the run again"), {}, [this] {
        if (state_.setup().source == Source::run) state_.askRun();
    });
}

QString AttentionPage::explanation() const {
    return explainScore(state_);
}

ViewSettings AttentionPage::viewSettings() const {
    ViewSettings settings{{"view.attention_below", std::to_string(lower_->currentIndex())}};
    const QRectF shown = map_->shownCells();
    if (map_->map().values && shown.size() != QSizeF(static_cast<double>(map_->map().values->cols()),
                                                     static_cast<double>(map_->map().values->rows())))
        settings["view.attention_cells"] = QStringLiteral("%1,%2,%3,%4")
                                               .arg(shown.x(), 0, 'g', 8)
                                               .arg(shown.y(), 0, 'g', 8)
                                               .arg(shown.width(), 0, 'g', 8)
                                               .arg(shown.height(), 0, 'g', 8)
                                               .toStdString();
    return settings;
}

void AttentionPage::setViewSettings(const ViewSettings& settings) {
    setTab(*lower_, settings, "view.attention_below");
    const auto cells = settings.find("view.attention_cells");
    if (cells == settings.end()) return map_->showAll();
    const QStringList parts = QString::fromStdString(cells->second).split(',');
    if (parts.size() == 4)
        map_->showCells({parts[0].toDouble(), parts[1].toDouble(), parts[2].toDouble(), parts[3].toDouble()});
}

}  // namespace roper
