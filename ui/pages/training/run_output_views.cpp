#include "ui/pages/training/run_output_views.h"

#include <QScrollBar>

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"
#include "ui/controls/layout_helpers.h"
#include "ui/theme/theme.h"

namespace roper {
namespace {

constexpr std::size_t kMaxRead = 32 * 1024;  // bytes from the end of a log

QString endOf(const FilePath& path) {
    try {
        std::string text = readEnd(path, kMaxRead);
        if (text.size() == kMaxRead) text.erase(0, text.find('\n') + 1);
        return QString::fromStdString(replaceControlCharacters(text)).trimmed();
    } catch (const Error& error) {
        return QString::fromStdString(error.what());
    }
}

constexpr std::size_t kMaxShown = 64;  // samples

QString escaped(const std::string& text) {
    return QString::fromStdString(text).toHtmlEscaped().replace('\n', QStringLiteral("<br>"));
}

QString spanHtml(const QString& color, const std::string& text, bool underlined = false) {
    return QStringLiteral("<span style='color:%1%2'>%3</span>")
        .arg(color, underlined ? QStringLiteral(";text-decoration:underline") : QString(), escaped(text));
}

/// Colors of correct, wrong, generated and secondary text.
struct SampleColors {
    QString right, wrong, written, quiet;
    explicit SampleColors(bool dark)
        : right(dark ? "#3fcf9f" : "#00785a"),
          wrong(dark ? "#ff8a4c" : "#c2410c"),
          written(dark ? "#5db7f0" : "#0060a8"),
          quiet(dark ? "#9a9a9a" : "#6b6b6b") {}
};

QString originalHtml(const Sample& sample, const SampleColors& colors) {
    return QStringLiteral("<br><span style='color:%1'><i>%2</i> %3</span></p>")
        .arg(colors.quiet, QObject::tr("original:"), escaped(sample.expected));
}

/// A prompt, the generated text, and the original continuation.
QString continuedHtml(const Sample& sample, const SampleColors& colors) {
    return QStringLiteral("<p style='margin:0 0 14px 0;white-space:pre-wrap'>") + escaped(sample.prompt) +
           spanHtml(colors.written, sample.completion) + originalHtml(sample, colors);
}

/// A sequence with its masks, the same sequence with the predictions marked, and the original text. Runs of
/// older versions do not record which tokens were predicted.
QString maskedHtml(const Sample& sample, const SampleColors& colors) {
    QString filled;
    std::size_t done = 0;
    const auto& predicted = sample.predicted;  // triples: first byte, bytes, whether right
    for (std::size_t i = 0; i + 2 < predicted.size(); i += 3) {
        const auto begin = static_cast<std::size_t>(predicted[i]),
                   size = static_cast<std::size_t>(predicted[i + 1]);
        if (predicted[i] < 0 || size > sample.completion.size()) break;  // the file is damaged
        if (begin < done || begin > sample.completion.size() - size) break;
        const bool is_right = predicted[i + 2] != 0;
        filled += escaped(sample.completion.substr(done, begin - done)) +
                  spanHtml(is_right ? colors.right : colors.wrong, sample.completion.substr(begin, size),
                           !is_right);
        done = begin + size;
    }
    const std::string rest = sample.completion.substr(done);
    filled += predicted.empty() ? spanHtml(colors.written, rest) : escaped(rest);
    return QStringLiteral("<p style='margin:0 0 14px 0;white-space:pre-wrap'>") +
           spanHtml(colors.quiet, sample.prompt) + QStringLiteral("<br>") + filled +
           originalHtml(sample, colors);
}

}  // namespace

LogView::LogView(QWidget* parent) : QPlainTextEdit(parent) {
    setReadOnly(true);
    setFrameShape(QFrame::NoFrame);
    setLineWrapMode(WidgetWidth);
    setAccessibleName(tr("Log of the run"));
    setPlaceholderText(tr("The log of the selected run appears here."));
}

void LogView::showLog(const RunWatcher* run) {
    QString text = run != nullptr ? endOf(run->folder().logPath()) : QString();
    if (run != nullptr && !run->messages().isEmpty()) text += QStringLiteral("\n\n") + run->messages();
    if (text == toPlainText()) return;
    setPlainText(text);
    verticalScrollBar()->setValue(verticalScrollBar()->maximum());
}

SamplesView::SamplesView(QWidget* parent) : QWidget(parent), title_(wrappedLabel()), text_(new HtmlView) {
    text_->setAccessibleName(tr("Examples of the newest evaluation"));
    text_->setFrameShape(QFrame::NoFrame);
    columnOf({title_, text_}, this)->setContentsMargins(0, 0, 0, 0);
    show({}, {});
}

QString SamplesView::sampleHtml(const Sample& sample, bool dark) {
    const SampleColors colors(dark);
    if (!sample.correct)
        return sample.prompt.find("[MASK]") == std::string::npos && sample.predicted.empty()
                   ? continuedHtml(sample, colors)
                   : maskedHtml(sample, colors);
    const QString prompt = QString::fromStdString(sample.prompt).toHtmlEscaped();
    QString written;
    bool was_right = true;
    std::string segment;
    const auto flush = [&] {
        if (!segment.empty())
            written += spanHtml(was_right ? colors.right : colors.wrong, segment, !was_right);
        segment.clear();
    };
    for (std::size_t i = 0; i < sample.completion.size(); ++i) {
        const bool is_right = i < sample.expected.size() && sample.completion[i] == sample.expected[i];
        if (is_right != was_right) flush();
        was_right = is_right;
        segment += sample.completion[i];
    }
    flush();
    QString answer;
    const QString expected = QString::fromStdString(sample.expected).toHtmlEscaped();
    if (!*sample.correct)
        answer = QObject::tr("<br><i>correct: %1</i>").arg(expected);
    else if (!sample.fully_correct.value_or(true))
        answer = QObject::tr("<br><i>the result is right, the working is not: %1</i>").arg(expected);
    return QStringLiteral("<p style='margin:0 0 6px 0'>%1 %2%3%4</p>")
        .arg(*sample.correct ? QStringLiteral("✓") : QStringLiteral("✗"), prompt, written, answer);
}

void SamplesView::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && !samples_.empty()) write();
}

