#include "ui/pages/mixing/mixing_page.h"

#include <cmath>

#include "core/explorer/setup_fields.h"
#include "ui/controls/layout_helpers.h"
#include "ui/pages/mixing/mixing_text.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

constexpr int kMaxShift = 64;              // range of the shift chart, to either side
constexpr int kMaxTokensWithDetail = 128;  // with more, the shift chart has only whole shifts

}  // namespace

MixingPage::MixingPage(AttentionState& state, QWidget* parent)
    : ExplorerPage(
          tr("Value mixing"),
          tr("The same weights, the same values: RoPE adds the values as they are; RoPER first rotates each "
             "by j − n, so the sum itself encodes how far away each value was."),
          state.selection(), parent),
      state_(state),
      chain_view_(new ValueChainView(state, this)),
      distances_(new BarChart(QStringLiteral("distance-shares"), tr("distance δ = n − j"),
                              tr("contribution to |o|"), this)),
      steps_(new StepsView(state, this)),
      shifts_(new CurveChart(QStringLiteral("shift-test"), tr("all positions moved by S"),
                             tr("output in this pair"), this)),
      pairs_(new PairTable(state, this)),
      implementations_(new ImplementationsTable(state, this)),
      lower_(new QTabWidget),
      panel_(new SetupPanel(state.selection(), this)),
      play_(new PlayButton(kFrame_ms)),
      verdict_(wrappedLabel()) {
    verdict_->setTextFormat(Qt::RichText);
    lower_->addTab(distances_, tr("By distance"));
    lower_->addTab(steps_, tr("Step by step"));
    lower_->addTab(shifts_, tr("Shift all positions"));
    lower_->addTab(pairs_, tr("All pairs"));
    lower_->addTab(implementations_, tr("Implementations"));
    lower_->setDocumentMode(true);
    lower_->setCurrentWidget(steps_);  // contributions by distance are trivial for a single token
    auto* splitter = makeSplitter(Qt::Vertical, {chain_view_, lower_}, {470, 250}, 0);
    fillPanel();
    contents()->addLayout(rowOf({{splitter, 1}, panel_}));
    for (FigureView* view : std::initializer_list<FigureView*>{chain_view_, distances_, steps_})
        connect(view, &FigureView::hovered, this, &MixingPage::showReadout);
    connect(distances_, &BarChart::categoryHovered, this, [this](int distance) {
        hoverState().set({.key = state_.query() - distance, .distance = distance});
    });
    connect(&hoverState(), &HoverState::changed, this, [this] {
        distances_->setHovered(hoverState().now().distance);
        chain_view_->update();
        steps_->update();
    });
    connect(shifts_, &CurveChart::hovered, this, &MixingPage::setReadout);
    connect(shifts_, &CurveChart::clicked, this,
            [this](double x) { panel_->change(tr("Shift S"), [&](Setup& s) { s.shift = std::round(x); }); });
    connect(distances_, &BarChart::categoryClicked, this, [this](int distance) {
        panel_->change(tr("Key"), [&](Setup& s) { s.key = state_.query() - distance; });
    });
    connect(pairs_, &PairTable::pairChosen, this,
            [this](int pair) { panel_->change(tr("Pair i"), [&](Setup& s) { s.pair = pair; }); });
    connect(implementations_, &ImplementationsTable::implementationChosen, this,
            [this](const Implementation& chosen) {
                panel_->change(QString::fromStdString(chosen.name), [&](Setup& s) { s = chosen.applyTo(s); });
            });
    connect(implementations_, &ImplementationsTable::reported, this, &MixingPage::setReadout);
    connect(lower_, &QTabWidget::currentChanged, this, &MixingPage::refreshWhenVisible);
    connect(&state_, &AttentionState::changed, this, &MixingPage::refreshWhenVisible);
    pageFigures().set({chain_view_, distances_, steps_, shifts_, pairs_, implementations_},
                      fieldInfos(setupFields()));
    registerTabSetting("view.mixing_below", *lower_);
    connect(play_, &PlayButton::next, this, &MixingPage::advance);
    panel_->showSetup();
}

Figure& MixingPage::prepareFigure(FigureRequest request) {
    state_.loadForFigure(request.run,
                         [&](const Setup& setup) { return withSettings(setup, request.settings); });
    refreshNow();
    QCoreApplication::processEvents();
    return pageFigures().named(request.kind);
}

void MixingPage::onVisibilityChanged(bool seen) {
    state_.countVisiblePage(seen);
    if (!seen) play_->setChecked(false);
}

void MixingPage::refresh() {
    if (implementations_->isVisibleTo(this)) implementations_->showRows();
    if (!state_.isReady()) {
        distances_->setBars({}, {});
        shifts_->setCurves({}, {});
        pairs_->showRows();
        verdict_->clear();
        emit explanationChanged();
        return;
    }
    // Hidden tabs are updated when they are shown.
    if (distances_->isVisibleTo(this)) showDistances();
    if (shifts_->isVisibleTo(this)) showShifts();
    if (pairs_->isVisibleTo(this)) pairs_->showRows();
    const Setup& s = state_.setup();
    const AttentionForm form = mixingForm(s);
    const double moved =
        s.shift == 0 ? 0.0
                     : (state_.outputRow(form, s.shift) - state_.outputRow(form, 0)).cwiseAbs().maxCoeff();
    verdict_->setText(s.shift == 0
                          ? tr("Change S and see whether the output stays the same.")
                          : tr("When all positions shift by %1, the output changes by at most <b>%2</b>.")
                                .arg(numberText(s.shift), numberText(moved, 3)));
    setReadout({});
    emit explanationChanged();
}

