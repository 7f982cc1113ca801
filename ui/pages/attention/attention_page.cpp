#include "ui/pages/attention/attention_page.h"

#include <QtConcurrent>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/base/text.h"
#include "core/explorer/setup_fields.h"
#include "ui/controls/layout_helpers.h"
#include "ui/explorer/mistake_text.h"
#include "ui/pages/attention/method_text.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

constexpr int kPlay_ms = 160;             // per position of the animated shift
constexpr int kMaxComputedInline = 1024;  // tokens; larger maps are computed in another thread

/// Figure names of the map, in the order of `MapKind`.
constexpr std::array<const char*, 4> kMapNames = {"scores", "weights", "shift-difference", "mistake"};

/// The setup for a requested figure: the map of its kind, and a mistake if the figure shows one.
Setup setupOf(const FigureRequest& request, const Setup& start) {
    Setup setup = withSettings(start, request.settings);
    if (request.kind == "position-bias" && !request.hasSetting("method") && request.run.empty())
        setup.method = "t5";
    if (request.kind == "scores") setup.map = MapKind::scores;
    if (request.kind == "weights") setup.map = MapKind::weights;
    const bool shows_difference = request.kind == "mistake" || request.kind == "shift-difference";
    if (!shows_difference) return setup;
    setup.map = MapKind::shift_difference;
    if (request.kind == "mistake") {
        if (!request.hasSetting("mistake")) setup.mistake = Mistake::wrong_direction;  // the caption names it
        if (!isRevealedByShift(setup.mistake)) setup.map = MapKind::form_difference;
    }
    return setup;
}

}  // namespace

AttentionPage::AttentionPage(AttentionState& state, QWidget* parent)
    : ExplorerPage(tr("Attention"),
                   tr("Which token attends to which: a row is a query, a column a key. Click a cell to see "
                      "how each pair contributes to its score; click a bar to ablate that pair. The wheel "
                      "zooms, dragging pans."),
                   state.selection(), parent),
      state_(state),
      kinds_(new QTabBar),
      headline_(new QLabel),
      show_value_mixing_(new QPushButton(tr("Show in Value mixing"))),
      help_(new QPushButton),
      map_(new HeatMapView(QStringLiteral("scores"), this)),
      bars_(new BarChart(QStringLiteral("logit-by-pair"), tr("pair"), tr("contribution to the score"), this)),
      bias_(new CurveChart(QStringLiteral("position-bias"), tr("distance δ = n − j"), tr("bias"), this)),
      by_distance_(new DistanceChart(state, this)),
      bias_kind_(new QComboBox),
      table_(new HeatMapView(QStringLiteral("position-table"), this)),
      vectors_(new VectorsTable(state, this)),
      lower_(new QTabWidget),
      gallery_(new MistakeGallery(state, this)),
      panel_(new SetupPanel(state.selection(), this)),
      play_(new PlayButton(kPlay_ms)) {
    fillPanel();
    contents()->addLayout(rowOf({{makeFigures(), 1}, panel_}));

    map_->setAccessibleName(tr("Attention map, query by key"));
    connect(map_, &HeatMapView::cellClicked, this, [this](int query, int key) {
        if (shown_inputs_.isTokenByToken()) select(query, key);
    });
    connect(map_, &HeatMapView::cellHovered, this, [this](int r, int c) {
        setReadout(cellText(r, c));
        hoverState().set(shown_inputs_.isTokenByToken() ? HoveredItem{.query = r, .key = c, .distance = r - c}
                                                        : HoveredItem{.query = r});
    });
    connect(map_, &FigureView::hovered, this, &AttentionPage::showReadout);
    connect(bars_, &FigureView::hovered, this, &AttentionPage::showReadout);
    connect(bars_, &BarChart::categoryHovered, this, [this](int pair) { hoverState().set({.pair = pair}); });
    for (CurveChart* chart : std::initializer_list<CurveChart*>{by_distance_, bias_})
        connect(chart, &CurveChart::xHovered, this, &AttentionPage::hoverDistance);
    connect(&hoverState(), &HoverState::changed, this, &AttentionPage::showHovered);
    connect(bars_, &BarChart::categoryClicked, this, &AttentionPage::toggleAblation);
    connect(vectors_, &VectorsTable::reported, this, &AttentionPage::setReadout);
    connect(kinds_, &QTabBar::currentChanged, this, [this](int index) {
        panel_->change(tr("Map"), [&](Setup& s) { s.map = static_cast<MapKind>(index); });
    });
    panel_->onSetupShown([this](const Setup& s) { kinds_->setCurrentIndex(static_cast<int>(s.map)); });
    connect(&state_, &AttentionState::changed, this, &AttentionPage::refreshWhenVisible);
    pageFigures().set({map_, bars_, bias_, table_, by_distance_}, fieldInfos(setupFields()),
                      {kMapNames.begin(), kMapNames.end()});
    registerTabSetting("view.attention_below", *lower_);
    registerViewSetting(
        "view.attention_cells", [this] { return visibleCells(); },
        [this](const std::string& text) { showCells(text); });
    connect(lower_, &QTabWidget::currentChanged, this, [this] {
        if (by_distance_->isVisibleTo(this)) by_distance_->refresh();
    });
    connect(&computing_, &QFutureWatcherBase::finished, this, [this] {
        is_computing_ = false;
        // A map of an outdated setup is not shown.
        const bool outdated = std::exchange(recompute_, false) || !state_.isReady();
        if (!outdated) return showComputedMap(std::move(computing_inputs_), computing_.result());
        if (state_.isReady()) showMap();
    });
    connect(play_, &PlayButton::next, this, [this] {
        panel_->change(tr("Shift S"),
                       [](Setup& s) { s.shift = s.shift >= 64 ? -64 : std::round(s.shift) + 1; });
    });
    panel_->showSetup();
}

