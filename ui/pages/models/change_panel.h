#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>
#include <QWidget>

#include "core/questions/answers.h"
#include "core/questions/question.h"
#include "ui/controls/line_edit.h"
#include "ui/controls/number_edit.h"

namespace roper {

/// What is taken out of a model, or done to its positions, as a form.
class ChangePanel : public QWidget {
    Q_OBJECT

  public:
    explicit ChangePanel(QWidget* parent);

    /// The model whose heads and rotations can be chosen; null: none is known.
    void setModel(const ModelSummary* model);
    /// Shows a change; says nothing.
    void show(const ModelChange& change);
    /// What the change does to the loss, in words.
    void setEffect(const QString& text);
    /// What it does to the problems that a run solves; empty where that is not known.
    void setSolved(const QString& text);

  signals:
    void solvingWanted();
    void changed(const roper::ModelChange& change);

  private:
    template <class Change>
    void edit(Change make);
    void beginForm();
    void addHeads();
    void addParts();
    void addPositions();
    QCheckBox* addCheck(const QString& text, const QString& help, bool ModelChange::*member);

    ModelChange change_;
    QVBoxLayout* column_;
    QFormLayout* form_ = nullptr;  ///< that rows are added to
    QComboBox *layer_, *head_, *scaling_;
    LineEdit* mute_;
    QCheckBox *no_value_rotation_ = nullptr, *no_inverse_ = nullptr;
    std::vector<std::pair<QCheckBox*, bool ModelChange::*>> checks_;
    QSpinBox* shift_;
    NumberEdit *base_, *factor_;
    QPushButton *nothing_, *solve_;
    QLabel *effect_, *solved_;
    bool showing_ = false;
};

}  // namespace roper
