#include "ui/charts/figure_export.h"

#include <QBuffer>
#include <QFileInfo>
#include <QFontInfo>
#include <QHash>
#include <QPdfWriter>
#include <QRegularExpression>
#include <QSaveFile>
#include <QSvgGenerator>
#include <algorithm>

#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "ui/charts/drawing.h"
#include "ui/charts/latex.h"
#include "ui/theme/zoom.h"

namespace roper {
namespace {

constexpr double kPixelsPerMm = 96.0 / 25.4;  // a device-independent pixel is 1/96 inch
constexpr double kCaptionMargin = 8;

double captionHeight(const Figure& figure, double width) {
    return wrappedHeight(figure.figureCaption(), Zoom::instance().figureFont(), width - 2 * kCaptionMargin) +
           kCaptionMargin;
}

/// Scale from layout pixels to paper, so that text has the requested size, or a smaller one if the labels
/// would not fit otherwise.
double zoomOf(const Figure& figure, const ExportOptions& options) {
    if (options.width_mm <= 0) return 1.0;
    const double width = options.width_mm * kPixelsPerMm;
    return std::min(options.text_pt / Zoom::instance().figureFont().pointSizeF(),
                    width / figure.minFigureSize().width());
}

/// The size in which the figure is laid out.
QSizeF layoutSize(const Figure& figure, const ExportOptions& options) {
    if (options.width_mm <= 0) return figure.figureSize();
    return figure.sizeForWidth(options.width_mm * kPixelsPerMm / zoomOf(figure, options));
}

/// The same including the caption.
QSizeF pictureSize(const Figure& figure, const ExportOptions& options) {
    QSizeF size = layoutSize(figure, options);
    if (options.caption) size.rheight() += captionHeight(figure, size.width());
    return size;
}

/// @param scale  pixels of the device per layout pixel
void drawPicture(QPaintDevice& device, double scale, const Figure& figure, const ExportOptions& options,
                 const Theme& theme) {
    QPainter painter(&device);
    painter.scale(scale, scale);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF area(QPointF(0, 0), layoutSize(figure, options));
    const QSizeF all = pictureSize(figure, options);
    painter.fillRect(QRectF(QPointF(0, 0), all), theme.background);
    painter.setFont(Zoom::instance().figureFont());
    painter.save();
    if (options.legend)
        figure.paintFigure(painter, area, theme);
    else
        figure.paintWithLegend(false, painter, area, theme);
    painter.restore();
    if (options.caption) {
        drawColoredText(painter,
                        QRectF(kCaptionMargin, area.bottom(), area.width() - 2 * kCaptionMargin,
                               all.height() - area.height()),
                        Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, figure.figureCaption(),
                        theme.faint_text);
    }
}

QSize imageSize(const Figure& figure, const ExportOptions& options) {
    return (pictureSize(figure, options) * (zoomOf(figure, options) * options.scale)).toSize();
}

QByteArray pngBytes(const Figure& figure, const ExportOptions& options, const Theme& theme) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    constexpr qint64 kMaxPixels = 1 << 28;  // 1 GiB
    const QSize size = imageSize(figure, options);
    const bool is_too_large = qint64{size.width()} * size.height() > kMaxPixels;
    if (is_too_large || size.isEmpty() || !figureImage(figure, options, theme).save(&buffer, "PNG"))
        throw Error(is_too_large ? ErrorKind::usage : ErrorKind::memory,
                    "the figure \"" + figure.figureName().toStdString() + "\" would have " +
                        std::to_string(size.width()) + " × " + std::to_string(size.height()) +
                        " pixels, which cannot be written as PNG; choose another width, height or scale");
    return bytes;
}

QByteArray pdfBytes(const Figure& figure, const ExportOptions& options, const Theme& theme) {
    const double zoom = zoomOf(figure, options);
    const QSizeF size_mm = pictureSize(figure, options) * zoom / kPixelsPerMm;
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    QPdfWriter pdf(&buffer);
    pdf.setTitle(figure.figureCaption());
    pdf.setCreator("RoPER Lab");
    pdf.setPageMargins(QMarginsF());
    pdf.setPageSize(QPageSize(size_mm, QPageSize::Millimeter, {}, QPageSize::ExactMatch));
    pdf.setResolution(96);
    drawPicture(pdf, zoom, figure, options, theme);
    return bytes;
}

/// @param write  called once with the function that receives the file's bytes, part by part
void save(const QString& path, const std::function<void(const Figure::WriteBytes&)>& write) {
    outputPath(path.toStdString());  // throws for special files, which QSaveFile would replace
    QSaveFile file(path);
    const auto require = [&](bool done) {
        if (done) return;
        const QString why =
            file.error() == QFileDevice::NoError ? QObject::tr("the disk may be full") : file.errorString();
        throw Error(ErrorKind::disk, "cannot write " + path.toStdString() + ": " + why.toStdString());
    };
    require(file.open(QIODevice::WriteOnly));
    // On a full disk only a part of the bytes is written, which Qt does not report as an error.
    write([&](const QByteArray& bytes) { require(file.write(bytes) == bytes.size() && file.flush()); });
    require(file.commit());
}

/// Writes the .tex file last, since it refers to the others.
void exportLatex(const Figure& figure, const QString& path, ExportOptions options, const Theme& theme) {
    options.caption = false;  // it is text of the LaTeX document
    const QStringList beside = filesBesideExport(path);
    const QByteArray latex = latexBytes({.picture = QFileInfo(beside.front()).fileName(),
                                         .caption = figure.figureCaption(),
                                         .width_mm = options.width_mm,
                                         .made_by = options.made_by});
    exportFigure(figure, beside.front(), options, theme);
    exportFigure(figure, beside.back(), options, theme);
    save(path, [&](const auto& out) { out(latex); });
}

/// Whether U+FFFE or U+FFFF in UTF-8, which are noncharacters, begins here.
bool isNoCharacter(const QByteArray& text, qsizetype at) {
    return text[at] == '\xEF' && at + 2 < text.size() && text[at + 1] == '\xBF' &&
           (text[at + 2] == '\xBE' || text[at + 2] == '\xBF');
}

QByteArray withoutControlCharacters(const QByteArray& text) {
    constexpr char32_t kControlPictures = 0x2400;  // ␀, the picture of U+0000
    QByteArray clean;
    clean.reserve(text.size());
    for (qsizetype i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (isNoCharacter(text, i)) {
            clean += "\xEF\xBF\xBD";  // U+FFFD, "replacement character"
            i += 2;
        } else if (c >= ' ' || c == '\t' || c == '\n' || c == '\r') {
            clean += text[i];
        } else {
            const char32_t picture = kControlPictures + c;
            clean += QString::fromUcs4(&picture, 1).toUtf8();
        }
    }
    return clean;
}

/// "DejaVu Sans, sans-serif", a CSS font list.
QByteArray familiesFor(const QByteArray& name) {
    static const QRegularExpression words("^[A-Za-z][A-Za-z0-9-]*( [A-Za-z][A-Za-z0-9-]*)*$");
    QFont font(QString::fromUtf8(name));
    font.setStyleHint(QFont::AnyStyle);
    const QFontInfo used(font);
    // Fontconfig calls some monospaced fonts, such as Noto Sans Mono, proportional.
    const QFontMetricsF metrics(font);
    const bool is_fixed = used.fixedPitch() || metrics.horizontalAdvance(QStringLiteral("iiii")) ==
                                                   metrics.horizontalAdvance(QStringLiteral("WWWW"));
    const QByteArray generic = is_fixed ? "monospace" : "sans-serif";
    QString family = used.family();
    if (family.isEmpty() || family.toUtf8() == generic) return generic;
    if (!words.match(family).hasMatch()) family = "'" + family.remove('\'') + "'";
    return family.toHtmlEscaped().toUtf8() + ", " + generic;
}

/// Replaces the font names in all attributes. In text, the quotation mark would be escaped as &quot;.
QByteArray withRealFamilies(const QByteArray& svg) {
    const QByteArray attribute = "font-family=\"";
    QHash<QByteArray, QByteArray> known;
    QByteArray named;
    named.reserve(svg.size());
    qsizetype from = 0;
    for (qsizetype at = svg.indexOf(attribute); at >= 0; at = svg.indexOf(attribute, from)) {
        const qsizetype begin = at + attribute.size(), end = svg.indexOf('"', begin);
        if (end < 0) break;
        const QByteArray name = svg.mid(begin, end - begin);
        if (!known.contains(name)) known.insert(name, familiesFor(name));
        named += svg.mid(from, begin - from) + known.value(name);
        from = end;
    }
    return named + svg.mid(from);
}

}  // namespace

