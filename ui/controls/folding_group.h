#pragma once

#include <QToolButton>
#include <QVBoxLayout>
#include <QWidget>

namespace roper {

/// A heading that hides or shows the contents below it. The state is saved in QSettings, by heading.
class FoldingGroup : public QWidget {
    Q_OBJECT

  public:
    FoldingGroup(const QString& title, QWidget* parent);

    void add(QWidget* widget) { body_->layout()->addWidget(widget); }
    void setFolded(bool folded);

  private:
    void show();

    QString key_;  ///< in QSettings
    QToolButton* header_;
    QWidget* body_;
    bool is_folded_;
};

}  // namespace roper
