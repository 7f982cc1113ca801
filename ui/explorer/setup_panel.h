#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QSlider>
#include <QSpinBox>
#include <QVBoxLayout>
#include <functional>
#include <vector>

#include "ui/controls/folding_group.h"
#include "ui/controls/text_inputs.h"
#include "ui/explorer/selection.h"

namespace roper {

/// The controls beside a figure. Each is bound to a setting of the shared setup: it changes the selection and
/// follows its changes. All have a label, a help text and an accessible name.
class SetupPanel : public QScrollArea {
    Q_OBJECT

  public:
    SetupPanel(Selection& selection, QWidget* parent);

    /// Begins a foldable group, which receives all controls added afterwards.
    void addHeading(const QString& text);

    // Controls of a setting, identified by its key (core/explorer/setup_fields.h), which determines range,
    // unit and help. `hint` adds help specific to the page, such as its keys.

    QSpinBox* addInteger(const QString& label, const char* key, const QString& hint = {}, int step = 1);
    /// An integer from 0 up to, but excluding, a count that depends on the setup.
    QSpinBox* addIndex(const QString& label, const char* key, const QString& hint,
                       std::function<int(const Setup&)> count);
    QDoubleSpinBox* addDecimal(const QString& label, const char* key, const QString& hint, double step,
                               int decimals);
    /// A number in any notation, such as 1e4.
    NumberEdit* addReal(const QString& label, const char* key, const QString& hint = {});
    /// Numbers separated by commas. Invalid input is marked, with the reason.
    LineEdit* addNumbers(const QString& label, const char* key, const QString& hint = {});
    /// A slider over [low, high] in steps of `step`, for a number that has another control as well.
    QSlider* addSlider(const QString& label, const char* key, const QString& hint, double low, double high,
                       double step);
    /// @param names  display names of the field's choices, in their order
    QComboBox* addChoice(const QString& label, const char* key, const QStringList& names,
                         const QString& hint = {});
    QCheckBox* addCheck(const QString& label, const char* key, const QString& hint = {});

    // Controls used by several pages.

    /// The chosen pair.
    void addPair(const QString& hint) {
        addIndex(tr("Pair i"), "pair", hint, [](const Setup& s) { return s.pairs(); });
    }
    /// The shift of all positions, as a number and as a slider.
    void addShift(const QString& label, const QString& hint, const QString& slider_hint) {
        addDecimal(label, "shift", hint, 1, 2);
        addSlider(tr("Shift slider"), "shift", slider_hint, -64, 64, 1);
    }

    // Controls not bound to a single setting.

    /// A combo box; `label` is its accessible name.
    /// @param shown  the visible label; none for long names
    QComboBox* addUnboundChoice(const QString& label, const QString& help, const QStringList& names,
                                std::function<int(const Setup&)> get, std::function<void(Setup&, int)> set,
                                const QString& shown = {});
    QCheckBox* addUnboundCheck(const QString& label, const QString& help,
                               std::function<bool(const Setup&)> get, std::function<void(Setup&, bool)> set);
    QPushButton* addButton(const QString& label, const QString& help, std::function<void()> run);
    /// Adds a control specific to the page.
    void addRow(const QString& label, QWidget* widget, const QString& help);

    /// Shows or hides a control and its label.
    void setRowVisible(QWidget* widget, bool visible);

    /// Registers a function called with every new setup, for example to enable controls or set texts.
    void onSetupShown(std::function<void(const Setup&)> show);

    /// Changes the selection; `what` names the change in the undo history.
    void change(const QString& what, const std::function<void(Setup&)>& set);

    void showSetup();

  protected:
    const Selection& selection() const { return selection_; }

  private:
    Selection& selection_;
    QVBoxLayout* column_;
    FoldingGroup* group_ = nullptr;   ///< the current group
    std::vector<QLabel*> labels_;     ///< labels in front of controls
    std::vector<QWidget*> controls_;  ///< controls that may be narrower than their size hint
    std::vector<std::function<void(const Setup&)>> show_functions_;
    bool showing_ = false;
};

/// Adds the controls of a head's rotation, the same on every page.
void addRotationControls(SetupPanel& panel);

}  // namespace roper
