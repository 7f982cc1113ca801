#include "ui/pages/training/confirm_long_work.h"

#include <QMessageBox>
#include <QPushButton>

#include "core/base/machine_load.h"
#include "ui/live/run_texts.h"

namespace roper {

void confirmLongWork(QWidget* parent, const QString& what, const QString& verb, const ExpectedTime& time,
                     const std::function<void()>& work) {
    constexpr double kMaxUnconfirmed_s = 600;
    if (time.seconds <= kMaxUnconfirmed_s) return work();
    auto* question = new QMessageBox(parent);
    question->setObjectName(QStringLiteral("long_work_question"));
    question->setAttribute(Qt::WA_DeleteOnClose);
    question->setIcon(QMessageBox::Question);
    question->setWindowTitle(QObject::tr("This takes a long time"));
    question->setText(QObject::tr("%1: %2.").arg(what, expectedTimeText(time)));
    question->setInformativeText(
        QObject::tr("This machine: %1. Training would end %2. It continues if this window is closed, and can "
                    "be stopped and resumed at any time.")
            .arg(QString::fromStdString(machineName()), clockTimeText(time.seconds)));
    auto* agree = question->addButton(verb, QMessageBox::AcceptRole);
    question->addButton(QMessageBox::Cancel);
    question->setDefaultButton(QMessageBox::Cancel);
    QObject::connect(agree, &QPushButton::clicked, parent, work);
    question->open();
}

}  // namespace roper
