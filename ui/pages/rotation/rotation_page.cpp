#include "ui/pages/rotation/rotation_page.h"

#include <QHeaderView>
#include <QScopedValueRollback>
#include <QSplitter>
#include <cmath>

#include "core/base/text.h"
#include "core/explorer/setup_fields.h"
#include "ui/controls/line_edit.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

constexpr int kSliderTop = 512;
constexpr int kFrame_ms = 33;

const FieldInfo& linesField() {
    static const FieldInfo field{"", "step", "", "Lines of the worked example",
                                 IntegerRange{1, WorkedExampleView::kSteps}};
    return field;
}

}  // namespace

RotationPage::RotationPage(Selection& selection, QWidget* parent)
    : Page(tr("Rotation"),
           tr("Each pair of features rotates by its position times its own frequency. Drag the arrow, move "
              "the "
              "position, click a dial or a word."),
           parent),
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
    auto* upper = new QSplitter(Qt::Horizontal);
    upper->addWidget(upper_);
    upper->addWidget(dials_);
    upper->setStretchFactor(0, 3);
    upper->setStretchFactor(1, 2);
    lower_->addTab(bars_, tr("Vector"));
    lower_->addTab(worked_, tr("Worked example"));
    auto* pictures = new QSplitter(Qt::Vertical);
    pictures->addWidget(upper);
    pictures->addWidget(strip_);
    pictures->addWidget(lower_);
    upper->setSizes({560, 340});
    pictures->setSizes({420, 84, 220});
    pictures->setStretchFactor(0, 1);
    for (QSplitter* splitter : {upper, pictures})
        splitter->setChildrenCollapsible(false);

    fillPanel();
    auto* row = new QHBoxLayout;
    row->addWidget(pictures, 1);
    row->addWidget(panel_);
    contents()->addLayout(row);

    for (FigureView* view : {static_cast<FigureView*>(circle_), static_cast<FigureView*>(two_vectors_),
                             static_cast<FigureView*>(four_ways_), static_cast<FigureView*>(dials_),
                             static_cast<FigureView*>(strip_), static_cast<FigureView*>(bars_)})
        connect(view, &FigureView::pointed, this, [this](const QString& text) { setReadout(text); });
    connect(&state_, &RotationState::changed, this, &RotationPage::refreshWhenSeen);
    connect(&timer_, &QTimer::timeout, this, &RotationPage::advance);
    connect(upper_, &QTabWidget::currentChanged, this, &Page::explanationChanged);
    panel_->showSetup();
}

std::vector<const Figure*> RotationPage::figures() const {
    return {circle_, two_vectors_, four_ways_, dials_, strip_, bars_, &worked_->view()};
}

std::vector<const FieldInfo*> RotationPage::figureSettings() const {
    std::vector<const FieldInfo*> infos = infosOf(setupFields());
    infos.push_back(&linesField());
    return infos;
}

const Figure& RotationPage::prepareFigure(FigureRequest request) {
    const auto lines = request.take(linesField().name);
    const bool is_plain = request.kind == "worked-example" && request.settings.empty();
    state_.selection().replace(
        withSettings(is_plain ? withWorkedExample(Setup{}) : Setup{}, request.settings));
    refreshNow();
    showWorkedExample(lines ? static_cast<int>(readInteger(linesField(), *lines))
                            : WorkedExampleView::kSteps);
    return figureNamed(request.kind);
}

void RotationPage::fillPanel() {
    panel_->addDecimal(tr("Position m"), "position", tr("← → step by one, Shift by ten, Home returns to 0"),
                       1, 2);
    panel_->addSlider(tr("Position, by hand"), "position", tr("Drag through positions 0 to 512"), 0,
                      kSliderTop, 1);
    play_ = new QPushButton(tr("Play"));
    play_->setCheckable(true);
    connect(play_, &QPushButton::clicked, this, &RotationPage::togglePlay);
    speed_ = new QDoubleSpinBox;
    speed_->setRange(0.1, 500);
    speed_->setValue(2);
    speed_->setSuffix(tr(" positions/s"));
    panel_->addRow(tr("Speed"), speed_, tr("How fast the position moves while playing"));
    panel_->addRow({}, play_, tr("Moves the position on (Space)"));
    panel_->addIndex(tr("Pair i"), "pair", tr("In the large circle; a click on a dial selects it too"),
                     [](const Setup& s) { return s.pairs(); });
    panel_->addHeading(tr("Two vectors"));
    panel_->addDecimal(tr("Key position n"), "key_position", tr("The query q is vector x at position m"), 1,
                       2);
    panel_->addDecimal(tr("Shift both by S"), "shift",
                       tr("Added to m and n; the product ⟨R(m)q, R(n)k⟩ stays"), 1, 2);
    panel_->addSlider(tr("Shift, by hand"), "shift", tr("Drag S from −64 to 64"), -64, 64, 1);
    panel_->addHeading(tr("Rotation"));
    addRotationControls(*panel_);
    panel_->addHeading(tr("Sentence"));
    auto* words = new LineEdit;
    connect(words, &LineEdit::edited, this, [this](const QString& text) {
        panel_->change(tr("Sentence"), [&](Setup& s) { s.words = text.toStdString(); });
    });
    panel_->whenShown([words](const Setup& s) { words->showText(QString::fromStdString(s.words)); });
    panel_->addRow({}, words, tr("Words of the strip, separated by spaces; the first has position 0"));
    words->setAccessibleName(tr("Sentence"));
    panel_->addHeading(tr("Vectors"));
    panel_->addRow({}, makeVectorTable(), tr("Type a number into a row"));
}

