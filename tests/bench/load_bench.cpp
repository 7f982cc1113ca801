// Responsiveness of the window while a real run keeps all cores busy. On each page, key presses move controls
// and the wheel zooms charts sixty times a second; the result is the longest time in which the event loop did
// not react. Prints a table; exits with 1 if a limit is exceeded. Not part of CTest: see charts_bench.cpp.

#include <QAbstractSpinBox>
#include <QKeyEvent>
#include <QSlider>
#include <QTemporaryDir>
#include <QWheelEvent>

#include "tests/bench/bench.h"
#include "tests/support/made_runs.h"
#include "ui/window/main_window.h"

namespace {

using namespace roper;

constexpr double kAllowedGap = 50;
constexpr int kMilliseconds = 5000;

/// The sliders of a page that the user can reach; without sliders, its number fields.
std::vector<QWidget*> controlsOf(Page& page) {
    std::vector<QWidget*> reachable;
    const auto add = [&](const auto& controls) {
        for (QWidget* control : controls)
            if (control->isVisible() && control->isEnabled()) reachable.push_back(control);
    };
    add(page.findChildren<QSlider*>());
    if (reachable.empty()) add(page.findChildren<QAbstractSpinBox*>());
    return reachable;
}

/// Presses a key on a control, forty times up and forty times down.
void press(QWidget* control, int count) {
    const int key = count / 40 % 2 == 0 ? Qt::Key_Up : Qt::Key_Down;
    QCoreApplication::postEvent(control, new QKeyEvent(QEvent::KeyPress, key, Qt::NoModifier));
    QCoreApplication::postEvent(control, new QKeyEvent(QEvent::KeyRelease, key, Qt::NoModifier));
}

/// One notch of the wheel over the center of a chart, in and out.
void scrollWheel(QWidget& chart, int count) {
    const QPointF middle = chart.rect().center();
    const int notch = count / 20 % 2 == 0 ? 120 : -120;
    QCoreApplication::postEvent(
        &chart, new QWheelEvent(middle, chart.mapToGlobal(middle), {}, {0, notch}, Qt::NoButton,
                                Qt::NoModifier, Qt::NoScrollPhase, false));
}

}  // namespace

int main(int argc, char** argv) {
    prepareBench();
    QApplication application(argc, argv);
    beginBench("load_bench");
    const QTemporaryDir folder;
    for (int i = 0; i < 10; ++i)
        makeFinishedRun(folder.path().toStdString(), {"run-" + std::to_string(10 + i),
                                                      i % 2 == 0 ? "rope" : "roper", i / 2, 100 + i, 20000});
    const BusyMachine busy(folder.path(), "addition-small", BusyMachine::With::one_trainer);
    QThread::sleep(4);
    MainWindow window(folder.path().toStdString(), QueueLauncher::WorkerMode::no_worker);
    window.show();
    Bench bench;
    for (Page* page : window.pages()) {
        window.showPage(page);
        settle(window);
        longestGap(1000);  // its first figures, and on the first page the data of the runs
        const std::vector<QWidget*> controls = controlsOf(*page);
        QWidget& chart = window.trainingPage().metrics().chart(0).plot();
        const bool charts = page == &window.trainingPage();
        int count = 0;
        const double gap = longestGap(kMilliseconds, [&] {
            if (charts)
                scrollWheel(chart, count);
            else if (!controls.empty())
                press(controls[static_cast<std::size_t>(count / 80) % controls.size()], count);
            ++count;
        });
        bench.report("longest gap, " + page->name().toStdString() + ", " +
                         (charts ? "wheel" : std::to_string(controls.size()) + " controls"),
                     {gap, gap}, kAllowedGap);
    }
    return bench.within() ? 0 : 1;
}
