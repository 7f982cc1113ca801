#pragma once

#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QProcess>
#include <QPushButton>
#include <QTreeWidget>

namespace roper {

/// Lists the models that other programs have downloaded (`roper-train models`), each with its family, size
/// and the memory that reading a text takes, or why it cannot be opened. Rows appear as files are read.
class StoredModelsDialog : public QDialog {
    Q_OBJECT

  public:
    explicit StoredModelsDialog(QWidget* parent);
    ~StoredModelsDialog() override;

    const QLabel& status() const { return *status_; }

  signals:
    void chosen(const QString& path);

  private:
    void start();
    void readLines();
    void addModel(const QByteArray& line);
    void finish();
    void applyFilter();
    void showCurrent();
    void openCurrent();

    QLineEdit* filter_;
    QTreeWidget* list_;
    QLabel *details_, *status_;
    QPushButton* open_;
    QProcess process_;
};

}  // namespace roper
