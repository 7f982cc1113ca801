#include "ui/pages/training/samples_view.h"

#include <QScrollBar>
#include <QVBoxLayout>

#include "ui/theme/plain_text.h"
#include "ui/theme/theme.h"

namespace roper {
namespace {

constexpr std::size_t kMostShown = 64;

QString escaped(const std::string& text) {
    return QString::fromStdString(text).toHtmlEscaped().replace('\n', QStringLiteral("<br>"));
}

/// A prompt, what the model generated, and how the text continues; or masks, guesses and the text.
QString openSampleHtml(const Sample& sample, bool dark) {
    const QString written = dark ? "#5db7f0" : "#0060a8", quiet = dark ? "#9a9a9a" : "#6b6b6b";
    const bool goes_on =
        sample.prompt.find("[MASK]") == std::string::npos;  // guesses are a text of their own
    return QStringLiteral(
               "<p style='margin:0 0 14px 0;white-space:pre-wrap'>%1%7<span style='color:%2'>%3</span><br>"
               "<span style='color:%4'><i>%5</i> %6</span></p>")
        .arg(escaped(sample.prompt), written, escaped(sample.completion), quiet, QObject::tr("the text:"),
             escaped(sample.expected), goes_on ? "" : "<br>");
}

}  // namespace

SamplesView::SamplesView(QWidget* parent)
    : QWidget(parent), title_(makePlainLabel()), text_(new QTextBrowser) {
    text_->setAccessibleName(tr("Problems of the newest evaluation"));
    text_->setFrameShape(QFrame::NoFrame);
    title_->setWordWrap(true);  // a long name must not widen the window
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(title_);
    layout->addWidget(text_);
    show({}, {});
}

QString SamplesView::sampleHtml(const Sample& sample, bool dark) {
    if (!sample.correct) return openSampleHtml(sample, dark);
    const QString right = dark ? "#3fcf9f" : "#00785a", wrong = dark ? "#ff8a4c" : "#c2410c";
    const QString prompt = QString::fromStdString(sample.prompt).toHtmlEscaped();
    QString written;
    bool was_right = true;
    QString stretch;
    const auto flush = [&] {
        if (stretch.isEmpty()) return;
        written += QStringLiteral("<span style='color:%1%2'>%3</span>")
                       .arg(was_right ? right : wrong, was_right ? "" : ";text-decoration:underline",
                            stretch.toHtmlEscaped());
        stretch.clear();
    };
    for (std::size_t i = 0; i < sample.completion.size(); ++i) {
        const bool is_right = i < sample.expected.size() && sample.completion[i] == sample.expected[i];
        if (is_right != was_right) flush();
        was_right = is_right;
        stretch += QLatin1Char(sample.completion[i]);
    }
    flush();
    const QString answer = *sample.correct
                               ? QString()
                               : QObject::tr("<br><i>right: %1</i>")
                                     .arg(QString::fromStdString(sample.expected).toHtmlEscaped());
    return QStringLiteral("<p style='margin:0 0 6px 0'>%1 %2%3%4</p>")
        .arg(*sample.correct ? QStringLiteral("✓") : QStringLiteral("✗"), prompt, written, answer);
}

void SamplesView::show(const QString& run, const std::vector<Sample>& samples) {
    if (samples.empty()) {
        title_->setText(run.isEmpty() ? tr("Samples") : tr("Samples of %1").arg(run));
        text_->setHtml(
            tr("<p><i>After the first evaluation the problems and what the model generated appear "
               "here.</i></p>"));
        return;
    }
    std::size_t right = 0;
    for (const Sample& sample : samples)
        right += sample.correct.value_or(false) ? 1 : 0;
    const QString of_run = tr("Samples of %1 at step %2").arg(run).arg(samples.front().step);
    title_->setText(samples.front().correct
                        ? tr("%1: %2 of %3 right").arg(of_run).arg(right).arg(samples.size())
                        : of_run);
    const bool dark = Theme::of(palette()).dark;
    QString html = "<body style='font-family:monospace'>";
    for (std::size_t i = 0; i < std::min(samples.size(), kMostShown); ++i)
        html += sampleHtml(samples[i], dark);
    const int scrolled = text_->verticalScrollBar()->value();
    text_->setHtml(html + "</body>");
    text_->verticalScrollBar()->setValue(scrolled);
}

}  // namespace roper
