#pragma once

#include <QComboBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QLabel>
#include <QLineEdit>
#include <QSpinBox>
#include <map>

#include "core/runs/metrics_import.h"

namespace roper {

/// Asks which columns of a file made elsewhere are what, and makes a run of them.
class ImportDialog : public QDialog {
    Q_OBJECT

  public:
    /// @param like  what the run is taken for, apart from method and seed, which are asked
    ImportDialog(ForeignTable table, std::filesystem::path runs, const Specification& like, QWidget* parent);

    /// The input of a field, for tests.
    QComboBox* choice(const std::string& field) const { return choices_.at(field); }
    QLineEdit& name() { return *name_; }

    /// Makes the run; says in the dialog why not. @returns whether it was made
    bool import();

  private:
    std::map<std::string, std::string> mapping() const;

    ForeignTable table_;
    std::filesystem::path runs_;
    Specification like_;
    std::map<std::string, QComboBox*> choices_;
    QLineEdit* name_;
    QComboBox *method_, *task_;
    QSpinBox* seed_;
    QLabel* problem_;
};

}  // namespace roper
