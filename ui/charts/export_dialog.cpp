#include "ui/charts/export_dialog.h"

#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDesktopServices>
#include <QDialog>
#include <QDialogButtonBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QLabel>
#include <QMainWindow>
#include <QMessageBox>
#include <QMimeData>
#include <QPointer>
#include <QSettings>
#include <QSpinBox>
#include <QStatusBar>
#include <QTimer>
#include <QUrl>

#include "core/base/error.h"
#include "ui/charts/figure_export.h"
#include "ui/controls/layout_helpers.h"

namespace roper {
namespace {

constexpr QSize kPreview{420, 320};
const QString kScreen = QStringLiteral("screen"), kOwn = QStringLiteral("own");

/// Dialog with the export options and a preview. Remembers the last choice.
class ExportDialog : public QDialog {
    Q_OBJECT

  public:
    ExportDialog(const Figure& figure, const Theme& theme, QWidget* parent);

    QString suffix() const { return format_->currentData().toString(); }
    ExportOptions options() const;
    void remember() const;

  private:
    void makeInputs();
    void show();

    const Figure& figure_;
    Theme theme_;
    QComboBox* format_ = named(new QComboBox, tr("Format"));
    QComboBox* purpose_ = named(new QComboBox, tr("Purpose of the figure"));
    QDoubleSpinBox* width_ = named(new QDoubleSpinBox, tr("Width on paper"));
    QDoubleSpinBox* text_ = named(new QDoubleSpinBox, tr("Text size on paper"));
    QSpinBox* scale_ = named(new QSpinBox, tr("PNG pixels per screen pixel"));
    QCheckBox* light_ = new QCheckBox(tr("Light background"));
    QCheckBox* legend_ = new QCheckBox(tr("Legend"));
    QCheckBox* caption_ = new QCheckBox(tr("Caption below the figure"));
    QLabel* preview_ = new QLabel;
    QLabel* size_ = new QLabel;
};

ExportDialog::ExportDialog(const Figure& figure, const Theme& theme, QWidget* parent)
    : QDialog(parent), figure_(figure), theme_(theme) {
    setWindowTitle(tr("Export figure"));
    makeInputs();
    preview_->setFixedSize(kPreview);
    preview_->setAlignment(Qt::AlignCenter);
    preview_->setFrameShape(QFrame::StyledPanel);
    preview_->setAccessibleName(tr("Preview of the figure"));
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Save | QDialogButtonBox::Cancel);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* form = new QFormLayout;
    form->addRow(tr("Format"), format_);
    form->addRow(tr("For"), purpose_);
    form->addRow(tr("Width"), width_);
    form->addRow(tr("Text size"), text_);
    form->addRow(tr("PNG scale"), scale_);
    form->addRow(light_);
    form->addRow(legend_);
    form->addRow(caption_);
    form->addRow(size_);
    columnOf({rowOf({form, preview_}), buttons}, this);
    show();
}

void ExportDialog::makeInputs() {
    const QSettings settings;
    format_->addItem(tr("PDF – vector, for papers"), "pdf");
    format_->addItem(tr("SVG – vector, for editing"), "svg");
    format_->addItem(tr("PNG – pixels, for slides"), "png");
    format_->addItem(tr("CSV – the numbers shown"), "csv");
    format_->addItem(tr("LaTeX – PDF, CSV and caption"), "tex");
    format_->setCurrentIndex(std::max(0, format_->findData(settings.value("export/format", "pdf"))));
    purpose_->addItem(tr("as on screen"), kScreen);
    for (const PrintSize& size : printSizes())
        purpose_->addItem(tr("%1 (%2 mm, %3 pt)").arg(size.name).arg(size.width_mm).arg(size.text_pt),
                          size.key);
    purpose_->addItem(tr("custom size"), kOwn);
    purpose_->setCurrentIndex(std::max(0, purpose_->findData(settings.value("export/for", kScreen))));
    width_->setRange(20, 2000);
    width_->setDecimals(0);
    width_->setSuffix(tr(" mm"));
    width_->setValue(settings.value("export/width_mm", 84).toDouble());
    text_->setRange(4, 100);
    text_->setDecimals(1);
    text_->setSuffix(tr(" pt"));
    text_->setValue(settings.value("export/text_pt", 8).toDouble());
    scale_->setRange(1, 8);
    scale_->setSuffix("×");
    scale_->setValue(settings.value("export/scale", 2).toInt());
    light_->setChecked(settings.value("export/light", true).toBool());
    legend_->setChecked(settings.value("export/legend", true).toBool());
    if (!figure_.hasLegend()) legend_->hide();
    caption_->setChecked(settings.value("export/caption", false).toBool());
    connect(format_, &QComboBox::currentIndexChanged, this, &ExportDialog::show);
    connect(purpose_, &QComboBox::currentIndexChanged, this, &ExportDialog::show);
    for (QDoubleSpinBox* box : {width_, text_})
        connect(box, &QDoubleSpinBox::valueChanged, this, &ExportDialog::show);
    for (QCheckBox* box : {light_, legend_, caption_})
        connect(box, &QCheckBox::toggled, this, &ExportDialog::show);
}

ExportOptions ExportDialog::options() const {
    ExportOptions options;
    options.scale = scale_->value();
    options.light_background = light_->isChecked();
    options.caption = caption_->isChecked();
    options.legend = legend_->isChecked();
    const QString purpose = purpose_->currentData().toString();
    if (purpose == kOwn) {
        options.width_mm = width_->value();
        options.text_pt = text_->value();
    }
    for (const PrintSize& size : printSizes()) {
        if (size.key != purpose) continue;
        options.width_mm = size.width_mm;
        options.text_pt = size.text_pt;
    }
    return options;
}

/// Updates the available options and the preview.
void ExportDialog::show() {
    const bool is_picture = suffix() != "csv", is_own = purpose_->currentData() == kOwn;
    for (QWidget* widget : std::initializer_list<QWidget*>{purpose_, light_, legend_})
        widget->setEnabled(is_picture);
    caption_->setEnabled(is_picture && suffix() != "tex");  // LaTeX sets it
    for (QWidget* widget : {width_, text_})
        widget->setEnabled(is_picture && is_own);
    scale_->setEnabled(suffix() == "png");
    if (!is_picture) {
        preview_->setText(tr("A table of the numbers shown in the figure"));
        return size_->clear();
    }
    ExportOptions options = this->options();
    options.scale = 1;
    options.caption = options.caption && suffix() != "tex";
    const QImage image = figureImage(figure_, options, options.light_background ? Theme::light() : theme_);
    const double ratio = devicePixelRatioF();
    QPixmap pixmap = QPixmap::fromImage(image.scaled((QSizeF(kPreview - QSize(8, 8)) * ratio).toSize(),
                                                     Qt::KeepAspectRatio, Qt::SmoothTransformation));
    pixmap.setDevicePixelRatio(ratio);
    preview_->setPixmap(pixmap);
    constexpr double kMmPerPixel = 25.4 / 96;
    size_->setText(options.width_mm > 0 ? tr("%1 × %2 mm")
                                              .arg(image.width() * kMmPerPixel, 0, 'f', 0)
                                              .arg(image.height() * kMmPerPixel, 0, 'f', 0)
                                        : tr("%1 × %2 pixels").arg(image.width()).arg(image.height()));
}

void ExportDialog::remember() const {
    QSettings settings;
    settings.setValue("export/format", suffix());
    settings.setValue("export/for", purpose_->currentData());
    settings.setValue("export/width_mm", width_->value());
    settings.setValue("export/text_pt", text_->value());
    settings.setValue("export/scale", scale_->value());
    settings.setValue("export/light", light_->isChecked());
    settings.setValue("export/legend", legend_->isChecked());
    settings.setValue("export/caption", caption_->isChecked());
}

/// Shows in the status bar where a file is, with a link to its folder.
void sayWhereItIs(const QString& path, QWidget* parent) {
    constexpr int kShown_ms = 20000;
    auto* window = qobject_cast<QMainWindow*>(parent->window());
    if (window == nullptr) return;
    QStatusBar* bar = window->statusBar();
    delete bar->findChild<QLabel*>("saved");
    auto* label = new QLabel(QObject::tr("Saved %1 – <a href=\"folder\">Open folder</a>")
                                 .arg(QDir::toNativeSeparators(path).toHtmlEscaped()));
    label->setObjectName("saved");
    label->setTextFormat(Qt::RichText);
    bar->addWidget(label);
    QObject::connect(label, &QLabel::linkActivated, label, [path] {
        QDesktopServices::openUrl(QUrl::fromLocalFile(QFileInfo(path).absolutePath()));
    });
    QTimer::singleShot(kShown_ms, label, &QObject::deleteLater);
}

/// Asks before files are replaced that the file dialog has not asked about.
bool maySaveBeside(const QString& path, QWidget* parent) {
    if (QFileInfo::exists(path)) return true;  // confirmed, and these belong to it
    QStringList existing;
    for (const QString& file : filesBesideExport(path))
        if (QFileInfo::exists(file)) existing << QFileInfo(file).fileName();
    if (existing.isEmpty()) return true;
    const QString question = existing.size() == 1 ? QObject::tr("%1 already exists. Replace it?")
                                                  : QObject::tr("%1 already exist. Replace them?");
    return QMessageBox::question(parent, QObject::tr("Export figure"),
                                 question.arg(existing.join(QObject::tr(" and ")))) == QMessageBox::Yes;
}

/// Copies the figure as an image and as SVG; the receiving program chooses.
void copyPicture(const Figure& figure, const Theme& theme) {
    auto* data = new QMimeData;
    data->setImageData(figureImage(figure, {}, theme));
    data->setData("image/svg+xml", figureSvg(figure, {}, theme));
    QApplication::clipboard()->setMimeData(data);
}

}  // namespace

