#include "ui/charts/figure_export.h"

#include <QApplication>
#include <QBuffer>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QImage>
#include <QMenu>
#include <QPdfWriter>
#include <QSaveFile>
#include <QSettings>
#include <QSpinBox>
#include <QSvgGenerator>

#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "ui/theme/plain_text.h"

namespace roper {
namespace {

constexpr double kPixelsPerMm = 96.0 / 25.4;  // a device-independent pixel is 1/96 inch
constexpr double kCaptionHeight = 34;

QSizeF pictureSize(const Figure& figure, const ExportOptions& options) {
    QSizeF size = figure.figureSize();
    if (options.caption) size.rheight() += kCaptionHeight;
    return size;
}

/// The factor from the figure's own pixels to those of the asked width.
double zoomOf(const Figure& figure, const ExportOptions& options) {
    return options.width_mm > 0 ? options.width_mm * kPixelsPerMm / figure.figureSize().width() : 1.0;
}

void drawPicture(QPainter& painter, const Figure& figure, const ExportOptions& options, const Theme& theme) {
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF area(QPointF(0, 0), QSizeF(figure.figureSize()));
    painter.fillRect(QRectF(QPointF(0, 0), pictureSize(figure, options)), theme.background);
    painter.setFont(QApplication::font());
    painter.save();
    figure.paintFigure(painter, area, theme);
    painter.restore();
    if (options.caption) {
        painter.setPen(theme.faint_text);
        painter.drawText(QRectF(8, area.bottom() + 2, area.width() - 16, kCaptionHeight - 4),
                         Qt::AlignLeft | Qt::AlignVCenter | Qt::TextWordWrap, figure.figureCaption());
    }
}

QByteArray pngBytes(const Figure& figure, const ExportOptions& options, const Theme& theme) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    const QImage image = figureImage(figure, options, theme);
    if (image.isNull() || !image.save(&buffer, "PNG"))
        throw Error(ErrorKind::memory, "the picture has too many pixels; choose a smaller width or scale");
    return bytes;
}

QByteArray svgBytes(const Figure& figure, const ExportOptions& options, const Theme& theme) {
    const double zoom = zoomOf(figure, options);
    const QSizeF size = pictureSize(figure, options) * zoom;
    QByteArray bytes;
    QBuffer buffer(&bytes);
    QSvgGenerator svg;
    svg.setOutputDevice(&buffer);
    svg.setResolution(96);
    svg.setSize(size.toSize());
    svg.setViewBox(QRectF(QPointF(0, 0), size));
    svg.setTitle(figure.figureName());
    svg.setDescription(figure.figureCaption());
    QPainter painter(&svg);
    painter.scale(zoom, zoom);
    drawPicture(painter, figure, options, theme);
    painter.end();
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
    QPainter painter(&pdf);
    painter.scale(zoom, zoom);
    drawPicture(painter, figure, options, theme);
    painter.end();
    return bytes;
}

/// @param write  called once with what takes the file's bytes, part by part
void save(const QString& path, const std::function<void(const Figure::WriteBytes&)>& write) {
    outputPath(path.toStdString());  // QSaveFile would replace what is no regular file
    QSaveFile file(path);
    const auto require = [&](bool done) {
        if (done) return;
        const QString why =
            file.error() == QFileDevice::NoError ? QObject::tr("no space left, perhaps") : file.errorString();
        throw Error(ErrorKind::disk, "cannot write " + path.toStdString() + ": " + why.toStdString());
    };
    require(file.open(QIODevice::WriteOnly));
    // A disk that becomes full takes a part of the bytes, which Qt counts as no error.
    write([&](const QByteArray& bytes) { require(file.write(bytes) == bytes.size() && file.flush()); });
    require(file.commit());
}

struct Chosen {
    QString suffix;
    ExportOptions options;
};

/// The dialog of format, size and background. Remembers what was chosen last.
std::optional<Chosen> askForOptions(QWidget* parent) {
    QDialog dialog(parent);
    dialog.setWindowTitle(QObject::tr("Export the picture"));
    QSettings settings;
    auto* format = new QComboBox;
    format->addItem(QObject::tr("PDF – vector, for papers"), "pdf");
    format->addItem(QObject::tr("SVG – vector, for editing"), "svg");
    format->addItem(QObject::tr("PNG – pixels, for slides"), "png");
    format->addItem(QObject::tr("CSV – the numbers behind it"), "csv");
    format->setCurrentIndex(std::max(0, format->findData(settings.value("export/format", "pdf"))));
    auto* width = new QSpinBox;
    width->setRange(0, 1000);
    width->setSuffix(QObject::tr(" mm"));
    width->setSpecialValueText(QObject::tr("as on the screen"));
    width->setValue(settings.value("export/width_mm", 0).toInt());
    width->setToolTip(QObject::tr("A column of a paper is often 84 mm wide, a page 174 mm"));
    auto* scale = new QSpinBox;
    scale->setRange(1, 4);
    scale->setSuffix("×");
    scale->setValue(settings.value("export/scale", 2).toInt());
    auto* light = new QCheckBox(QObject::tr("Light background"));
    light->setChecked(settings.value("export/light", true).toBool());
    auto* caption = new QCheckBox(QObject::tr("Caption below the picture"));
    caption->setChecked(settings.value("export/caption", false).toBool());
    const auto enable = [=] {
        const QString suffix = format->currentData().toString();
        scale->setEnabled(suffix == "png");
        for (QWidget* widget :
             {static_cast<QWidget*>(width), static_cast<QWidget*>(light), static_cast<QWidget*>(caption)})
            widget->setEnabled(suffix != "csv");
    };
    QObject::connect(format, &QComboBox::currentIndexChanged, &dialog, enable);
    enable();
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Save | QDialogButtonBox::Cancel);
    QObject::connect(buttons, &QDialogButtonBox::accepted, &dialog, &QDialog::accept);
    QObject::connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
    auto* form = new QFormLayout(&dialog);
    form->addRow(QObject::tr("Format"), format);
    form->addRow(QObject::tr("Width"), width);
    form->addRow(QObject::tr("Pixels of a PNG"), scale);
    form->addRow(light);
    form->addRow(caption);
    form->addRow(buttons);
    if (dialog.exec() != QDialog::Accepted) return std::nullopt;
    const Chosen chosen{
        format->currentData().toString(),
        {static_cast<double>(width->value()), scale->value(), light->isChecked(), caption->isChecked()}};
    settings.setValue("export/format", chosen.suffix);
    settings.setValue("export/width_mm", width->value());
    settings.setValue("export/scale", chosen.options.scale);
    settings.setValue("export/light", chosen.options.light_background);
    settings.setValue("export/caption", chosen.options.caption);
    return chosen;
}

}  // namespace