QWidget* RotationPage::makeVectorTable() {
    vector_ = new QTableWidget(0, 2);
    vector_->setHorizontalHeaderLabels({tr("x, query q"), tr("key k")});
    vector_->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    vector_->verticalHeader()->setDefaultSectionSize(22);
    vector_->setAccessibleName(tr("Vector x and key k, one feature a row"));
    vector_->setMinimumHeight(150);
    connect(vector_, &QTableWidget::cellChanged, this, [this](int row, int column) {
        if (showing_) return;
        const QString typed = vector_->item(row, column)->text().trimmed().replace(QChar(0x2212), '-');
        const auto value = parseNumber(typed.toStdString());
        if (!value || !std::isfinite(*value) || std::abs(*value) > bounds::kLargestFeature)
            return refuseFeature(row, column);
        panel_->change(column == 0 ? tr("Vector x") : tr("Key k"),
                       [&](Setup& s) { (column == 0 ? s.x : s.y)[row] = *value; });
    });
    return vector_;
}

/// What cannot be read is said and put back.
void RotationPage::refuseFeature(int row, int column) {
    setReadout(tr("%1 must be a number between −1000000 and 1000000, not “%2”; the old one stays")
                   .arg(withSubscript(column == 0 ? QStringLiteral("x") : QStringLiteral("k"), row))
                   .arg(vector_->item(row, column)->text()));
    showVector();
}

void RotationPage::becomeSeen(bool seen) {
    if (!seen && play_->isChecked()) play_->click();
}

void RotationPage::refresh() {
    showVector();
    setReadout({});  // what stood there was of the state before
    emit explanationChanged();
}

void RotationPage::showVector() {
    const QScopedValueRollback showing(showing_, true);
    const Setup& s = state_.setup();
    vector_->setRowCount(s.head_dim);
    for (int row = 0; row < s.head_dim; ++row) {
        if (vector_->verticalHeaderItem(row) == nullptr)
            vector_->setVerticalHeaderItem(row, new QTableWidgetItem(QString::number(row)));
        for (const auto& [column, value] : {std::pair{0, s.x[row]}, {1, s.y[row]}}) {
            const QString text = QString::number(value, 'g', 6);
            if (vector_->item(row, column) == nullptr)
                vector_->setItem(row, column, new QTableWidgetItem(text));
            else if (vector_->item(row, column)->text() != text)
                vector_->item(row, column)->setText(text);
        }
    }
}

void RotationPage::addActions(Actions& actions) {
    const QString group = tr("Rotation");
    actions.add(group, tr("Play or pause"), Qt::Key_Space, [this] { play_->click(); });
    actions.add(group, tr("Next position"), Qt::Key_Right, [this] { step(1); });
    actions.add(group, tr("Previous position"), Qt::Key_Left, [this] { step(-1); });
    actions.add(group, tr("Ten positions on"), Qt::SHIFT | Qt::Key_Right, [this] { step(10); });
    actions.add(group, tr("Ten positions back"), Qt::SHIFT | Qt::Key_Left, [this] { step(-10); });
    actions.add(group, tr("Position 0"), Qt::Key_Home, [this] { step(-state_.setup().position); });
    actions.add(group, tr("Worked example: “cat” at position 3"), {}, [this] {
        state_.loadWorkedExample();
        showWorkedExample(1);
    });
    actions.add(group, tr("Next step of the worked example"), Qt::Key_PageDown,
                [this] { showWorkedExample(worked_->view().step() + 1); });
    actions.add(group, tr("Previous step of the worked example"), Qt::Key_PageUp,
                [this] { worked_->view().setStep(worked_->view().step() - 1); });
}