const std::vector<PrintSize>& printSizes() {
    static const std::vector<PrintSize> sizes = {
        {"column", QObject::tr("one column of a paper"), 84, 8},
        {"page", QObject::tr("two columns, the full page width"), 174, 8},
        {"slide", QObject::tr("a slide"), 254, 16},
        {"poster", QObject::tr("a poster"), 400, 24}};
    return sizes;
}

QByteArray figureSvg(const Figure& figure, const ExportOptions& options, const Theme& theme) {
    const double zoom = zoomOf(figure, options);
    const QSizeF size = pictureSize(figure, options) * zoom;
    QByteArray bytes;
    QBuffer buffer(&bytes);
    QSvgGenerator svg;
    svg.setOutputDevice(&buffer);
    svg.setResolution(96);
    svg.setSize(size.toSize());
    svg.setViewBox(QRectF(QPointF(0, 0), size));
    svg.setTitle(figure.figureTitle().toHtmlEscaped());  // Qt does not escape these
    svg.setDescription(figure.figureCaption().toHtmlEscaped());
    drawPicture(svg, zoom, figure, options, theme);
    return readableSvg(bytes);
}

QImage figureImage(const Figure& figure, const ExportOptions& options, const Theme& theme) {
    QImage image(imageSize(figure, options), QImage::Format_ARGB32_Premultiplied);
    image.fill(theme.background);
    drawPicture(image, zoomOf(figure, options) * options.scale, figure, options, theme);
    // Set only now: during painting, the image's resolution would scale all text a second time.
    image.setDotsPerMeterX(static_cast<int>(1000 * kPixelsPerMm * options.scale));
    image.setDotsPerMeterY(image.dotsPerMeterX());
    return image;
}

