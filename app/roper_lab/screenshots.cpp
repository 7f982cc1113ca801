#include "app/roper_lab/screenshots.h"

#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QPainter>
#include <iostream>

#include "core/runs/error.h"
#include "ui/charts/figure_export.h"
#include "ui/shell/main_window.h"

namespace roper {
namespace {

constexpr QSize kWindow{1360, 860};

/// Lets layouts, queued replots and timers do their work.
void settle() {
    QElapsedTimer clock;
    clock.start();
    while (clock.elapsed() < 250)
        QCoreApplication::processEvents(QEventLoop::AllEvents, 50);
}

void announce(const QString& path) {
    std::cout << path.toStdString() << std::endl;
}

void shoot(QWidget& window, const QString& path, int scale) {
    settle();
    QImage image(window.size() * scale, QImage::Format_RGB32);
    image.setDevicePixelRatio(scale);
    QPainter painter(&image);
    window.render(&painter);
    painter.end();
    if (!image.save(path)) throw Error(ErrorKind::disk, "cannot write " + path.toStdString());
    announce(path);
}

/// States worth showing: the worked example at its last step, a position some way in.
void prepare(MainWindow& window) {
    window.rotationPage().state().loadIntroExample();
    window.runs().readAll();
}

}  // namespace

int makeScreenshots(const QString& out, const std::filesystem::path& runs, int scale) {
    if (!QDir().mkpath(out)) throw Error(ErrorKind::disk, "cannot create the folder " + out.toStdString());
    const QDir folder(out);
    for (const bool dark : {false, true}) {
        QApplication::setPalette(fixedPalette(dark));
        MainWindow window(runs);
        window.resize(kWindow);
        window.show();
        prepare(window);
        const QString suffix = dark ? "dark" : "light";
        for (Page* page : window.pages()) {
            window.showPage(page);
            shoot(window, folder.filePath(page->name().toLower() + "-" + suffix + ".png"), scale);
        }
        window.showPage(&window.rotationPage());
        window.rotationPage().showWorkedExample(WorkedExampleView::kSteps);
        shoot(window, folder.filePath("rotation-worked-example-" + suffix + ".png"), scale);
        if (dark) continue;
        for (Page* page : window.pages()) {
            window.showPage(page);
            settle();
            for (const Figure* figure : page->figures()) {
                for (const char* format : {"png", "svg", "pdf", "csv"}) {
                    const QString path = folder.filePath(figure->figureName() + "." + format);
                    exportFigure(*figure, path, {}, Theme::light());
                    announce(path);
                }
            }
        }
    }
    return 0;
}

}  // namespace roper
