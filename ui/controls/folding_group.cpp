#include "ui/controls/folding_group.h"

#include <QSettings>

#include "ui/controls/layout_helpers.h"

namespace roper {

FoldingGroup::FoldingGroup(const QString& title, QWidget* parent)
    : QWidget(parent),
      key_(QStringLiteral("folded/") + title),
      header_(new QToolButton),
      body_(new QWidget),
      is_folded_(QSettings().value(key_, false).toBool()) {
    header_->setFont(boldFont(header_->font()));
    header_->setText(title);
    named(header_, title, tr("Collapse or expand: %1").arg(title));
    header_->setAutoRaise(true);
    header_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    header_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    for (QVBoxLayout* layout : {columnOf({}, body_), columnOf({header_, body_}, this)}) {
        layout->setContentsMargins(0, 0, 0, 0);
        layout->setSpacing(4);
    }
    show();
    connect(header_, &QToolButton::clicked, this, [this] { setFolded(!is_folded_); });
}

void FoldingGroup::setFolded(bool folded) {
    is_folded_ = folded;
    QSettings().setValue(key_, folded);
    show();
}

void FoldingGroup::show() {
    header_->setArrowType(is_folded_ ? Qt::RightArrow : Qt::DownArrow);
    body_->setVisible(!is_folded_);
}

}  // namespace roper
