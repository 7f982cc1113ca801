#pragma once

#include <QComboBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSpinBox>
#include <atomic>
#include <functional>
#include <map>
#include <memory>

#include "core/runs/metrics_import.h"

namespace roper {

/// Asks which columns of a file made elsewhere are what, and makes a run of them. Another thread reads the
/// file; it stops when the dialog goes.
class ImportDialog : public QDialog {
    Q_OBJECT

  public:
    /// @param file  or a folder with TensorBoard's event files
    ImportDialog(const std::filesystem::path& file, std::filesystem::path runs, QWidget* parent);
    ~ImportDialog() override;

    /// Whether the file is being read or imported.
    bool isBusy() const { return is_busy_; }
    /// What went wrong last; empty if nothing did.
    QString problem() const { return problem_->text(); }

    /// The input of a field once the file has been read, for tests.
    QComboBox* choice(const std::string& field) const { return choices_.at(field); }
    QLineEdit& name() { return *name_; }
    QComboBox& method() { return *method_; }
    /// What was left out of the run that was made; empty before, or if nothing was.
    QString notes() const { return notes_->text(); }

    /// Makes the run. The dialog is accepted when it is there or, where something was left out of it, once
    /// that has been read; otherwise it says why not.
    void import();
    void reject() override;

  private:
    void read(const std::filesystem::path& file);
    /// Lets another thread work, and goes on with `then` if nothing went wrong.
    void start(const QString& what, const std::function<void()>& work, const std::function<void()>& then);
    void ask();
    void addColumnChoices(QFormLayout& form);
    void addWhatItIs(QFormLayout& form);
    void showNotes(const ImportedRun& imported);
    std::map<std::string, std::string> mapping() const;
    Specification said() const;

    std::shared_ptr<std::atomic<bool>> goes_on_ = std::make_shared<std::atomic<bool>>(true);
    std::shared_ptr<ForeignTable> table_ =
        std::make_shared<ForeignTable>();  ///< while busy the other thread's
    std::filesystem::path runs_;
    bool is_busy_ = false, is_done_ = false;
    std::map<std::string, QComboBox*> choices_;
    QLineEdit* name_;
    QComboBox *method_, *task_;
    QSpinBox* seed_;
    QLabel *what_, *problem_, *notes_;
    QProgressBar* busy_;
    QWidget* questions_;
    QDialogButtonBox* buttons_;
    QPushButton* import_;
};

}  // namespace roper
