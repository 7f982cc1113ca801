#include "app/roper_lab/gallery.h"

#include <QDir>
#include <iostream>

#include "app/roper_lab/figures.h"
#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/explorer/examples.h"

namespace roper {
namespace {

constexpr QSize kThumbnail{192, 128};
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
    const QDir folder = folderFor(out);
    for (const Example& example : examples()) {
        const QString path = folder.filePath(QString::fromStdString(example.pictureName()));
        FigureOptions options = optionsOf(example, path);
        const QSize drawn = kRenderScale * kThumbnail;
        options.settings = {"width=" + std::to_string(drawn.width()),
                            "height=" + std::to_string(drawn.height()), "scale=1"};
        makeFigure(options);
        const QImage picture(path);
        if (!picture.scaled(kThumbnail, Qt::KeepAspectRatio, Qt::SmoothTransformation).save(path))
            throw Error(ErrorKind::disk, "cannot write " + path.toStdString());
        std::cout << path.toStdString() << std::endl;
    }
    return 0;
}

}  // namespace roper
