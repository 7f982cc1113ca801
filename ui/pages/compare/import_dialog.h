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

/// Asks for the meaning of the columns of another program's file, and imports it as a run. Another thread
/// reads the file, and stops when the dialog is destroyed.
class ImportDialog : public QDialog {
    Q_OBJECT

  public:
    /// @param file  a file, or a folder with TensorBoard event files
    /// @param runs  the folder of runs
    ImportDialog(const std::filesystem::path& file, std::filesystem::path runs, QWidget* parent);
    ~ImportDialog() override;

    /// Whether the file is being read or imported.
    bool isBusy() const { return is_busy_; }
    /// The last error; empty if there is none.
    QString problem() const { return problem_->text(); }

    /// The combo box of a field, once the file has been read; for tests.
    QComboBox* choice(const std::string& field) const { return choices_.at(field); }
    QLineEdit& name() { return *name_; }
    QComboBox& method() { return *method_; }
    /// What was left out of the imported run; empty before the import, or if nothing was.
    QString notes() const { return notes_->text(); }

    /// Imports the run. The dialog is accepted when that is done or, if something was left out, after the
    /// user has read the notes; errors are shown.
    void import();
    void reject() override;

  private:
    void read(const std::filesystem::path& file);
    /// Runs `work` in another thread, and continues with `then` on success.
    void start(const QString& what, const std::function<void()>& work, const std::function<void()>& then);
    void ask();
    void addColumnChoices(QFormLayout& form);
    void addRunProperties(QFormLayout& form);
    void showNotes(const ImportedRun& imported);
    std::map<std::string, std::string> mapping() const;
    Specification enteredSpecification() const;

    std::shared_ptr<std::atomic<bool>> keep_going_ = std::make_shared<std::atomic<bool>>(true);
    std::shared_ptr<ExternalTable> table_ =
        std::make_shared<ExternalTable>();  ///< used by the other thread while busy
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
