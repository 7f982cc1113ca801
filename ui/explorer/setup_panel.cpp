#include "ui/explorer/setup_panel.h"

#include <QScopedValueRollback>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/explorer/setup_fields.h"
#include "ui/controls/layout_helpers.h"
#include "ui/theme/zoom.h"

namespace roper {
namespace {

constexpr int kPanelWidth = 264;
constexpr int kLabelWidth = 112;   // longer labels stand above their control
constexpr int kControlWidth = 64;  // minimum

double numberOf(const SetupField& field, const Setup& setup) {
    return parseNumber(field.text(setup)).value_or(0);
}

/// The field's help, the page's hint, and the accepted values.
QString helpOf(const SetupField& field, const QString& hint) {
    QStringList lines{QString::fromStdString(field.help)};
    if (!hint.isEmpty()) lines << hint;
    if (!field.isChoice() && !field.isText() && !std::holds_alternative<Flag>(field.accepts))
        lines << QString::fromStdString(acceptsText(field) + (field.unit.empty() ? "" : " " + field.unit));
    return lines.join('\n');
}

int asInt(std::int64_t value) {
    constexpr std::int64_t kMaxValue = std::numeric_limits<int>::max();
    return static_cast<int>(std::clamp(value, -kMaxValue, kMaxValue));
}

}  // namespace

SetupPanel::SetupPanel(Selection& selection, QWidget* parent)
    : QScrollArea(parent), selection_(selection), column_(new QVBoxLayout) {
    auto* inside = new QWidget;
    column_->setContentsMargins(6, 0, 8, 8);
    column_->setSpacing(4);
    column_->addStretch();
    inside->setLayout(column_);
    setWidget(inside);
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFixedWidth(zoomed(kPanelWidth));
    setFocusPolicy(Qt::NoFocus);
    connect(&selection_, &Selection::changed, this, &SetupPanel::showSetup);
    connect(&Zoom::instance(), &Zoom::changed, this, [this] {
        setFixedWidth(zoomed(kPanelWidth));
        for (QLabel* label : labels_)
            label->setFixedWidth(zoomed(kLabelWidth));
        for (QWidget* widget : controls_)
            widget->setMinimumWidth(zoomed(kControlWidth));
    });
}

void SetupPanel::showSetup() {
    const QScopedValueRollback showing(showing_, true);
    for (const auto& show : show_functions_)
        show(selection_.setup());
}

void SetupPanel::onSetupShown(std::function<void(const Setup&)> show) {
    show_functions_.push_back(std::move(show));
}

void SetupPanel::change(const QString& what, const std::function<void(Setup&)>& set) {
    if (showing_) return;
    selection_.change(what, set);
    showSetup();  // also if the selection has adjusted the value
}

void SetupPanel::addHeading(const QString& text) {
    group_ = new FoldingGroup(text, nullptr);
    column_->insertWidget(column_->count() - 1, group_);
}

void SetupPanel::addRow(const QString& label, QWidget* widget, const QString& help) {
    if (widget->accessibleName().isEmpty()) widget->setAccessibleName(label);
    widget->setToolTip(help);
    widget->setAccessibleDescription(help);
    // Ranges may contain long numbers, and lists long names, wider than any panel.
    if (qobject_cast<QAbstractSpinBox*>(widget) != nullptr || qobject_cast<QComboBox*>(widget) != nullptr) {
        widget->setMinimumWidth(zoomed(kControlWidth));
        controls_.push_back(widget);
    }
    auto* row = new QWidget;
    auto* name = label.isEmpty() ? nullptr : new QLabel(label, row);
    const bool is_long = name != nullptr && name->sizeHint().width() > zoomed(kLabelWidth);
    auto* layout = new QBoxLayout(is_long ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight, row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(is_long ? 2 : 8);
    if (name != nullptr) {
        name->setToolTip(help);
        name->setBuddy(widget);
        if (!is_long) {
            name->setFixedWidth(zoomed(kLabelWidth));
            labels_.push_back(name);
        }
        layout->addWidget(name);
    }
    layout->addWidget(widget, 1);
    group_ != nullptr ? group_->add(row) : column_->insertWidget(column_->count() - 1, row);
}

/// Each control has a row layout of its own with its label. (A QFormLayout of Qt 6.4 gives no height to rows
/// that are shown again while others wrap.)
void SetupPanel::setRowVisible(QWidget* widget, bool visible) {
    widget->parentWidget()->setVisible(visible);
}

QSpinBox* SetupPanel::addInteger(const QString& label, const char* key, const QString& hint, int step) {
    const SetupField& field = findSetupField(key);
    const auto range = std::get<IntegerRange>(field.accepts);
    auto* box = new QSpinBox;
    box->setRange(asInt(range.low), asInt(range.high));
    box->setSingleStep(step);
    // Numbers apply only once complete: a 3 on the way to 32 must not truncate the vector.
    box->setKeyboardTracking(false);
    connect(box, &QSpinBox::valueChanged, this, [this, label, &field](int value) {
        change(label, [&](Setup& s) { field.set(s, std::to_string(value)); });
    });
    onSetupShown(
        [box, &field](const Setup& s) { box->setValue(asInt(parseInteger(field.text(s)).value_or(0))); });
    addRow(label, box, helpOf(field, hint));
    return box;
}

QSpinBox* SetupPanel::addIndex(const QString& label, const char* key, const QString& hint,
                               std::function<int(const Setup&)> count) {
    QSpinBox* box = addInteger(label, key, hint);
    // The range is set before the value, which it would clamp otherwise.
    const auto show_value = show_functions_.back();
    show_functions_.back() = [box, count, show_value](const Setup& s) {
        box->setRange(0, std::max(0, count(s) - 1));
        show_value(s);
    };
    return box;
}

QDoubleSpinBox* SetupPanel::addDecimal(const QString& label, const char* key, const QString& hint,
                                       double step, int decimals) {
    const SetupField& field = findSetupField(key);
    const auto range = std::get<RealRange>(field.accepts);
    auto* box = new QDoubleSpinBox;
    box->setDecimals(decimals);
    box->setRange(range.low, range.high);
    box->setSingleStep(step);
    box->setKeyboardTracking(false);
    connect(box, &QDoubleSpinBox::valueChanged, this, [this, label, &field](double value) {
        change(label, [&](Setup& s) { field.set(s, formatNumber(value)); });
    });
    onSetupShown([box, &field](const Setup& s) { box->setValue(numberOf(field, s)); });
    addRow(label, box, helpOf(field, hint));
    return box;
}

NumberEdit* SetupPanel::addReal(const QString& label, const char* key, const QString& hint) {
    const SetupField& field = findSetupField(key);
    const auto range = std::get<RealRange>(field.accepts);
    auto* edit = new NumberEdit(range.low, range.high);
    edit->setHelp(helpOf(field, hint));
    connect(edit, &NumberEdit::edited, this, [this, label, &field](double value) {
        change(label, [&](Setup& s) { field.set(s, formatNumber(value)); });
    });
    onSetupShown([edit, &field](const Setup& s) { edit->setValue(numberOf(field, s)); });
    addRow(label, edit, helpOf(field, hint));
    return edit;
}

LineEdit* SetupPanel::addNumbers(const QString& label, const char* key, const QString& hint) {
    const SetupField& field = findSetupField(key);
    auto* edit = new LineEdit;
    edit->setPlaceholderText(tr("none"));
    const QString help = helpOf(field, hint);
    const auto show = [edit, help, &field](const Setup& s) {
        edit->showText(QString::fromStdString(field.text(s)));
        edit->setToolTip(help);
    };
    connect(edit, &LineEdit::edited, this, [this, label, edit, show, &field](const QString& typed) {
        try {
            Setup next = selection_.setup();
            field.set(next, typed.toStdString());
            edit->setModified(false);
            change(label, [&](Setup& s) { s = next; });
        } catch (const Error& error) {
            edit->setText(QString::fromStdString(field.text(selection_.setup())));
            edit->setToolTip(QString::fromStdString(error.what()));
            QToolTip::showText(edit->mapToGlobal(QPoint(0, edit->height())), edit->toolTip(), edit);
        }
    });
    onSetupShown(show);
    addRow(label, edit, help);
    return edit;
}

QSlider* SetupPanel::addSlider(const QString& label, const char* key, const QString& hint, double low,
                               double high, double step) {
    const SetupField& field = findSetupField(key);
    auto* slider = new QSlider(Qt::Horizontal);
    slider->setRange(static_cast<int>(std::lround(low / step)), static_cast<int>(std::lround(high / step)));
    connect(slider, &QSlider::valueChanged, this, [this, label, &field, step](int value) {
        change(label, [&](Setup& s) { field.set(s, formatNumber(value * step)); });
    });
    onSetupShown([slider, &field, step](const Setup& s) {
        slider->setValue(static_cast<int>(std::lround(numberOf(field, s) / step)));
    });
    slider->setAccessibleName(label);
    addRow({}, slider, hint);
    return slider;
}

QComboBox* SetupPanel::addUnboundChoice(const QString& label, const QString& help, const QStringList& names,
                                        std::function<int(const Setup&)> get,
                                        std::function<void(Setup&, int)> set, const QString& shown) {
    auto* box = new QComboBox;
    box->addItems(names);
    box->setAccessibleName(label);
    allowShrinking(*box);
    connect(box, &QComboBox::currentIndexChanged, this, [this, label, set](int index) {
        if (index >= 0) change(label, [&](Setup& s) { set(s, index); });
    });
    onSetupShown([box, get](const Setup& s) { box->setCurrentIndex(get(s)); });
    addRow(shown, box, help);
    return box;
}

QComboBox* SetupPanel::addChoice(const QString& label, const char* key, const QStringList& names,
                                 const QString& hint) {
    const SetupField& field = findSetupField(key);
    const std::vector<std::string>& choices = std::get<Choice>(field.accepts).names;
    return addUnboundChoice(
        label, helpOf(field, hint), names,
        [&field](const Setup& s) { return static_cast<int>(readChoice(field, field.text(s))); },
        [&field, &choices](Setup& s, int i) { field.set(s, choices.at(static_cast<std::size_t>(i))); },
        label);
}

QCheckBox* SetupPanel::addCheck(const QString& label, const char* key, const QString& hint) {
    const SetupField& field = findSetupField(key);
    return addUnboundCheck(
        label, helpOf(field, hint), [&field](const Setup& s) { return field.text(s) == "1"; },
        [&field](Setup& s, bool on) { field.set(s, on ? "1" : "0"); });
}

QCheckBox* SetupPanel::addUnboundCheck(const QString& label, const QString& help,
                                       std::function<bool(const Setup&)> get,
                                       std::function<void(Setup&, bool)> set) {
    auto* box = new QCheckBox(label);
    box->setAccessibleName(label);
    connect(box, &QCheckBox::toggled, this,
            [this, label, set](bool on) { change(label, [&](Setup& s) { set(s, on); }); });
    onSetupShown([box, get](const Setup& s) { box->setChecked(get(s)); });
    addRow({}, box, help);
    return box;
}

QPushButton* SetupPanel::addButton(const QString& label, const QString& help, std::function<void()> run) {
    auto* button = makeActionButton(label, help, this, [run = std::move(run)] { run(); });
    button->setAccessibleName(label);
    addRow({}, button, help);
    return button;
}

void addRotationControls(SetupPanel& panel) {
    auto* width = panel.addInteger(SetupPanel::tr("Head width d"), "head_dim", {}, 2);
    panel.onSetupShown([width, help = width->toolTip()](const Setup& s) {
        const bool is_run = s.source == VectorSource::run;
        width->setEnabled(!is_run);
        width->setToolTip(is_run ? SetupPanel::tr("The head width of a run is fixed; to change it, choose "
                                                  "other vectors on the Attention page")
                                 : help);
    });
    panel.addReal(SetupPanel::tr("Base b"), "base");
    panel.addChoice(SetupPanel::tr("Frequency formula"), "frequency_formula",
                    {SetupPanel::tr("b^(−2i/d)"), SetupPanel::tr("b^(−i/d), worked example")});
    panel.addChoice(SetupPanel::tr("Pairing"), "pairing",
                    {SetupPanel::tr("half-split"), SetupPanel::tr("interleaved")});
    panel.addDecimal(SetupPanel::tr("Rotated fraction"), "rotary_fraction", {}, 0.25, 4);
    auto* part = panel.addChoice(SetupPanel::tr("Rotated part"), "rotated_part",
                                 {SetupPanel::tr("first features"), SetupPanel::tr("last features")});
    panel.onSetupShown(
        [part](const Setup& s) { part->setEnabled(s.rotary_fraction < 1 || s.value_rotary_fraction < 1); });
}

}  // namespace roper