void exportFigure(const Figure& figure, const QString& path, const ExportOptions& options,
                  const Theme& theme) {
    const QString suffix = QFileInfo(path).suffix().toLower();
    const Theme chosen = options.light_background ? Theme::light() : theme;
    if (suffix == "png") return save(path, [&](const auto& out) { out(pngBytes(figure, options, chosen)); });
    if (suffix == "svg") return save(path, [&](const auto& out) { out(figureSvg(figure, options, chosen)); });
    if (suffix == "pdf") return save(path, [&](const auto& out) { out(pdfBytes(figure, options, chosen)); });
    if (suffix == "csv") return save(path, [&](const auto& out) { figure.writeCsv(out); });
    if (suffix == "tex") return exportLatex(figure, path, options, chosen);
    throw Error(
        ErrorKind::usage,
        "a figure can be written as .png, .svg, .pdf, .csv or .tex, and an animation as .gif, not \"" +
            path.toStdString() + "\"");
}

QStringList filesBesideExport(const QString& path) {
    const QFileInfo file(path);
    if (file.suffix().toLower() != "tex") return {};
    const QString name = file.path() + '/' + file.completeBaseName();
    return {name + ".pdf", name + ".csv"};
}

void exportAnimation(const std::vector<QImage>& frames, double seconds, const QString& path) {
    if (QFileInfo(path).suffix().toLower() != "gif")
        throw Error(ErrorKind::usage,
                    "an animation can be written as .gif, not \"" + path.toStdString() + "\"");
    save(path, [&](const auto& out) { out(gifBytes(frames, seconds)); });
}

QByteArray readableSvg(const QByteArray& svg) {
    return withRealFamilies(withoutControlCharacters(svg));
}

}  // namespace roper
