#include <malloc.h>

#include <QBuffer>
#include <QDir>
#include <QElapsedTimer>
#include <QLabel>
#include <QPixmapCache>
#include <fstream>

#include "core/base/text.h"
#include "tests/support/event_loop_monitor.h"
#include "tests/support/made_runs.h"
#include "tests/support/page_test.h"
#include "ui/charts/figure_export.h"

using namespace roper;

/// A window open for a day, and very large folders.
///
/// The day is simulated: 24 hours of training with a row every second, an evaluation every minute and a new
/// run every five minutes; rows arrive in blocks of a minute. Meanwhile a user visits every page, changes
/// settings and exports a figure. $ROPER_SOAK_HOURS makes it longer.
class SoakTest : public PageTest {
    Q_OBJECT

  private slots:
    void initTestCase() { clearSettings("soak_test"); }
    void init() { runs_ = std::make_unique<QTemporaryDir>(); }
    void cleanup() { window_.reset(); }

    void aMillionRowsAndAThousandRuns() {
        constexpr std::int64_t kRows = 1000000;
        for (int i = 0; i < 1000; ++i)
            makeFinishedRun(runs(), {"run-" + std::to_string(1000 + i), i % 2 == 0 ? "rope" : "roper", i / 2,
                                     i % 129, 20});
        Live run(runs(), "zz-long");
        run.train(kRows);
        EventLoopMonitor watch;
        QElapsedTimer clock;
        clock.start();
        open();
        qInfo("1,001 runs: the window was made in %lld ms", clock.elapsed());
        watch.start();
        QCOMPARE(window_->runs().runs().size(), std::size_t(1001));
        MetricChart& chart = window_->trainingPage().metrics().chart(0);
        QTRY_COMPARE_WITH_TIMEOUT(chart.pointCount("zz-long"), std::size_t(kRows), 60000);
        qInfo("a run of %lld rows was read and drawn after %lld ms", static_cast<long long>(kRows),
              clock.elapsed());
        for (int second = 0; second < 20; ++second) {
            run.train(50);
            QTest::qWait(60);
        }
        QTRY_COMPARE(chart.pointCount("zz-long"), std::size_t(kRows + 1000));
        watch.stop();
        qInfo(
            "rows went on to come: the event loop was never away for more than %.0f ms (%.0f of them "
            "computing)",
            watch.longest_ms(), watch.computed_ms());
        QVERIFY2(watch.longest_ms() < 1000 && watch.noticedGaps() <= 1, "the window freezes");
    }

    void aDay() {
        constexpr int kRunsAnHour = 12, kMinutesARun = 5, kWarmHours = 4, kKept = 6;
        const int hours = qEnvironmentVariableIsSet("ROPER_SOAK_HOURS")
                              ? qEnvironmentVariableIntValue("ROPER_SOAK_HOURS")
                              : 24;
        QVERIFY2(hours >= kWarmHours + 6, "ROPER_SOAK_HOURS must be at least 10");
        open();
        std::vector<Used> after_hour;
        QElapsedTimer clock;
        clock.start();
        for (int hour = 0; hour < hours; ++hour) {
            for (int i = 0; i < kRunsAnHour; ++i) {
                const int number = hour * kRunsAnHour + i;
                Live run(runs(), nameOf(number), number % 2 == 0 ? "rope" : "roper", number % 7);
                for (int minute = 0; minute < kMinutesARun; ++minute) {
                    run.train(60);
                    run.evaluate();
                    look(number * kMinutesARun + minute);
                }
                run.end();
                if (number >= kKept) std::filesystem::remove_all(runs() / nameOf(number - kKept));
                window_->runs().refresh();
            }
            after_hour.push_back(used());
        }
        // Compares minima of three hours, because the size of caches fluctuates.
        const auto least = [&](auto from, auto member) {
            return std::min({(*from).*member, (*(from + 1)).*member, (*(from + 2)).*member});
        };
        const auto warm = after_hour.begin() + kWarmHours, end = after_hour.end() - 3;
        qInfo(
            "%d hours in %lld s. Memory in use %.2f MB after %d hours, %.2f MB at the end; resident %.1f and "
            "%.1f MB",
            hours, clock.elapsed() / 1000, least(warm, &Used::heap) / 1e6, kWarmHours,
            least(end, &Used::heap) / 1e6, least(warm, &Used::resident) / 1e6,
            least(end, &Used::resident) / 1e6);
        qInfo("file handles %d and %d; objects %d and %d; threads %d and %d", least(warm, &Used::handles),
              least(end, &Used::handles), least(warm, &Used::objects), least(end, &Used::objects),
              least(warm, &Used::threads), least(end, &Used::threads));
        QVERIFY2(least(end, &Used::heap) < 1.01 * least(warm, &Used::heap), "the window's memory grows");
        QVERIFY2(least(end, &Used::resident) < 1.01 * least(warm, &Used::resident),
                 "the window's resident memory grows");
        QCOMPARE(least(end, &Used::handles), least(warm, &Used::handles));
        QVERIFY(least(end, &Used::objects) <= least(warm, &Used::objects));
        QVERIFY(least(end, &Used::threads) <= least(warm, &Used::threads));
    }