void RotationPage::showWorkedExample(int step) {
    lower_->setCurrentWidget(worked_);
    worked_->view().setStep(step);
}

void RotationPage::step(double positions) {
    Setup setup = state_.setup();
    setup.position = std::round(setup.position + positions);
    state_.selection().set(setup, tr("Position m"));
}

void RotationPage::togglePlay() {
    if (play_->isChecked()) {
        timer_.start(kFrame_ms);
    } else {
        timer_.stop();
        step(0);  // a position between two tokens has no token
    }
    play_->setText(play_->isChecked() ? tr("Pause") : tr("Play"));
}

void RotationPage::advance() {
    Setup setup = state_.setup();
    setup.position += speed_->value() * kFrame_ms / 1000.0;
    state_.selection().set(setup, tr("Position m"));
}

ViewSettings RotationPage::viewSettings() const {
    return {{"view.rotation", std::to_string(upper_->currentIndex())},
            {"view.rotation_below", std::to_string(lower_->currentIndex())},
            {"view.worked_step", std::to_string(worked_->view().step())}};
}

void RotationPage::setViewSettings(const ViewSettings& settings) {
    setTab(*upper_, settings, "view.rotation");
    setTab(*lower_, settings, "view.rotation_below");
    if (const auto step = viewNumber(settings, "view.worked_step")) worked_->view().setStep(*step);
}

QString RotationPage::explanation() const {
    const Setup& s = state_.setup();
    const Rotary& rotary = state_.rotary();
    const auto [first, second] = rotary.plane(s.pair);
    if (s.pair >= rotary.pairs())
        return tr("<h3>A pair that does not rotate</h3><p>With a rotated fraction of %1 only the first %2 of "
                  "%3 "
                  "features rotate. This pair, features %4 and %5, passes unchanged: it carries what a token "
                  "is, "
                  "wherever it stands.</p>")
            .arg(s.rotary_fraction)
            .arg(rotary.rotatedWidth())
            .arg(s.head_dim)
            .arg(first)
            .arg(second);
    const double theta = rotary.theta[s.pair];
    const QString formula = s.frequency_formula == FrequencyFormula::standard
                                ? QStringLiteral("b<sup>−2i/r</sup>")
                                : QStringLiteral("b<sup>−i/r</sup>");
    QString text =
        tr("<h3>One pair, rotated</h3>"
           "<p>θ<sub>i</sub> = %1 with b = %2, r = %3 rotated features, i = %4%5:<br>"
           "<b>θ<sub>%4</sub> = %6</b> rad a position</p>")
            .arg(formula)
            .arg(noteNumber(s.base))
            .arg(rotary.rotatedWidth())
            .arg(s.pair)
            .arg(s.scaling.method == ScalingMethod::none ? QString() : tr(", then scaled (see Spectrum)"))
            .arg(noteNumber(theta));
    text += tr("<p>At position m = %1 the pair (x<sub>%2</sub>, x<sub>%3</sub>) rotates by mθ = <b>%4</b> "
               "rad:</p>"
               "<p>x′<sub>%2</sub> = x<sub>%2</sub> cos mθ − x<sub>%3</sub> sin mθ = <b>%5</b><br>"
               "x′<sub>%3</sub> = x<sub>%2</sub> sin mθ + x<sub>%3</sub> cos mθ = <b>%6</b></p>"
               "<p>The length of the pair stays; at m = 0 nothing rotates; R(m)R(n) = R(m+n).</p>")
                .arg(noteNumber(s.position))
                .arg(first)
                .arg(second)
                .arg(noteNumber(s.position * theta), noteNumber(state_.rotated()[first]),
                     noteNumber(state_.rotated()[second]));
    if (upper_->currentWidget() == two_vectors_)
        text +=
            tr("<h3>Two vectors</h3><p>⟨R(m)q, R(n)k⟩ = qᵀR(m)ᵀR(n)k = qᵀR(n−m)k: only the distance is left. "
               "Move both positions by S and watch the number stay.</p>");
    if (upper_->currentWidget() == four_ways_)
        text +=
            tr("<h3>Four ways</h3><p>A 2 × 2 matrix a pair; x ⊗ cos + x̃ ⊗ sin, which is how programs do it; "
               "multiplication by e<sup>imθ</sup>; and the full matrix R(m), block-diagonal for interleaved "
               "pairs, "
               "scattered for half-split ones. All are the same rotation to the last digits.</p>");
    return text +
           tr("<p><i>Su et al., RoFormer: Enhanced Transformer with Rotary Position Embedding, 2021</i></p>");
}

}  // namespace roper