void MixingPage::refreshHiddenTabs() {
    if (!state_.isReady()) return;
    showDistances();
    showShifts();
    pairs_->showRows();
}

void MixingPage::showDistances() {
    const auto rope = contributionsByDistance(chain_view_->ropeChain(), state_.query());
    const auto roper = contributionsByDistance(chain_view_->roperChain(), state_.query());
    std::vector<int> categories;
    BarChart::Series left{QStringLiteral("rope"), tr("RoPE"), Theme::rope()},
        right{QStringLiteral("roper"), mixingName(state_.setup()), Theme::roper()};
    // Near distances first: the contributions are ordered from far to near.
    for (std::size_t i = rope.size(); i-- > 0;) {
        categories.push_back(rope[i].distance);
        left.values.push_back(rope[i].contribution);
        right.values.push_back(roper[i].contribution);
    }
    distances_->setBars(categories, {left, right});
    distances_->setMarked(state_.query() - state_.key());
    distances_->setHeadline(tr("What each distance δ adds to the length of the output"));
    distances_->setCaption(
        tr("What each distance adds to the length of the output of query %1 in pair %2: %3")
            .arg(state_.query())
            .arg(state_.setup().pair)
            .arg(state_.mixedText()));
}

/// Shows the output in this pair for every shift, with and without the inverse rotation.
void MixingPage::showShifts() {
    Setup with = state_.setup(), without = state_.setup();
    with.method = without.method = "roper";
    with.mistake = Mistake::none;
    without.mistake = Mistake::no_inverse;
    std::vector<CurveChart::Curve> curves;
    for (const auto& [key, label, setup, color] :
         {std::tuple{"with_inverse", tr("with R(−n)"), with, Theme::roper()},
          std::tuple{"without_inverse", tr("without"), without, Theme::of(palette()).faint_text}}) {
        CurveChart::Curve first{QString::fromLatin1(key) + "_1", tr("o₀ %1").arg(label), color};
        CurveChart::Curve second{QString::fromLatin1(key) + "_2", tr("o₁ %1").arg(label), color.lighter(135)};
        first.bold = true;
        const AttentionForm form = mixingForm(setup);
        const double step = state_.tokens() <= kMaxTokensWithDetail ? 0.5 : 1.0;
        for (double shift = -kMaxShift; shift <= kMaxShift; shift += step) {
            const ValueChain chain = state_.valueChain(form, shift);
            for (auto [curve, value] : {std::pair{&first, chain.sum.x()}, {&second, chain.sum.y()}}) {
                curve->x.append(shift);
                curve->y.append(value);
            }
        }
        curves.push_back(first);
        curves.push_back(second);
    }
    std::vector<CurveChart::Mark> marks;
    if (std::abs(state_.setup().shift) <= kMaxShift)
        marks.push_back({state_.setup().shift, tr("S = %1").arg(state_.setup().shift), false});
    shifts_->setCurves(curves, marks);
    shifts_->setCaption(
        tr("Output of query %1 in pair %2 when all positions shift: with the inverse rotation "
           "it stays the same, without it the output rotates")
            .arg(state_.query())
            .arg(state_.setup().pair));
}

QString MixingPage::explanation() const {
    const Setup& s = state_.setup();
    QString text =
        tr("<h3>Values that carry their distance</h3>"
           "<p>RoPE: o<sub>n</sub> = Σ<sub>j</sub> a<sub>nj</sub> v<sub>j</sub><br>RoPER: o<sub>n</sub> = "
           "R(−n) Σ<sub>j</sub> a<sub>nj</sub> R(j) v<sub>j</sub> = Σ<sub>j</sub> a<sub>nj</sub> R(j−n) "
           "v<sub>j</sub></p>");
    if (state_.isReady()) {
        const double theta = s.valueRotary().frequency(s.pair);
        const int n = state_.query(), j = state_.key();
        const double strength = s.value_rotation_strength;
        text += tr("<p>n = %1, j = %2, θ = %3: this value rotates by %4 = <b>%5</b> rad.</p>")
                    .arg(n)
                    .arg(j)
                    .arg(numberText(theta),
                         strength < 1 ? tr("%1 % of (j−n)θ").arg(std::lround(100 * strength))
                                      : QStringLiteral("(j−n)θ"),
                         numberText(strength * (j - n) * theta));
    }
    text +=
        tr("<p>o₀ = Σ a (v₀ cos(j−n)θ − v₁ sin(j−n)θ)<br>o₁ = Σ a (v₁ cos(j−n)θ + v₀ sin(j−n)θ)</p>"
           "<p>Two equal values at different distances give different sums, which the network can read. "
           "Rotating back by R(−n) makes the output relative: without it, the output also rotates with the "
           "position of the whole sentence.</p>"
           "<p>The bars by distance are projections of each arrow onto the direction of the sum: they add up "
           "to its length.</p>"
           "<p>YaRN and LongRoPE multiply cos and sin by a factor m. The inverse of such a rotation divides "
           "by m where the rotation multiplies by it: only then is R(−n)R(n) = 1. Here, and when frequencies "
           "of a run are "
           "scaled, m applies only to queries and keys, whose scores it multiplies by m²; "
           "values rotate by the scaled angles without m, so that no division is needed.</p>");
    if (!s.rotatesScores() || s.attention != AttentionKind::softmax)
        text += tr("<p>The weights come from the method chosen on the Attention page.</p>");
    return text + tr("<p><i>Harik &amp; Jayasiri, Rotary Positional Embeddings with Relative distances, "
                     "2022</i></p>");
}

}  // namespace roper
