#include <sys/stat.h>

#include <QApplication>
#include <QDialog>
#include <QMenu>
#include <QTreeView>
#include <csignal>
#include <fstream>

#include "core/base/error.h"
#include "core/base/this_process.h"
#include "tests/support/made_runs.h"
#include "tests/support/page_test.h"
#include "ui/charts/figure_export.h"

using namespace roper;

/// Events around a window: it is closed at any moment, a second one is open, its folder disappears, disks are
/// full, clocks jump.
class WindowLifeTest : public PageTest {
    Q_OBJECT

  private slots:
    void initTestCase() { clearSettings("window_life_test"); }

    void init() {
        runs_ = std::make_unique<QTemporaryDir>();
        window_ = open();
    }

    void cleanup() {
        for (const RunFolder& run : listRuns(runs())) {
            const Status status = run.status();
            if (run.effectiveState(status) == RunState::running ||
                run.effectiveState(status) == RunState::paused)
                ::kill(static_cast<pid_t>(status.pid), SIGKILL);
        }
        window_.reset();
    }

    /// In every case the run continues, and the next window finds it.
    void closingInEachPhase() {
        const QString run = start();
        const std::vector<std::pair<const char*, std::function<void()>>> phases = {
            {"at once", [] {}},
            {"a run has just been started", [&] { click(); }},
            {"a command is on its way", [&] { panel().send(Command::checkpoint); }},
            {"it pauses", [&] { panel().send(Command::pause), QTest::qWait(100); }},
            {"it goes on", [&] { panel().send(Command::resume), QTest::qWait(200); }},
            {"a head is being asked for",
             [&] {
                 window_->showPage("Attention");
                 change([&](Setup& setup) {
                     setup.source = VectorSource::run;
                     setup.run = run.toStdString();
                 });
             }},
            {"a large map is being computed",
             [&] {
                 window_->showPage("Attention");
                 change([](Setup& setup) { setup.tokens = 3000; });
                 QTest::qWait(5);
             }},
            {"Compare reads", [&] { window_->showPage("Compare"); }},
            {"Inspect asks the model", [&] { window_->showPage("Inspect"), QTest::qWait(30); }},
            {"a question is open", [&] { window_->trainingPage().queueButton()->click(); }},
            {"the queue is worked through", [&] { startWith(window_->trainingPage().queueButton()); }},
        };
        for (const auto& [name, phase] : phases) {
            qInfo("closing when %s", name);
            window_->showPage("Training");
            panel().select(run);
            phase();
            window_->close();
            window_.reset();
            window_ = open();
            QVERIFY(window_->runs().find(run) != nullptr);
            QTRY_VERIFY_WITH_TIMEOUT(window_->runs().find(run)->isActive(), 20000);
        }
        const auto before = window_->runs().find(run)->step();
        QTRY_VERIFY_WITH_TIMEOUT(window_->runs().find(run)->step() > before, 20000);
        changeQueue(runs(), [](RunQueue& queue) { queue.entries.clear(); });
    }

    /// A dialog or a menu is open when the window closes.
    void closingUnderADialog() {
        makeFinishedRun(runs(), {"a"});
        window_->runs().refresh();
        panel().select("a");
        auto* table = control<QTreeView>("Runs");
        int popups = 0;
        QTimer::singleShot(200, this, [&] {
            popups += QApplication::activePopupWidget() != nullptr;
            window_->close();
            for (QWidget* widget : QApplication::topLevelWidgets())
                if (qobject_cast<QMenu*>(widget) || qobject_cast<QDialog*>(widget)) widget->close();
        });
        emit table->customContextMenuRequested({5, 5});  // returns when the menu is closed
        QCOMPARE(popups, 1);
        QVERIFY(!window_->isVisible());
    }

