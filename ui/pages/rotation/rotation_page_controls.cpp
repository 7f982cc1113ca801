#include <QHeaderView>
#include <QScopedValueRollback>
#include <cmath>

#include "core/base/text.h"
#include "ui/controls/layout_helpers.h"
#include "ui/controls/text_inputs.h"
#include "ui/explorer/example_list.h"
#include "ui/pages/rotation/rotation_page.h"
#include "ui/theme/appearance.h"
#include "ui/theme/numbers.h"

// Controls of the Rotation page.

namespace roper {
namespace {

constexpr int kSliderTop = 64;  // last position on the slider; the spin box allows more
constexpr int kFrame_ms = 33;

}  // namespace

void RotationPage::fillPanel() {
    addExamples(*panel_, "rotation", [this](const ViewSettings& view) { setViewSettings(view); });
    panel_->addDecimal(tr("Position m"), "position", tr("← → step by one, Shift by ten, Home returns to 0"),
                       1, 2);
    panel_->addSlider(tr("Position slider"), "position", tr("Drag through positions 0 to 64"), 0, kSliderTop,
                      1);
    play_ = new PlayButton(kFrame_ms);
    connect(play_, &QPushButton::toggled, this, &RotationPage::onPlayToggled);
    connect(play_, &PlayButton::next, this, &RotationPage::advance);
    speed_ = new QDoubleSpinBox;
    speed_->setDecimals(1);
    speed_->setRange(0.1, 500);
    speed_->setValue(2);
    speed_->setSuffix(tr(" positions/s"));
    panel_->addRow(tr("Speed"), speed_, tr("How fast the position moves while playing"));
    panel_->addRow({}, play_, tr("Advance the position (Space)"));
    panel_->addPair(tr("The pair in the large circle; clicking a dial also selects it"));
    panel_->addHeading(tr("Two vectors"));
    panel_->addDecimal(tr("Query position n"), "position", tr("The query q is the vector x"), 1, 2);
    panel_->addDecimal(tr("Key position j"), "key_position", {}, 1, 2);
    panel_->addShift(tr("Shift both by S"), tr("Added to n and j; the product ⟨R(n)q, R(j)k⟩ stays the same"),
                     tr("Drag S from −64 to 64"));
    panel_->addHeading(tr("Rotation"));
    addRotationControls(*panel_);
    panel_->addHeading(tr("Sentence"));
    auto* words = new LineEdit;
    connect(words, &LineEdit::edited, this, [this](const QString& text) {
        panel_->change(tr("Sentence"), [&](Setup& s) { s.words = text.toStdString(); });
    });
    panel_->onSetupShown([words](const Setup& s) { words->showText(QString::fromStdString(s.words)); });
    panel_->addRow({}, words, tr("Words of the strip, separated by spaces; the first has position 0"));
    words->setAccessibleName(tr("Sentence"));
    panel_->addHeading(tr("Vectors"));
    panel_->addRow({}, makeVectorTable(), tr("Type a number into a row"));
}

QWidget* RotationPage::makeVectorTable() {
    vector_ = new QTableWidget(0, 2);
    vector_->setHorizontalHeaderLabels({tr("x, query q"), tr("key k")});
    vector_->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    setCellSize(*vector_, 22);
    vector_->setAccessibleName(tr("Vector x and key k, one feature per row"));
    vector_->setMinimumHeight(150);
    connect(vector_, &QTableWidget::cellChanged, this, [this](int row, int column) {
        if (showing_) return;
        const QString typed = vector_->item(row, column)->text().trimmed().replace(QChar(0x2212), '-');
        const auto value = parseNumber(typed.toStdString());
        if (!value || !std::isfinite(*value) || std::abs(*value) > bounds::kMaxFeature)
            return refuseFeature(row, column);
        panel_->change(column == 0 ? tr("Vector x") : tr("Key k"),
                       [&](Setup& s) { (column == 0 ? s.x : s.y)[row] = *value; });
    });
    return vector_;
}

/// Rejects an invalid entry with a message, and reverts it.
void RotationPage::refuseFeature(int row, int column) {
    setReadout(tr("%1 must be a number between −1000000 and 1000000, not “%2”; the old value was kept")
                   .arg(withSubscript(column == 0 ? QStringLiteral("x") : QStringLiteral("k"), row))
                   .arg(vector_->item(row, column)->text()));
    showVector();
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
    actions.add(group, tr("Ten positions forward"), Qt::SHIFT | Qt::Key_Right, [this] { step(10); });
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

void RotationPage::step(double positions) {
    state_.selection().change(tr("Position m"),
                              [&](Setup& s) { s.position = std::round(s.position + positions); });
}

void RotationPage::onPlayToggled(bool plays) {
    if (!plays) return step(0);  // a fractional position has no token
    plays_in_steps_ = isMotionReduced();
    position_remainder_ = 0;
}

void RotationPage::advance() {
    Setup setup = state_.setup();
    const double next =
        setup.position + position_remainder_ + speed_->value() * play_->interval_ms() / 1000.0;
    setup.position = plays_in_steps_ ? std::round(next) : next;
    position_remainder_ = next - setup.position;
    state_.selection().set(setup, tr("Position m"));
}

}  // namespace roper
