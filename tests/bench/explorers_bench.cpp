// Speed of the explorer pages, each measured several times: from a change of a slider to its pixels, from the
// start to the first frame, and panning and zooming of large maps. Prints a table of times and their limits;
// exits with 1 if a limit is exceeded. Not part of CTest, because times on a busy machine are unreliable.

#include <QApplication>
#include <QElapsedTimer>
#include <QImage>
#include <QPainter>
#include <QProcess>
#include <QSettings>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <algorithm>
#include <functional>
#include <iomanip>
#include <iostream>
#include <vector>

#include "tests/bench/bench.h"
#include "ui/window/main_window.h"

namespace {

using namespace roper;

/// Time from a change of the setup until it is painted, including the page's computation, the controls and
/// the painting.
void measureSliders(Bench& bench, MainWindow& window, int head_dim, int tokens, double allowed_ms) {
    for (Page* page : window.pages()) {
        if (page == &window.trainingPage() || page == &window.comparePage() || page == &window.inspectPage())
            continue;  // these do not depend on the setup
        Setup setup;
        setup.head_dim = head_dim;
        setup.tokens = tokens;
        setup.query = tokens - 1;
        setup.key = tokens / 2;
        setup.overlays = {ScalingMethod::linear, ScalingMethod::yarn};
        window.selection().replace(setup);
        window.showPage(page);
        settle(window);
        const auto change = [&](const std::string& what, const std::function<void(Setup&, int)>& set) {
            const Timing timing = Bench::measure(41, [&](int i) {
                Setup next = window.selection().setup();
                set(next, i);
                window.selection().set(next, QString::fromStdString(what));
                settle(window);
            });
            bench.report(page->name().toStdString() + ", d = " + std::to_string(head_dim) +
                             ", T = " + std::to_string(tokens) + ": " + what,
                         timing, allowed_ms);
        };
        change("base", [](Setup& s, int i) { s.base = 10000 + 100 * i; });
        if (page->name() == "Spectrum") {
            change("pair", [](Setup& s, int i) { s.pair = i; });
            Setup long_text = window.selection().setup();
            long_text.context_length = 131072;
            window.selection().replace(long_text);
            settle(window);
            change("pair, L′ = 131072", [](Setup& s, int i) { s.pair = i; });
        }
        if (page->name() == "Rotation") change("position", [](Setup& s, int i) { s.position = i; });
        if (page->name() == "Attention" || page->name() == "Value mixing")
            change("shift", [](Setup& s, int i) { s.shift = i + 1; });
        if (page->name() == "Value mixing")
            change("blend", [](Setup& s, int i) { s.value_rotation_strength = i / 41.0; });
    }
}

void measureFirstPictures(Bench& bench, const QString& runs) {
    QSettings().clear();
    for (const char* name : {"Rotation", "Spectrum", "Attention", "Value mixing"}) {
        MainWindow window(runs.toStdString());
        window.show();
        window.showPage("Training");
        settle(window);
        const Timing timing = Bench::measure(1, [&](int) {
            window.showPage(QString::fromLatin1(name));
            settle(window);
        });
        bench.report(std::string("first picture of ") + name, timing, 50);
    }
}

void measureLargeMap(Bench& bench, MainWindow& window) {
    Setup setup;
    setup.head_dim = 64;
    setup.tokens = 4096;
    setup.query = 4000;
    window.showPage("Attention");
    QElapsedTimer clock;
    clock.start();
    window.selection().replace(setup);
    double longest_gap = 0;
    HeatMapView& map = window.attentionPage().map();
    while (window.attentionPage().isComputing() || map.map().values->rows() != 4096) {
        QElapsedTimer gap;
        gap.start();
        QCoreApplication::processEvents(QEventLoop::AllEvents, 5);
        longest_gap = std::max(longest_gap, static_cast<double>(gap.nsecsElapsed()) / 1e6);
    }
    std::cout << "map of 4096 × 4096: built in " << clock.elapsed()
              << " ms, longest gap of the window's event loop " << std::setprecision(1) << longest_gap
              << " ms\n";
    settle(window);
    bench.report(
        "4096² map: pan, whole map",
        Bench::measure(41,
                       [&](int i) {
                           map.showCells({static_cast<double>(i), static_cast<double>(i), 4000, 4000});
                           settle(map);
                       }),
        8);
    bench.report("4096² map: pan, 600 cells",
                 Bench::measure(41,
                                [&](int i) {
                                    map.showCells({1000.0 + 7 * i, 2000.0 + 7 * i, 600, 600});
                                    settle(map);
                                }),
                 8);
    bench.report("4096² map: zoom in, whole map to 20 cells",
                 Bench::measure(81,
                                [&](int i) {
                                    const double size = 4096 * std::pow(0.936, i);
                                    map.showCells({2048 - size / 2, 2048 - size / 2, size, size});
                                    settle(map);
                                }),
                 8);
}

/// Time from the start of the program in its own process until its first frame is painted.
void measureStart(Bench& bench, const QString& program) {
    const auto start = [&](int) {
        QProcess process;
        process.start(program, {"--first-frame"});
        process.waitForFinished(60000);
    };
    bench.report("program start to first frame", Bench::measure(5, start), 300);
}

}  // namespace

int main(int argc, char** argv) {
    prepareBench();
    QApplication application(argc, argv);
    beginBench("explorers_bench");
    const QTemporaryDir runs;
    Bench bench;
    measureFirstPictures(bench, runs.path());
    {
        MainWindow window(runs.path().toStdString());
        window.show();
        settle(window);
        measureSliders(bench, window, 128, 64, 8);
        measureSliders(bench, window, 128, 512, 16);
        measureLargeMap(bench, window);
    }
    measureStart(bench, QCoreApplication::applicationDirPath() + "/roper-lab");
    return bench.within() ? 0 : 1;
}