AttentionPage::~AttentionPage() {
    computing_.waitForFinished();
}

/// Marks the distance from the chosen query, and the key there.
void AttentionPage::hoverDistance(double x) {
    if (!state_.isReady()) return;
    const int distance = static_cast<int>(std::lround(x)), key = state_.query() - distance;
    HoveredItem hovered{.query = state_.query(), .distance = distance};
    if (key >= 0 && key < state_.tokens()) hovered.key = key;
    hoverState().set(hovered);
}

void AttentionPage::showHovered() {
    const HoveredItem& now = hoverState().now();
    map_->setHovered(now.query, shown_inputs_.isTokenByToken() ? now.key : std::nullopt);
    bars_->setHovered(now.pair);
    for (CurveChart* chart : std::initializer_list<CurveChart*>{by_distance_, bias_})
        chart->setHovered(now.distance);
}

Figure& AttentionPage::prepareFigure(FigureRequest request) {
    state_.loadForFigure(request.run, [&](const Setup& setup) { return setupOf(request, setup); });
    refreshNow();
    waitWhile([this] { return is_computing_; }, "the map");
    QCoreApplication::processEvents();
    return request.kind == "mistake" ? *map_ : pageFigures().named(request.kind);
}

void AttentionPage::onVisibilityChanged(bool seen) {
    state_.countVisiblePage(seen);
    if (!seen) play_->setChecked(false);
}

void AttentionPage::refresh() {
    if (!state_.isReady()) return showNotReady();
    help_->hide();
    show_value_mixing_->setEnabled(true);
    showMap();
    showScoreContributions();
    showBias();
    showTable();
    if (by_distance_->isVisibleTo(this)) by_distance_->refresh();
    setReadout({});
    emit explanationChanged();
}

