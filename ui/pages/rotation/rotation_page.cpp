#include "ui/pages/rotation/rotation_page.h"

#include "core/explorer/setup_fields.h"
#include "ui/controls/layout_helpers.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

/// The setting `step` of exported worked examples: how many steps they show.
const FieldInfo& linesField() {
    static const FieldInfo field{"", "step", "", "Number of lines of the worked example to show",
                                 IntegerRange{1, WorkedExampleView::kSteps}};
    return field;
}

}  // namespace

RotationPage::RotationPage(Selection& selection, QWidget* parent)
    : ExplorerPage(tr("Rotation"),
                   tr("Each pair of features rotates by its position times its own frequency. Drag the "
                      "arrow, move the position, click a dial or a word."),
                   selection, parent),
      state_(selection, this),
      circle_(new CircleView(state_, this)),
      two_vectors_(new TwoVectorsView(state_, this)),
      four_ways_(new FourWaysView(state_, this)),
      dials_(new DialsView(state_, this)),
      strip_(new TokenStrip(state_, this)),
      bars_(new BarsView(state_, this)),
      worked_(new WorkedExamplePanel(state_, this)),
      upper_(new QTabWidget),
      lower_(new QTabWidget),
      panel_(new SetupPanel(selection, this)) {
    upper_->addTab(circle_, tr("One vector"));
    upper_->addTab(two_vectors_, tr("Two vectors"));
    upper_->addTab(four_ways_, tr("Four ways"));
    upper_->setDocumentMode(true);
    lower_->setDocumentMode(true);
    lower_->addTab(bars_, tr("Vector"));
    lower_->addTab(worked_, tr("Worked example"));
    auto* upper = makeSplitter(Qt::Horizontal, {upper_, dials_}, {560, 340});
    upper->setStretchFactor(0, 3);
    upper->setStretchFactor(1, 2);
    auto* figures = makeSplitter(Qt::Vertical, {upper, strip_, lower_}, {420, 84, 220}, 0);
    fillPanel();
    contents()->addLayout(rowOf({{figures, 1}, panel_}));

    for (FigureView* view :
         std::initializer_list<FigureView*>{circle_, two_vectors_, four_ways_, dials_, strip_, bars_})
        connect(view, &FigureView::hovered, this, &RotationPage::showReadout);
    connect(four_ways_, &HeatMapView::cellHovered, this, [this](int feature, int) {
        hoverState().set({.pair = pairOfFeature(state_.rotary())[static_cast<std::size_t>(feature)]});
    });
    connect(&hoverState(), &HoverState::changed, this, [this] {
        for (QWidget* view : std::initializer_list<QWidget*>{circle_, dials_, strip_, bars_})
            if (view->isVisible()) view->update();
    });
    connect(&state_, &RotationState::changed, this, &RotationPage::refreshWhenVisible);
    connect(upper_, &QTabWidget::currentChanged, this, &RotationPage::refreshWhenVisible);
    std::vector<const FieldInfo*> settings = fieldInfos(setupFields());
    settings.push_back(&linesField());
    pageFigures().set({circle_, two_vectors_, four_ways_, dials_, strip_, bars_, &worked_->view()},
                      std::move(settings));
    registerTabSetting("view.rotation", *upper_);
    registerTabSetting("view.rotation_below", *lower_);
    registerNumberSetting(
        "view.worked_step", [this] { return worked_->view().step(); },
        [this](int step) { worked_->view().setStep(step); });
    panel_->showSetup();
}

Figure& RotationPage::prepareFigure(FigureRequest request) {
    const auto lines = request.takeSetting(linesField().name);
    const bool is_plain = request.kind == "worked-example" && request.settings.empty();
    state_.selection().replace(
        withSettings(is_plain ? withWorkedExample(Setup{}) : Setup{}, request.settings));
    refreshNow();
    showWorkedExample(lines ? static_cast<int>(readInteger(linesField(), *lines))
                            : WorkedExampleView::kSteps);
    return pageFigures().named(request.kind);
}

