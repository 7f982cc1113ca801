// Speed of charts and comparisons of long runs (20 runs of 65,000 rows each) while training keeps all cores
// busy. Prints a table of times and their limits; exits with 1 if a limit is exceeded. Not part of CTest,
// because times on a busy machine are unreliable, and this benchmark makes the machine busy.

#include <QApplication>
#include <QSettings>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QThread>

#include "tests/bench/bench.h"
#include "tests/support/made_runs.h"
#include "ui/window/main_window.h"

namespace {

using namespace roper;

constexpr int kRuns = 20, kRows = 65000;

void measureChart(Bench& bench, MainWindow& window) {
    MetricChart& chart = window.trainingPage().metrics().chart(0);
    bench.report("loss chart: zoom from all to 100 steps",
                 Bench::measure(60,
                                [&](int i) {
                                    const double width = kRows * std::pow(0.9, i);
                                    chart.showXRange(30000, 30000 + width);
                                    chart.redrawNow();
                                    settle(chart);
                                }),
                 16);
    bench.report("loss chart: pan 2,000 steps",
                 Bench::measure(60,
                                [&](int i) {
                                    chart.showXRange(1000.0 * i, 1000.0 * i + 2000);
                                    chart.redrawNow();
                                    settle(chart);
                                }),
                 16);
    chart.autoscale();
    bench.report("loss chart: follow, all of it",
                 Bench::measure(20,
                                [&](int) {
                                    chart.autoscale();
                                    chart.redrawNow();
                                    settle(chart);
                                }),
                 33);
    bench.report("loss chart: another smoothing",
                 Bench::measure(5,
                                [&](int i) {
                                    chart.setSmoothing(5 + 10 * i);
                                    chart.redrawNow();
                                    settle(chart);
                                }),
                 200);
}

void measureCompare(Bench& bench, MainWindow& window) {
    window.showPage("Compare");
    settle(window);
    CompareState& state = window.comparePage().state();
    bench.report("Compare: training loss, mean and band over all rows",
                 Bench::measure(9,
                                [&](int i) {
                                    state.change([i](CompareSettings& q) {
                                        q.curve = Quantity::training_loss;
                                        q.curve_chosen = true;
                                        q.spread = static_cast<Spread>(i % 3);
                                    });
                                    settle(window);
                                }),
                 100);
}

}  // namespace

int main(int argc, char** argv) {
    prepareBench();
    QApplication application(argc, argv);
    beginBench("charts_bench");
    const QTemporaryDir folder;
    const std::filesystem::path runs = folder.path().toStdString();
    for (int i = 0; i < kRuns; ++i)
        makeFinishedRun(
            runs, {"run-" + std::to_string(10 + i), i % 2 == 0 ? "rope" : "roper", i / 2, 100 + i, kRows});
    const BusyMachine busy(folder.path(), "addition-small", BusyMachine::With::many_trainers);
    QThread::sleep(4);
    Bench bench;
    MainWindow window(runs, QueueLauncher::WorkerMode::no_worker);
    window.showPage("Training");
    window.show();
    QElapsedTimer reading;
    reading.start();
    double gap = 0;
    const auto is_behind = [&] {
        const auto all = window.runs().runs();
        return std::any_of(all.begin(), all.end(),
                           [](const RunWatcher* run) { return run->hasUnreadData(); });
    };
    while (is_behind())
        gap = std::max(gap, longestGap(200));
    std::cout << "20 × 65,000 rows read in " << reading.elapsed() << " ms; longest gap of the event loop "
              << std::setprecision(0) << std::fixed << gap << " ms\n";
    std::cout << "live training beside it for 5 s: longest gap " << longestGap(5000) << " ms\n";
    measureChart(bench, window);
    measureCompare(bench, window);
    return bench.within() ? 0 : 1;
}