void AttentionPage::showNotReady() {
    map_->setMap({});
    map_->setMarked(-1, -1);
    map_->setEmptyText(state_.message());
    bars_->setBars({}, {});
    bars_->setHeadline({});
    headline_->clear();
    by_distance_->refresh();
    show_value_mixing_->setEnabled(false);
    const bool no_runs = state_.runs().runs().empty();
    help_->setText(no_runs                      ? tr("Train a model first")
                   : state_.setup().run.empty() ? tr("Use the first run")
                                                : tr("Reload the run"));
    help_->setVisible(!state_.isAsking());
    emit explanationChanged();
}

void AttentionPage::showMap() {
    if (is_computing_) {
        recompute_ = true;
        return;
    }
    const Setup& s = state_.setup();
    MapInputs inputs = mapInputs(s, state_.heads());
    inputs.token_names = state_.tokenNames();
    inputs.caption =
        tr("%1: %2; %3; d = %4, base %5, shift %6%7")
            .arg(kinds_->tabText(static_cast<int>(inputs.kind)), methodName(s), state_.sourceText())
            .arg(s.head_dim)
            .arg(s.base)
            .arg(inputs.shift)
            .arg(s.mistake == Mistake::none ? QString() : tr("; mistake: %1").arg(describe(s.mistake).name));
    if (state_.tokens() <= kMaxComputedInline) {
        HeatMapView::Map map = computeMap(inputs);
        return showComputedMap(std::move(inputs), std::move(map));
    }
    headline_->setText(tr("Computing %1 × %1 scores …").arg(state_.tokens()));
    computing_inputs_ = inputs;
    is_computing_ = true;
    computing_.setFuture(QtConcurrent::run([inputs = std::move(inputs)] { return computeMap(inputs); }));
}

void AttentionPage::showComputedMap(MapInputs inputs, HeatMapView::Map map) {
    const bool by_token = inputs.isTokenByToken();
    headline_->setText(mapHeadline(inputs, map));
    headline_->setToolTip(headline_->text());
    map.row_labels = inputs.token_names;
    if (by_token) map.column_labels = inputs.token_names;
    map.shows_distances = by_token;
    map_->setName(QString::fromLatin1(kMapNames.at(static_cast<std::size_t>(inputs.kind))));
    map_->setCaption(inputs.caption);
    map_->setMap(std::move(map));
    map_->setMarked(state_.query(), by_token ? state_.key() : -1);
    shown_inputs_ = std::move(inputs);
    showRequestedCells();
    emit explanationChanged();
}

/// Restores a zoom once the map that it applies to is shown.
void AttentionPage::showRequestedCells() {
    const bool is_of_this_map = map_->map().values && map_->map().values->rows() == state_.tokens();
    if (requested_cells_ && is_of_this_map) map_->showCells(*std::exchange(requested_cells_, std::nullopt));
}

void AttentionPage::showScoreContributions() {
    const Setup& s = state_.setup();
    const int query = state_.query(), key = state_.key();
    const Eigen::VectorXd contributions =
        scoreContributions(state_.rule(), state_.heads(), query, key, s.shift);
    ScoreFormula unablated = state_.rule();
    unablated.ablated_pairs.clear();
    const Eigen::VectorXd all = scoreContributions(unablated, state_.heads(), query, key, s.shift);
    std::map<int, double> ghosts;  // contributions of ablated pairs, drawn pale
    for (const int pair : s.ablated_pairs)
        ghosts[pair] = all[pair];
    const Theme theme = Theme::of(palette());
    const Rotary& rotary = state_.rule().form.query.rotary;
    BarChart::Series series{QStringLiteral("part"), tr("contribution to the score"), theme.frame};
    std::vector<int> categories;
    for (int i = 0; i < rotary.planes(); ++i) {
        categories.push_back(i);
        series.values.push_back(contributions[i]);
        const bool rotates = s.rotatesScores() && i < rotary.pairs();
        series.colors.push_back(rotates ? theme.pair(i, rotary.pairs()) : theme.faint_text);
    }
    bars_->clearCategoryNames();
    if (contributions[rotary.planes()] != 0) {
        categories.push_back(rotary.planes());
        series.values.push_back(contributions[rotary.planes()]);
        series.colors.push_back(theme.text);
        bars_->setCategoryName(rotary.planes(),
                               s.attention == AttentionKind::linear_cosine ? tr("1") : tr("bias"));
    }
    bars_->setBars(categories, {series});
    bars_->setDisabledCategories(ghosts);
    bars_->setMarked(s.pair);
    const double score = state_.scoreRow()[key], weight = state_.weightRow()[key];
    bars_->setHeadline(tr("query %1, key %2, distance %3:   score %4 = Σ of the bars   weight %5")
                           .arg(state_.tokenText(query), state_.tokenText(key), numberText(query - key),
                                fixedNumberText(score, 6), numberText(weight, 4)));
    bars_->setCaption(
        tr("The score of query %1 and key %2 by pair: %3").arg(query).arg(key).arg(state_.sourceText()));
}