QImage figureImage(const Figure& figure, const ExportOptions& options, const Theme& theme) {
    const double zoom = zoomOf(figure, options) * options.scale;
    QImage image((pictureSize(figure, options) * zoom).toSize(), QImage::Format_ARGB32_Premultiplied);
    image.fill(theme.background);
    QPainter painter(&image);
    painter.scale(zoom, zoom);
    drawPicture(painter, figure, options, theme);
    painter.end();
    // Only now: while it is painted, a density of its own would scale all text a second time.
    image.setDotsPerMeterX(static_cast<int>(1000 * kPixelsPerMm * options.scale));
    image.setDotsPerMeterY(image.dotsPerMeterX());
    return image;
}

void exportFigure(const Figure& figure, const QString& path, const ExportOptions& options,
                  const Theme& theme) {
    const QString suffix = QFileInfo(path).suffix().toLower();
    const Theme chosen = options.light_background ? Theme::light() : theme;
    if (suffix == "png") return save(path, [&](const auto& out) { out(pngBytes(figure, options, chosen)); });
    if (suffix == "svg") return save(path, [&](const auto& out) { out(svgBytes(figure, options, chosen)); });
    if (suffix == "pdf") return save(path, [&](const auto& out) { out(pdfBytes(figure, options, chosen)); });
    if (suffix == "csv") return save(path, [&](const auto& out) { figure.writeCsv(out); });
    throw Error(ErrorKind::usage,
                "a picture is written as .png, .svg, .pdf or .csv, not \"" + path.toStdString() + "\"");
}

void exportByDialog(const Figure& figure, QWidget* parent) {
    const auto chosen = askForOptions(parent);
    if (!chosen) return;
    QSettings settings;
    const QString folder = settings.value("export/folder", QDir::homePath()).toString();
    QFileDialog dialog(parent, QObject::tr("Export the picture"), folder);
    dialog.setAcceptMode(QFileDialog::AcceptSave);
    dialog.setDefaultSuffix(chosen->suffix);  // added before the dialog asks whether to replace a file
    dialog.setNameFilter(chosen->suffix.toUpper() + " (*." + chosen->suffix + ")");
    dialog.selectFile(figure.figureName() + "." + chosen->suffix);
    if (dialog.exec() != QDialog::Accepted || dialog.selectedFiles().isEmpty()) return;
    const QString path = dialog.selectedFiles().front();
    settings.setValue("export/folder", QFileInfo(path).absolutePath());
    try {
        exportFigure(figure, path, chosen->options, Theme::of(parent->palette()));
    } catch (const Error& error) {
        warnPlainly(parent, QObject::tr("Not exported"), QString::fromStdString(error.what()));
    }
}

void showExportMenu(const Figure& figure, const QPoint& at, QWidget* parent) {
    QMenu menu(parent);
    const Theme theme = Theme::of(parent->palette());
    menu.addAction(QObject::tr("Export…"), parent, [&] { exportByDialog(figure, parent); });
    menu.addAction(QObject::tr("Copy picture"), parent,
                   [&] { QApplication::clipboard()->setImage(figureImage(figure, {}, theme)); });
    menu.addAction(QObject::tr("Copy numbers"), parent,
                   [&] { QApplication::clipboard()->setText(figure.figureCsv()); });
    menu.exec(at);
}

}  // namespace roper
