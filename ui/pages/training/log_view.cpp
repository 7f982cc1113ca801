#include "ui/pages/training/log_view.h"

#include <QScrollBar>

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"

namespace roper {
namespace {

constexpr std::size_t kMaxRead = 32 * 1024;

QString endOf(const FilePath& path) {
    try {
        std::string text = readEnd(path, kMaxRead);
        if (text.size() == kMaxRead) text.erase(0, text.find('\n') + 1);
        return QString::fromStdString(replaceControlCharacters(text)).trimmed();
    } catch (const Error& error) {
        return QString::fromStdString(error.what());
    }
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