void SamplesView::show(const QString& run, const std::vector<Sample>& samples) {
    samples_ = samples;
    if (samples.empty()) {
        title_->setText(run.isEmpty() ? tr("Samples") : tr("Samples of %1").arg(run));
        text_->setHtml(
            tr("<p><i>After the first evaluation, its problems and the answers of the model appear "
               "here.</i></p>"));
        return;
    }
    std::size_t right = 0, fully_right = 0;
    for (const Sample& sample : samples) {
        right += sample.correct.value_or(false) ? 1 : 0;
        fully_right += sample.fully_correct.value_or(false) ? 1 : 0;
    }
    const QString of_run = tr("Samples of %1 at step %2").arg(run).arg(samples.front().step);
    title_->setText(
        samples.front().correct
            ? tr("%1: %2 of %3 right").arg(of_run).arg(right).arg(samples.size()) +
                  (samples.front().fully_correct ? tr(", %1 fully solved").arg(fully_right) : QString())
            : of_run);
    write();
}

void SamplesView::write() {
    const bool dark = Theme::of(palette()).dark;
    QString html = "<body style='font-family:monospace'>";
    for (std::size_t i = 0; i < std::min(samples_.size(), kMaxShown); ++i)
        html += sampleHtml(samples_[i], dark);
    const int scrolled = text_->verticalScrollBar()->value();
    text_->setHtml(html + "</body>");
    text_->verticalScrollBar()->setValue(scrolled);
}

}  // namespace roper
