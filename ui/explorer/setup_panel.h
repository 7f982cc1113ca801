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
#include "ui/controls/line_edit.h"
#include "ui/controls/number_edit.h"
#include "ui/explorer/selection.h"

namespace roper {

/// The controls beside a picture. Each is bound to one setting of the shared setup: changing it changes the
/// selection, and whatever changes the selection is shown by it. All have a label, a help text and an
/// accessible name.
class SetupPanel : public QScrollArea {
    Q_OBJECT

  public:
    SetupPanel(Selection& selection, QWidget* parent);

    /// Begins a group, which can be folded: what is added from now on stands in it.
    void addHeading(const QString& text);

    // Controls of a setting, named by its key (core/explorer/setup_fields.h): range, unit and help are the
    // field's. `hint` adds what only this page can do with it, such as its keys.

    QSpinBox* addWhole(const QString& label, const char* key, const QString& hint = {}, int step = 1);
    /// A whole number from 0 to below a count that depends on the setup.
    QSpinBox* addIndex(const QString& label, const char* key, const QString& hint,
                       std::function<int(const Setup&)> count);
    QDoubleSpinBox* addDecimal(const QString& label, const char* key, const QString& hint, double step,
                               int decimals);
    /// A number in any notation.
    NumberEdit* addReal(const QString& label, const char* key, const QString& hint = {});
    /// Numbers separated by commas. What cannot be read is marked, and says why.
    LineEdit* addNumbers(const QString& label, const char* key, const QString& hint = {});
    /// A slider over [low, high] in steps of `step`, for a number that another control shows.
    QSlider* addSlider(const QString& label, const char* key, const QString& hint, double low, double high,
                       double step);
    /// @param names  what the choices of the field are called here, in their order
    QComboBox* addChoice(const QString& label, const char* key, const QStringList& names,
                         const QString& hint = {});
    QCheckBox* addCheck(const QString& label, const char* key, const QString& hint = {});

    // Controls that several pages have.

    /// Which pair is looked at.
    void addPair(const QString& hint) {
        addIndex(tr("Pair i"), "pair", hint, [](const Setup& s) { return s.pairs(); });
    }
    /// How far all positions are moved, as a number and by hand.
    void addShift(const QString& label, const QString& hint, const QString& by_hand) {
        addDecimal(label, "shift", hint, 1, 2);
        addSlider(tr("Shift, by hand"), "shift", by_hand, -64, 64, 1);
    }

    // Controls of what is no single setting.

    /// Without a label before it, for long names; the label is its accessible name.
    QComboBox* addOwnChoice(const QString& label, const QString& help, const QStringList& names,
                            std::function<int(const Setup&)> get, std::function<void(Setup&, int)> set);
    QCheckBox* addOwnCheck(const QString& label, const QString& help, std::function<bool(const Setup&)> get,
                           std::function<void(Setup&, bool)> set);
    QPushButton* addButton(const QString& label, const QString& help, std::function<void()> run);
    /// A control of the page's own.
    void addRow(const QString& label, QWidget* widget, const QString& help);

    /// Shows or hides a control together with its label.
    void setRowVisible(QWidget* widget, bool visible);

    /// Called with every new setup, for what depends on it: which controls are enabled, texts.
    void whenShown(std::function<void(const Setup&)> show);

    /// Changes the selection; `what` names it in the history.
    void change(const QString& what, const std::function<void(Setup&)>& set);

    void showSetup();

  protected:
    const Selection& selection() const { return selection_; }

  private:
    QComboBox* makeChoice(const QString& label, const QStringList& names,
                          std::function<int(const Setup&)> get, std::function<void(Setup&, int)> set);

    Selection& selection_;
    QVBoxLayout* column_;
    FoldingGroup* group_ = nullptr;   ///< the last
    std::vector<QLabel*> labels_;     ///< that stand before their control
    std::vector<QWidget*> controls_;  ///< that may be narrower than they would like
    std::vector<std::function<void(const Setup&)>> shown_;
    bool showing_ = false;
};

/// The controls of a head's rotation, the same on every page.
void addRotationControls(SetupPanel& panel);

}  // namespace roper
