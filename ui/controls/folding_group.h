#pragma once

#include <QToolButton>
#include <QVBoxLayout>
#include <QWidget>

namespace roper {

/// A heading that folds the contents below it. The state is stored under the heading's text.
class FoldingGroup : public QWidget {
    Q_OBJECT

  public:
    FoldingGroup(const QString& title, QWidget* parent);

    void add(QWidget* widget) { body_->layout()->addWidget(widget); }
    void setFolded(bool folded);

  private:
    void show();

    QString key_;  ///< key in the settings
    QToolButton* header_;
    QWidget* body_;
    bool is_folded_;
};

}  // namespace roper
