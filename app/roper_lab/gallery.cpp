#include "app/roper_lab/gallery.h"

#include <QDir>
#include <QPainter>
#include <QTemporaryDir>
#include <iostream>

#include "app/roper_lab/figures.h"
#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "ui/explorer/example_list.h"

namespace roper {
namespace {

constexpr int kRenderScale = 3;  // at the size of a thumbnail, labels would fill the picture

QDir folderFor(const QString& out) {
    if (!QDir().mkpath(out)) throw Error(ErrorKind::disk, "cannot create the folder " + out.toStdString());
    return QDir(out);
}

FigureOptions optionsOf(const Example& example, const QString& out) {
    FigureOptions options;
    options.kind = example.figure;
    options.example = example.name;
    options.out = out;
    return options;
}

/// The figure of an example, at most as large as a cell of the thumbnails.
QImage thumbnailOf(const Example& example) {
    const QTemporaryDir folder;
    const QString path = folder.filePath("figure.png");
    FigureOptions options = optionsOf(example, path);
    const QSize drawn = kRenderScale * kThumbnail;
    options.settings = {"width=" + std::to_string(drawn.width()), "height=" + std::to_string(drawn.height()),
                        "scale=1"};
    makeFigure(options);
    return QImage(path).scaled(kThumbnail, Qt::KeepAspectRatio, Qt::SmoothTransformation);
}

}  // namespace

int makeGallery(const QString& out) {
    const QDir folder = folderFor(out);
    std::string text =
        "# Gallery\n\nThe examples of the explorer pages. In the window choose one at the top of the page's "
        "controls; in a\n"
        "terminal the command below each picture writes it (`.png`, `.svg`, `.pdf` or, with its numbers, "
        "`.csv`). All of\n"
        "them and this page: `roper-lab gallery --out docs/gallery`.\n";
    std::string page;
    for (const Example& example : examples()) {
        const QString path = folder.filePath(QString::fromStdString(example.pictureName()));
        makeFigure(optionsOf(example, path));
        std::cout << path.toStdString() << std::endl;
        if (page != example.page)
            text += "\n## " + std::string(1, static_cast<char>(std::toupper(example.page[0]))) +
                    example.page.substr(1) + "\n";
        page = example.page;
        text += "\n### " + example.title + "\n\n" + example.description + "\n\n![" + example.title + "](" +
                example.pictureName() + ")\n\n```\nroper-lab figure " + example.figure + " --example " +
                example.name + " --out " + example.name + ".svg\n```\n";
    }
    const QString index = folder.filePath("index.md");
    writeFileAtomically(index.toStdString(), text);
    std::cout << index.toStdString() << std::endl;
    return 0;
}

int makeThumbnails(const QString& out) {
    const QString path = folderFor(out).filePath("thumbnails.png");
    QImage sheet(kThumbnail.width(), kThumbnail.height() * static_cast<int>(examples().size()),
                 QImage::Format_ARGB32);
    sheet.fill(Qt::transparent);
    QPainter painter(&sheet);
    for (const Example& example : examples()) {
        const QImage picture = thumbnailOf(example);
        QRect place = picture.rect();
        place.moveCenter(thumbnailCell(example).center());
        painter.drawImage(place.topLeft(), picture);
    }
    painter.end();
    if (!sheet.save(path)) throw Error(ErrorKind::disk, "cannot write " + path.toStdString());
    std::cout << path.toStdString() << std::endl;
    return 0;
}

}  // namespace roper