    /// Neither loses changes of the other, and a run resumed in both has one trainer.
    void twoWindowsOnOneFolder() {
        const QString name = start();
        auto second = open();
        RunWatcher* seen = second->runs().find(name);
        QVERIFY(seen != nullptr);
        QTRY_VERIFY(seen->step() > 0);
        panel().send(Command::pause);
        QTRY_COMPARE_WITH_TIMEOUT(seen->state(), RunState::paused, 20000);
        second->trainingPage().runsPanel().select(name);
        second->trainingPage().runsPanel().send(Command::stop);
        RunWatcher* first = window_->runs().find(name);
        QTRY_COMPARE_WITH_TIMEOUT(first->state(), RunState::stopped, 20000);
        panel().select(name);
        panel().resumeSelected();
        second->trainingPage().runsPanel().resumeSelected();
        QTRY_COMPARE_WITH_TIMEOUT(seen->state(), RunState::running, 20000);
        const auto pid = seen->status().pid;
        // Each window shows its own trainer's messages, and either trainer can be the first.
        QTRY_VERIFY_WITH_TIMEOUT(
            (first->messages() + seen->messages()).contains("another trainer is working on"), 20000);
        QTRY_COMPARE(first->status().pid, pid);
        ::kill(static_cast<pid_t>(pid), SIGKILL);
        // Both edit the queue: no entry is lost, and each is processed once.
        QTRY_COMPARE(first->state(), RunState::interrupted);
        std::filesystem::remove_all(runs() / name.toStdString());
        for (MainWindow* window : {window_.get(), second.get()}) {
            Specification s = tiny();
            s.training.steps = 20;
            s.training.model_seed = s.training.data_seed = window == second.get() ? 7 : 3;
            window->queue().enqueue({s});
        }
        QTRY_COMPARE_WITH_TIMEOUT(finished(*second), 2, 60000);
        QTRY_COMPARE(finished(*window_), 2);
        for (const RunWatcher* run : second->runs().runs())
            QCOMPARE(run->folder().metrics().size(), std::size_t(20));
    }

    /// Like a network folder, or one on a USB stick.
    void aRunsFolderThatVanishesAndComesBack() {
        makeFinishedRun(runs(), {"kept", "roper", 1, 100, 500});
        const QString live = start();
        MetricChart& chart = window_->trainingPage().metrics().chart(0);
        panel().select("kept");
        QTRY_COMPARE(chart.pointCount("kept"), std::size_t(500));
        const std::filesystem::path away = runs().string() + "-away";
        for (int i = 0; i < 3; ++i) {
            std::filesystem::rename(runs(), away);
            QTRY_VERIFY_WITH_TIMEOUT(window_->runs().runs().empty(), 20000);
            for (Page* page : window_->pages()) {
                window_->showPage(page);
                QTest::qWait(20);
            }
            window_->showPage("Training");
            std::filesystem::remove_all(runs());  // if anything has been created there
            std::filesystem::rename(away, runs());
            QTRY_COMPARE_WITH_TIMEOUT(window_->runs().runs().size(), std::size_t(2), 20000);
            panel().select("kept");
            QTRY_COMPARE(chart.pointCount("kept"), std::size_t(500));
        }
        // The trainer may have failed with an error, because its folder had another name meanwhile.
        const RunWatcher* run = window_->runs().find(live);
        const auto before = run->step();
        QTRY_VERIFY_WITH_TIMEOUT(run->step() > before || !run->isActive(), 20000);
        if (run->state() == RunState::interrupted) QVERIFY(!run->messagesAfterStatus().isEmpty());
    }

