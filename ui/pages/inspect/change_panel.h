#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>
#include <QWidget>
#include <type_traits>

#include "ui/controls/text_inputs.h"
#include "ui/pages/inspect/inspect_state.h"

namespace roper {

/// A form for ablations and changes of positions (`ModelChange`), and their effect on the loss and on the
/// number of solved problems.
class ChangePanel : public QWidget {
    Q_OBJECT

  public:
    ChangePanel(InspectState& state, QWidget* parent);

  signals:
    /// Emitted when the user changes the form.
    void changed(const roper::ModelChange& change);

  private:
    void showModel();
    void show(const ModelChange& change);
    void showEffect();
    void showSolved();
    /// Sets a member of the change, as the user has chosen.
    template <class Value>
    void edit(Value ModelChange::*member, const std::type_identity_t<Value>& value);
    void beginForm();
    void addHeads();
    void addParts();
    void addPositions();
    QCheckBox* addCheck(const QString& text, const QString& help, bool ModelChange::*member);

    InspectState& state_;
    ModelChange change_;
    QVBoxLayout* column_;
    QFormLayout* form_ = nullptr;  ///< form to which rows are added
    QComboBox *layer_, *head_, *scaling_;
    LineEdit* ablated_pairs_;
    QCheckBox *no_value_rotation_ = nullptr, *no_inverse_ = nullptr;
    std::vector<std::pair<QCheckBox*, bool ModelChange::*>> checks_;
    QSpinBox* shift_;
    NumberEdit *base_, *factor_;
    QPushButton *nothing_, *solve_;
    QLabel *effect_, *solved_;
    bool showing_ = false;  ///< the program fills the form, so its signals are not edits
};

}  // namespace roper