void exportByDialog(const Figure& figure, QWidget* parent) {
    const Theme theme = Theme::of(parent->palette());
    ExportDialog choice(figure, theme, parent);
    if (choice.exec() != QDialog::Accepted) return;
    choice.remember();
    QSettings settings;
    const QString folder = settings.value("export/folder", QDir::homePath()).toString();
    QFileDialog dialog(parent, QObject::tr("Export figure"), folder);
    dialog.setAcceptMode(QFileDialog::AcceptSave);
    dialog.setDefaultSuffix(choice.suffix());  // added before the dialog asks about replacing a file
    dialog.setNameFilter(choice.suffix().toUpper() + " (*." + choice.suffix() + ")");
    dialog.selectFile(figure.figureName() + "." + choice.suffix());
    if (dialog.exec() != QDialog::Accepted || dialog.selectedFiles().isEmpty()) return;
    const QString path = dialog.selectedFiles().front();
    settings.setValue("export/folder", QFileInfo(path).absolutePath());
    if (!maySaveBeside(path, parent)) return;
    ExportOptions options = choice.options();
    // The main window offers the setup that "Copy setup" copies.
    if (const QString setup = parent->window()->property("copiedSetup").toString(); !setup.isEmpty())
        options.made_by =
            QObject::tr("Made with RoPER Lab. To see it again, choose Edit, Paste setup:") + '\n' + setup;
    try {
        exportFigure(figure, path, options, theme);
        sayWhereItIs(path, parent);
    } catch (const Error& error) {
        QMessageBox::warning(parent, QObject::tr("Not exported"), QString::fromStdString(error.what()));
    }
}

void showExportMenu(const Figure& figure, const QPoint& at, QWidget* parent,
                    const std::function<void(QMenu&)>& add_more) {
    // The chosen action may close the figure, and the menu with it.
    const QPointer<QMenu> menu = new QMenu(parent);
    const Theme theme = Theme::of(parent->palette());
    menu->addAction(QObject::tr("Export…"), parent, [&] { exportByDialog(figure, parent); });
    menu->addAction(QObject::tr("Copy figure"), parent, [&] { copyPicture(figure, theme); });
    menu->addAction(QObject::tr("Copy numbers"), parent,
                    [&] { QApplication::clipboard()->setText(figure.figureCsv()); });
    if (add_more) {
        menu->addSeparator();
        add_more(*menu);
    }
    menu->exec(at);
    delete menu;
}

}  // namespace roper

#include "export_dialog.moc"