  private:
    /// A run that this process pretends to train.
    class Live {
      public:
        Live(const std::filesystem::path& runs, const std::string& name, const std::string& position = "rope",
             std::int64_t seed = 0)
            : folder_(makeFinishedRun(runs, {name, position, seed, 100, 2},
                                      [](Specification& s) { s.training.steps = 1000000; })),
              metrics_(folder_.path() / "metrics.csv"),
              evaluations_(folder_.path() / "evaluations.csv") {
            metrics_ << headerLine<MetricsRow>() << "\n";
            evaluations_ << headerLine<EvaluationRow>() << "\n";
            beat(RunState::running);
        }

        void train(std::int64_t rows) {
            for (std::int64_t i = 0; i < rows; ++i) {
                MetricsRow row;
                row.step = ++step_;
                row.time_s = static_cast<double>(step_);
                row.tokens = 2048 * step_;
                row.loss = 3 / std::sqrt(static_cast<double>(step_)) +
                           0.1 * std::sin(static_cast<double>(step_ * 37 % 101));
                metrics_ << formatRow(row) << "\n";
            }
            metrics_.flush();
            beat(RunState::running);
        }

        void evaluate() {
            EvaluationRow row;
            row.step = step_;
            row.time_s = static_cast<double>(step_);
            row.correct = step_ % 129;
            row.total = 128;
            row.loss = 0.5;
            evaluations_ << formatRow(row) << "\n";
            evaluations_.flush();
        }

        void end() { beat(RunState::finished); }

      private:
        void beat(RunState state) {
            Status status;
            status.state = state;
            status.step = step_;
            status.steps = 1000000;
            stampWithThisProcess(status);
            writeStatus(folder_.statusPath(), status, Durability::process_death);
        }

        RunFolder folder_;
        std::ofstream metrics_, evaluations_;
        std::int64_t step_ = 0;
    };

    struct Used {
        double heap = 0, resident = 0;
        int handles = 0, objects = 0, threads = 0;
    };

    std::filesystem::path runs() const { return runs_->path().toStdString(); }
    static std::string nameOf(int number) { return "run-" + std::to_string(100000 + number); }

    void open() { openWindow("Training", runs()); }

    /// A minute of a user's work: looks at news, goes to the next page, changes something there.
    void look(int minute) {
        window_->runs().refresh();
        const auto pages = window_->pages();
        Page* page = pages[static_cast<std::size_t>(minute) % pages.size()];
        window_->showPage(page);
        change([&](Setup& setup) { setup.base = 1000 + minute % 9000; });
        if (!window_->runs().runs().empty()) {
            const auto all = window_->runs().runs();
            window_->trainingPage().runsPanel().select(
                all[static_cast<std::size_t>(minute) % all.size()]->name());
        }
        window_->trainingPage().metrics().chart(0).redrawNow();
        if (minute % 10 == 0 && !page->figures().empty())
            QVERIFY(!figureImage(*page->figures().front(), {}, Theme::light()).isNull());
        QTest::qWait(2);
    }

    Used used() const {
        for (int i = 0; i < 20; ++i)
            QTest::qWait(10);  // deferred work in idle time
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        QPixmapCache::clear();  // Qt's own cache, which may grow to 10 MB
        Used now;
        ::malloc_trim(0);
        const struct mallinfo2 heap = ::mallinfo2();
        now.heap = static_cast<double>(heap.uordblks + heap.hblkhd);
        QFile status("/proc/self/status");
        if (status.open(QIODevice::ReadOnly)) {
            const auto numberAfter = [](const QByteArray& text, const char* key) {
                return text.mid(text.indexOf(key) + qsizetype(qstrlen(key)))
                    .trimmed()
                    .split(' ')
                    .front()
                    .split('\n')
                    .front()
                    .toDouble();
            };
            const QByteArray text = status.readAll();
            now.resident = 1024 * numberAfter(text, "VmRSS:");
            now.threads = static_cast<int>(numberAfter(text, "\nThreads:"));
        }
        now.handles = static_cast<int>(QDir("/proc/self/fd").entryList(QDir::Files | QDir::System).size());
        now.objects = static_cast<int>(window_->findChildren<QObject*>().size());
        return now;
    }

    std::unique_ptr<QTemporaryDir> runs_;
};

ROPER_GUI_TEST(SoakTest, "soak_test")
#include "soak_test.moc"
