#include "ui/pages/training/long_work.h"

#include <QMessageBox>
#include <QPushButton>

#include "ui/theme/numbers.h"

namespace roper {

QString expectedTimeText(const ExpectedTime& time) {
    const QString duration = shortDuration(time.seconds);
    switch (time.basis) {
        case ExpectedTime::Basis::same_settings:
            return QObject::tr("about %1 on this machine").arg(duration);
        case ExpectedTime::Basis::other_runs:
            return QObject::tr("about %1 on this machine, judged by other runs").arg(duration);
        case ExpectedTime::Basis::guess:
            return QObject::tr("perhaps %1: nothing has been timed on this machine yet").arg(duration);
    }
    return duration;
}

void askBeforeLongWork(QWidget* parent, const QString& what, const QString& verb, const ExpectedTime& time,
                       const std::function<void()>& work) {
    constexpr double kLongest_s = 600;
    if (time.seconds <= kLongest_s) return work();
    auto* question = new QMessageBox(parent);
    question->setObjectName(QStringLiteral("long_work_question"));
    question->setAttribute(Qt::WA_DeleteOnClose);
    question->setIcon(QMessageBox::Question);
    question->setWindowTitle(QObject::tr("This takes long"));
    question->setText(QObject::tr("%1: %2.").arg(what, expectedTimeText(time)));
    question->setInformativeText(
        QObject::tr("It trains on if this window is closed. It can be stopped, and continued, at any time."));
    auto* agree = question->addButton(verb, QMessageBox::AcceptRole);
    question->addButton(QMessageBox::Cancel);
    question->setDefaultButton(QMessageBox::Cancel);
    QObject::connect(agree, &QPushButton::clicked, parent, work);
    question->open();
}

}  // namespace roper