/// Numbers of a cell, from the inputs of the visible map; the setup may already be newer.
QString AttentionPage::cellText(int row, int column) const {
    const MapInputs& q = shown_inputs_;
    const auto token = [&](int i) {
        return i < q.token_names.size() ? QStringLiteral("%1 “%2”").arg(QString::number(i), q.token_names[i])
                                        : QString::number(i);
    };
    const auto number = [](double value) { return numberText(value, 7); };
    if (row >= q.heads.tokens() || !map_->map().values) return {};
    const double value = (*map_->map().values)(row, column);
    if (!q.isTokenByToken())
        return tr("query %1    feature %2    difference of the output %3")
            .arg(token(row), QString::number(column), number(value));
    const Eigen::VectorXd scores = scoreRow(q.rule, q.heads, row, q.shift);
    const Eigen::VectorXd weights = weightRow(q.rule, q.heads, scores, row);
    QString text = tr("query %1    key %2    distance %3    score %4    weight %5")
                       .arg(token(row), token(column), numberText(row - column), number(scores[column]),
                            number(weights[column]));
    if (q.kind == MapKind::shift_difference || q.kind == MapKind::form_difference)
        text += tr("    difference %1").arg(number(value));
    return text;
}

void AttentionPage::toggleAblation(int pair) {
    if (pair >= state_.setup().pairs()) return;  // the last bar is the bias
    panel_->change(tr("Ablated pairs"), [&](Setup& s) {
        const auto found = std::ranges::find(s.ablated_pairs, pair);
        found == s.ablated_pairs.end() ? s.ablated_pairs.push_back(pair) : void(s.ablated_pairs.erase(found));
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

QString AttentionPage::explanation() const {
    return explainScore(state_);
}

/// The visible part of the map in cells, "x,y,width,height"; empty if all of it is visible.
std::string AttentionPage::visibleCells() const {
    const QRectF shown = map_->visibleCells();
    if (!map_->map().values || shown.size() == QSizeF(static_cast<double>(map_->map().values->cols()),
                                                      static_cast<double>(map_->map().values->rows())))
        return {};
    return QStringLiteral("%1,%2,%3,%4")
        .arg(shown.x(), 0, 'g', 8)
        .arg(shown.y(), 0, 'g', 8)
        .arg(shown.width(), 0, 'g', 8)
        .arg(shown.height(), 0, 'g', 8)
        .toStdString();
}

void AttentionPage::showCells(const std::string& text) {
    requested_cells_.reset();
    if (text.empty()) return map_->showAll();
    std::vector<double> numbers;
    for (const std::string& number : split(text, ','))
        numbers.push_back(parseNumber(number).value_or(std::numeric_limits<double>::quiet_NaN()));
    const bool sound = std::ranges::all_of(numbers, [](double n) { return std::isfinite(n); });
    if (numbers.size() != 4 || !sound) return;
    requested_cells_ = QRectF(numbers[0], numbers[1], numbers[2], numbers[3]);
    if (!isStale() && !is_computing_) showRequestedCells();
}

}  // namespace roper