void RotationPage::onVisibilityChanged(bool seen) {
    if (!seen) play_->setChecked(false);
}

void RotationPage::refresh() {
    showVector();
    if (four_ways_->isVisibleTo(this)) four_ways_->showState();
    setReadout({});  // the old readout described the previous state
    emit explanationChanged();
}

void RotationPage::showWorkedExample(int step) {
    lower_->setCurrentWidget(worked_);
    worked_->view().setStep(step);
}

QString RotationPage::explanation() const {
    const Setup& s = state_.setup();
    const Rotary& rotary = state_.rotary();
    const auto [first, second] = rotary.plane(s.pair);
    if (s.pair >= rotary.pairs())
        return tr("<h3>A pair that does not rotate</h3>"
                  "<p>With a rotated fraction of %1, only the %7 %2 of %3 features rotate. This pair, "
                  "features %4 and %5, stays unchanged: it encodes what a token is, independently of its "
                  "position.</p>")
            .arg(s.rotary_fraction)
            .arg(rotary.rotatedWidth())
            .arg(s.head_dim)
            .arg(first)
            .arg(second)
            .arg(s.rotated_part == RotatedPart::first ? tr("first") : tr("last"));
    const double theta = rotary.theta[s.pair];
    const QString formula = s.frequency_formula == FrequencyFormula::standard
                                ? QStringLiteral("b<sup>−2i/r</sup>")
                                : QStringLiteral("b<sup>−i/r</sup>");
    QString text =
        tr("<h3>One pair, rotated</h3>"
           "<p>θ<sub>i</sub> = %1 with b = %2, r = %3 rotated features, i = %4%5:<br>"
           "<b>θ<sub>%4</sub> = %6</b> rad per position</p>")
            .arg(formula)
            .arg(numberText(s.base))
            .arg(rotary.rotatedWidth())
            .arg(s.pair)
            .arg(s.scaling.method == ScalingMethod::none ? QString() : tr(", then scaled (see Spectrum)"))
            .arg(numberText(theta));
    text += tr("<p>At position m = %1 the pair (x<sub>%2</sub>, x<sub>%3</sub>) rotates by mθ = <b>%4</b> "
               "rad:</p>"
               "<p>x′<sub>%2</sub> = x<sub>%2</sub> cos mθ − x<sub>%3</sub> sin mθ = "
               "<b>%5</b><br>x′<sub>%3</sub> = x<sub>%2</sub> sin mθ + x<sub>%3</sub> cos mθ = <b>%6</b></p>"
               "<p>Its norm is preserved; at m = 0 nothing rotates; R(m)R(m′) = R(m+m′).</p>")
                .arg(numberText(s.position))
                .arg(first)
                .arg(second)
                .arg(numberText(s.position * theta), numberText(state_.rotated()[first]),
                     numberText(state_.rotated()[second]));
    if (upper_->currentWidget() == two_vectors_)
        text +=
            tr("<h3>Two vectors</h3>"
               "<p>⟨R(n)q, R(j)k⟩ = qᵀR(n)ᵀR(j)k = qᵀR(j−n)k: the score depends only on the distance δ = n − "
               "j. Shift both positions by S: the number stays the same.</p>");
    if (upper_->currentWidget() == four_ways_)
        text +=
            tr("<h3>Four equivalent ways</h3>"
               "<p>A 2 × 2 matrix per pair; x ⊗ cos + x̃ ⊗ sin, where x̃ contains (−b, a) for each pair (a, b) "
               "(<code>rotate_half</code>), as in most implementations; multiplication by e<sup>imθ</sup>; "
               "and the full "
               "matrix R(m), block-diagonal for interleaved pairs, scattered for half-split ones. All are "
               "the same rotation up to rounding.</p>");
    return text +
           tr("<p><i>Su et al., RoFormer: Enhanced Transformer with Rotary Position Embedding, 2021</i></p>");
}

}  // namespace roper
