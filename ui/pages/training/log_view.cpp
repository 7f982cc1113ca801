#include "ui/pages/training/log_view.h"

#include <QFile>
#include <QScrollBar>

namespace roper {
namespace {

constexpr qint64 kMostRead = 32 * 1024;

QString endOf(const std::filesystem::path& path) {
    QFile file(QString::fromStdString(path.string()));
    if (!file.open(QIODevice::ReadOnly)) return {};
    const bool is_cut = file.size() > kMostRead;
    if (is_cut) file.seek(file.size() - kMostRead);
    QByteArray text = file.readAll();
    if (is_cut) text.remove(0, text.indexOf('\n') + 1);
    return QString::fromUtf8(text).trimmed();
}

}  // namespace

LogView::LogView(QWidget* parent) : QPlainTextEdit(parent) {
    setReadOnly(true);
    setFrameShape(QFrame::NoFrame);
    setLineWrapMode(WidgetWidth);
    setAccessibleName(tr("Log of the run"));
    setPlaceholderText(tr("What happened to the selected run, and when."));
}

void LogView::showLog(const RunWatcher* run) {
    QString text = run != nullptr ? endOf(run->folder().logPath()) : QString();
    if (run != nullptr && !run->messages().isEmpty()) text += QStringLiteral("\n\n") + run->messages();
    if (text == toPlainText()) return;
    setPlainText(text);
    verticalScrollBar()->setValue(verticalScrollBar()->maximum());
}

}  // namespace roper
