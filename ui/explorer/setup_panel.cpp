#include "ui/explorer/setup_panel.h"

#include <QLabel>
#include <QScopedValueRollback>
#include <QScrollBar>
#include <cmath>

namespace roper {
namespace {

constexpr int kPanelWidth = 264;

}  // namespace

SetupPanel::SetupPanel(Selection& selection, QWidget* parent)
    : QScrollArea(parent), selection_(selection), form_(new QFormLayout) {
    auto* inside = new QWidget;
    form_->setRowWrapPolicy(QFormLayout::WrapLongRows);
    form_->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    form_->setContentsMargins(6, 0, 8, 6);
    form_->setHorizontalSpacing(8);
    form_->setVerticalSpacing(5);
    inside->setLayout(form_);
    setWidget(inside);
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFixedWidth(kPanelWidth);
    setFocusPolicy(Qt::NoFocus);
    connect(&selection_, &Selection::changed, this, &SetupPanel::showSetup);
}

void SetupPanel::showSetup() {
    const QScopedValueRollback showing(showing_, true);
    for (const auto& show : shown_)
        show(selection_.setup());
}

void SetupPanel::whenShown(std::function<void(const Setup&)> show) {
    shown_.push_back(std::move(show));
}

void SetupPanel::change(const QString& what, const std::function<void(Setup&)>& set) {
    if (showing_) return;
    Setup setup = selection_.setup();
    set(setup);
    selection_.set(setup, what);
    showSetup();  // also where the selection took another value than was asked for
}

void SetupPanel::addHeading(const QString& text) {
    auto* heading = new QLabel(text);
    QFont bold = heading->font();
    bold.setBold(true);
    heading->setFont(bold);
    heading->setContentsMargins(0, form_->rowCount() > 0 ? 8 : 0, 0, 0);
    form_->addRow(heading);
}

void SetupPanel::addRow(const QString& label, QWidget* widget, const QString& help) {
    if (widget->accessibleName().isEmpty()) widget->setAccessibleName(label);
    widget->setToolTip(help);
    widget->setAccessibleDescription(help);
    if (label.isEmpty()) return form_->addRow(widget);
    auto* name = new QLabel(label);
    name->setToolTip(help);
    name->setBuddy(widget);
    form_->addRow(name, widget);
}

void SetupPanel::setRowVisible(QWidget* widget, bool visible) {
    form_->setRowVisible(widget, visible);
}

QSpinBox* SetupPanel::addWhole(const QString& label, const QString& help, Whole at, int low, int high,
                               int step) {
    auto* box = new QSpinBox;
    box->setRange(low, high);
    box->setSingleStep(step);
    // A number counts when it is whole: on the way to 32, a 3 must not cut the vector.
    box->setKeyboardTracking(false);
    connect(box, &QSpinBox::valueChanged, this,
            [this, label, at](int value) { change(label, [&](Setup& s) { at(s) = value; }); });
    whenShown([box, at](const Setup& s) { box->setValue(at(const_cast<Setup&>(s))); });
    addRow(label, box, help);
    return box;
}

QSpinBox* SetupPanel::addIndex(const QString& label, const QString& help, Whole at,
                               std::function<int(const Setup&)> count) {
    QSpinBox* box = addWhole(label, help, at, 0, 0);
    // The range comes before the value, which it would cut otherwise.
    const auto show_value = shown_.back();
    shown_.back() = [box, count, show_value](const Setup& s) {
        box->setRange(0, std::max(0, count(s) - 1));
        show_value(s);
    };
    return box;
}

QDoubleSpinBox* SetupPanel::addDecimal(const QString& label, const QString& help, Real at, double low,
                                       double high, double step, int decimals) {
    auto* box = new QDoubleSpinBox;
    box->setDecimals(decimals);
    box->setRange(low, high);
    box->setSingleStep(step);
    box->setKeyboardTracking(false);
    connect(box, &QDoubleSpinBox::valueChanged, this,
            [this, label, at](double value) { change(label, [&](Setup& s) { at(s) = value; }); });
    whenShown([box, at](const Setup& s) { box->setValue(at(const_cast<Setup&>(s))); });
    addRow(label, box, help);
    return box;
}

NumberEdit* SetupPanel::addReal(const QString& label, const QString& help, Real at, double low, double high) {
    auto* edit = new NumberEdit(low, high);
    edit->setHelp(help);
    connect(edit, &NumberEdit::edited, this,
            [this, label, at](double value) { change(label, [&](Setup& s) { at(s) = value; }); });
    whenShown([edit, at](const Setup& s) { edit->setValue(at(const_cast<Setup&>(s))); });
    addRow(label, edit, help);
    return edit;
}

QSlider* SetupPanel::addSlider(const QString& label, const QString& help, Real at, double low, double high,
                               double step) {
    auto* slider = new QSlider(Qt::Horizontal);
    slider->setRange(static_cast<int>(std::lround(low / step)), static_cast<int>(std::lround(high / step)));
    connect(slider, &QSlider::valueChanged, this,
            [this, label, at, step](int value) { change(label, [&](Setup& s) { at(s) = value * step; }); });
    whenShown([slider, at, step](const Setup& s) {
        slider->setValue(static_cast<int>(std::lround(at(const_cast<Setup&>(s)) / step)));
    });
    slider->setAccessibleName(label);
    addRow({}, slider, help);
    return slider;
}

QComboBox* SetupPanel::makeChoice(const QString& label, const QStringList& names,
                                  std::function<int(const Setup&)> get,
                                  std::function<void(Setup&, int)> set) {
    auto* box = new QComboBox;
    box->addItems(names);
    box->setAccessibleName(label);
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(8);
    connect(box, &QComboBox::currentIndexChanged, this, [this, label, set](int index) {
        if (index >= 0) change(label, [&](Setup& s) { set(s, index); });
    });
    whenShown([box, get](const Setup& s) { box->setCurrentIndex(get(s)); });
    return box;
}

QComboBox* SetupPanel::addChoice(const QString& label, const QString& help, const QStringList& names,
                                 std::function<int(const Setup&)> get, std::function<void(Setup&, int)> set) {
    QComboBox* box = makeChoice(label, names, std::move(get), std::move(set));
    addRow(label, box, help);
    return box;
}

QComboBox* SetupPanel::addWideChoice(const QString& label, const QString& help, const QStringList& names,
                                     std::function<int(const Setup&)> get,
                                     std::function<void(Setup&, int)> set) {
    QComboBox* box = makeChoice(label, names, std::move(get), std::move(set));
    addRow({}, box, help);
    return box;
}

QCheckBox* SetupPanel::addCheck(const QString& label, const QString& help,
                                std::function<bool(const Setup&)> get,
                                std::function<void(Setup&, bool)> set) {
    auto* box = new QCheckBox(label);
    box->setAccessibleName(label);
    connect(box, &QCheckBox::toggled, this,
            [this, label, set](bool on) { change(label, [&](Setup& s) { set(s, on); }); });
    whenShown([box, get](const Setup& s) { box->setChecked(get(s)); });
    addRow({}, box, help);
    return box;
}

QPushButton* SetupPanel::addButton(const QString& label, const QString& help, std::function<void()> run) {
    auto* button = new QPushButton(label);
    button->setAccessibleName(label);
    connect(button, &QPushButton::clicked, this, [run = std::move(run)] { run(); });
    addRow({}, button, help);
    return button;
}

void addRotationControls(SetupPanel& panel) {
    auto* width = panel.addWhole(
        SetupPanel::tr("Head width d"), SetupPanel::tr("Features of one head, even"),
        [](Setup& s) -> int& { return s.head_dim; }, bounds::kLeastHeadDim, bounds::kMostHeadDim, 2);
    panel.whenShown([width](const Setup& s) {
        const bool is_run = s.source == Source::run;
        width->setEnabled(!is_run);
        width->setToolTip(
            is_run ? SetupPanel::tr("The heads of a run are as wide as they are; choose other vectors "
                                    "on the Attention page to change it")
                   : SetupPanel::tr("Features of one head, even"));
    });
    panel.addReal(
        SetupPanel::tr("Base b"),
        SetupPanel::tr("10000 in Su et al.; larger bases rotate the slow pairs more slowly"),
        [](Setup& s) -> double& { return s.base; }, bounds::kLeastBase, bounds::kMostBase);
    panel.addChoice(
        SetupPanel::tr("Frequency formula"),
        SetupPanel::tr("How the frequency falls from pair to pair: standard b^(−2i/d), or b^(−i/d) as in the "
                       "worked example of a widely read introduction"),
        {SetupPanel::tr("b^(−2i/d)"), SetupPanel::tr("b^(−i/d), worked example")},
        [](const Setup& s) { return static_cast<int>(s.frequency_formula); },
        [](Setup& s, int i) { s.frequency_formula = static_cast<FrequencyFormula>(i); });
    panel.addChoice(
        SetupPanel::tr("Pairing"),
        SetupPanel::tr(
            "Which two features rotate together: half-split i with i + d/2, interleaved 2i with 2i + 1"),
        {SetupPanel::tr("half-split"), SetupPanel::tr("interleaved")},
        [](const Setup& s) { return static_cast<int>(s.pairing); },
        [](Setup& s, int i) { s.pairing = static_cast<Pairing>(i); });
    panel.addDecimal(
        SetupPanel::tr("Rotated fraction"),
        SetupPanel::tr(
            "Share of the features of q and k that rotate; the others pass unchanged. Frequencies use the "
            "rotated width"),
        [](Setup& s) -> double& { return s.rotary_fraction; }, 0, 1, 0.25, 4);
}

}  // namespace roper