    void exportsThatCannotBeWritten() {
        makeFinishedRun(runs(), {"a"});
        window_->runs().refresh();
        const Figure& figure = *window_->trainingPage().figures().front();
        const QString folder = runs_->filePath("folder.png");
        QVERIFY(QDir().mkpath(folder));
        const QString pipe = runs_->filePath("pipe");
        QVERIFY(::mkfifo(pipe.toLocal8Bit().constData(), 0600) == 0);
        for (const char* link : {"pipe.png", "pipe.csv"})
            QVERIFY(QFile::link(pipe, runs_->filePath(link)));
        for (const QString& path : {QString("/no/such/folder/a.png"), QString("/no/such/folder/a.csv"),
                                    folder, QString("/proc/a.svg"), QString("/dev/full/a.pdf"),
                                    runs_->filePath("a.gif"), runs_->filePath(QString(300, 'x') + ".png"),
                                    runs_->filePath("pipe.png"), runs_->filePath("pipe.csv"), QString()}) {
            QString why;
            try {
                exportFigure(figure, path, {}, Theme::light());
            } catch (const Error& error) {
                why = error.what();
            }
            QVERIFY2(!why.isEmpty(), qPrintable("written: " + path));
            QVERIFY2(why.contains(path) && why.size() > path.size() + 15, qPrintable(why));
        }
        struct stat info {};
        QVERIFY(::stat(pipe.toLocal8Bit().constData(), &info) == 0 && S_ISFIFO(info.st_mode));
        QCOMPARE(QDir(runs_->path()).entryList({"*.png.*", "*.csv.*"}, QDir::Files), QStringList());
    }

    /// A trainer on another machine whose clock is set repeatedly: only the advancing heartbeat counts.
    void clocksThatJump() {
        const RunFolder folder = makeFinishedRun(runs(), {"remote"});
        Status status = folder.status();
        status.state = RunState::running;
        status.host = "elsewhere";
        status.boot_id = "of another machine";
        status.pid = 1;
        for (const double jump : {0.0, 3600.0, -3600.0, 86400.0 * 400, -86400.0 * 400, 1e9, -1e9}) {
            status.heartbeat = secondsSinceEpoch() + jump;
            writeStatus(folder.statusPath(), status);
            window_->runs().refresh();
            status.heartbeat += 1;
            writeStatus(folder.statusPath(), status);
            window_->runs().refresh();
            QCOMPARE(window_->runs().find("remote")->state(), RunState::running);
        }
        // A trainer is considered dead if its heartbeat is old and has not advanced while this window
        // watched.
        status.heartbeat = secondsSinceEpoch() - 3600;
        writeStatus(folder.statusPath(), status);
        window_ = open();
        QCOMPARE(window_->runs().find("remote")->state(), RunState::interrupted);
    }

    /// The disk has less space than a run needs, which is reported before the start.
    void lowDiskIsSaid() {
        Specification s = tiny();
        s.checkpoints.keep = 100000000;
        s.model.width = 4096;
        s.model.feed_forward = 16384;
        s.model.layers = 64;
        window_->trainingPage().form().setSpecification(s);
        bool said = false;
        for (const QLabel* label : window_->trainingPage().findChildren<QLabel*>())
            said = said || (label->text().contains("Low disk space") && label->text().contains("are free"));
        QVERIFY(said);
    }

  private:
    std::filesystem::path runs() const { return runs_->path().toStdString(); }
    RunsPanel& panel() { return window_->trainingPage().runsPanel(); }

    std::unique_ptr<MainWindow> open() {
        auto window = std::make_unique<MainWindow>(runs());
        window->show();
        if (!QTest::qWaitForWindowExposed(window.get())) qFatal("the window does not open");
        window->showPage("Training");
        return window;
    }

    static Specification tiny() { return tinyRun({}, 200000); }

    void click() {
        window_->trainingPage().form().setSpecification(tiny());
        startWith(window_->trainingPage().startButton());
    }

    /// Starts a run that trains for long. @returns its name
    QString start() {
        click();
        RunWatcher* run = panel().selected();
        if (!QTest::qWaitFor([&] { return run->state() == RunState::running && !run->metrics().empty(); },
                             30000))
            qFatal("the trainer does not begin");
        return run->name();
    }

    static int finished(MainWindow& window) {
        const auto all = window.runs().runs();
        return static_cast<int>(std::count_if(all.begin(), all.end(), [](const RunWatcher* run) {
            return run->state() == RunState::finished;
        }));
    }

    std::unique_ptr<QTemporaryDir> runs_;
};

ROPER_GUI_TEST(WindowLifeTest, "window_life_test")
#include "window_life_test.moc"
