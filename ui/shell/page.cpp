#include "ui/shell/page.h"

namespace roper {

Page::Page(const QString& name, const QString& sentence, QWidget* parent)
    : QWidget(parent), name_(name), contents_(new QVBoxLayout), readout_(new QLabel) {
    auto* title = new QLabel(name);
    QFont large = title->font();
    large.setPointSizeF(large.pointSizeF() * 1.5);
    large.setBold(true);
    title->setFont(large);
    auto* subtitle = new QLabel(sentence);
    subtitle->setWordWrap(true);
    subtitle->setForegroundRole(QPalette::PlaceholderText);
    readout_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    readout_->setAccessibleName(tr("Numbers under the pointer"));
    readout_->setMinimumHeight(readout_->fontMetrics().height() + 6);

    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 12, 16, 6);
    layout->setSpacing(6);
    layout->addWidget(title);
    layout->addWidget(subtitle);
    layout->addLayout(contents_, 1);
    layout->addWidget(readout_);
}

}  // namespace roper
