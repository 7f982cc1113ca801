#include <QDirIterator>
#include <QElapsedTimer>
#include <QRegularExpression>
#include <QTreeView>
#include <QTreeWidget>
#include <QUndoStack>
#include <csignal>
#include <fstream>
#include <random>

#include "core/base/error.h"
#include "tests/support/made_runs.h"
#include "tests/support/page_test.h"

using namespace roper;

/// The queue in the window, and a runs folder with very many runs.
class QueueTest : public PageTest {
    Q_OBJECT

  private slots:
    void initTestCase() {
        clearSettings("queue_test");
        const QString trainer = QString::fromLocal8Bit(qgetenv("ROPER_TRAIN"));
        qputenv("PATH", QFileInfo(trainer).absolutePath().toLocal8Bit() + ":" + qgetenv("PATH"));
    }

    void init() {
        runs_ = std::make_unique<QTemporaryDir>();
        open();
    }

    void cleanup() {
        window_.reset();
        if (isQueueBeingProcessed(runs())) {
            changeQueue(runs(), [](RunQueue& queue) { queue.entries.clear(); });
            killAll();
            QTRY_VERIFY_WITH_TIMEOUT(!isQueueBeingProcessed(runs()), 60000);
        }
    }

    void queuedTwinsTrainOneAfterTheOther() {
        fillForm(30);
        page().seedCount()->setValue(2);
        QTest::mouseClick(page().queueButton(), Qt::LeftButton);
        QCOMPARE(window_->runs().runs().size(), std::size_t(4));
        QTRY_VERIFY_WITH_TIMEOUT(allFinished(4), 120000);
        QTRY_VERIFY(readQueue(runs()).entries.empty());
        // The same seeds exist already.
        QTest::mouseClick(page().queueButton(), Qt::LeftButton);
        QCOMPARE(window_->runs().runs().size(), std::size_t(4));
        page().seedCount()->setValue(3);
        QTest::mouseClick(page().queueButton(), Qt::LeftButton);
        QCOMPARE(window_->runs().runs().size(), std::size_t(6));
        QTRY_VERIFY_WITH_TIMEOUT(allFinished(6), 120000);
    }

    void waitingRunsAreMovedHeldAndRemoved() {
        queueFourLongRuns();
        const QString left = page().queuePanel().timeLeft();
        QVERIFY2(
            QRegularExpression("^4 runs to train: .*, done (at|tomorrow at|on \\d+ \\w+ at) \\d\\d:\\d\\d$")
                .match(left)
                .hasMatch(),
            qPrintable(left));
        page().queuePanel().load();  // the load of the cores is measured since the previous reading
        QTest::qWait(200);
        const QString load = page().queuePanel().load();
        QVERIFY2(QRegularExpression("^CPU \\d+ % +memory [0-9.]+ of [0-9.]+ GB").match(load).hasMatch(),
                 qPrintable(load));
        const auto before = names();
        QueuePanel& panel = page().queuePanel();
        panel.select({before[3]});
        buttonOf(panel, "Up")->click();
        QCOMPARE(names(), (std::vector{before[0], before[1], before[3], before[2]}));
        buttonOf(panel, "Hold")->click();
        QVERIFY(readQueue(runs()).entries[2].on_hold);
        QCOMPARE(panel.list().topLevelItem(2)->text(1), QString("held"));
        buttonOf(panel, "Release")->click();
        QVERIFY(!readQueue(runs()).entries[2].on_hold);
        panel.select({before[2]});
        buttonOf(panel, "Remove")->click();
        QCOMPARE(names(), (std::vector{before[0], before[1], before[3]}));
        QTRY_VERIFY(window_->runs().find(QString::fromStdString(before[2])) == nullptr);  // it never started
    }

    void groupsAreMovedAndTakenOutAndUndoBringsBack() {
        queueFourLongRuns();
        QUndoStack& history = window_->selection().history();
        QueuePanel& panel = page().queuePanel();
        const auto n = names();
        panel.select({n[2], n[3]});
        buttonOf(panel, "Up")->click();
        QCOMPARE(names(), (std::vector{n[0], n[2], n[3], n[1]}));
        buttonOf(panel, "Up")->click();
        buttonOf(panel, "Up")->click();  // the two are first already
        QCOMPARE(names(), (std::vector{n[2], n[3], n[0], n[1]}));
        QVERIFY(!buttonOf(panel, "Up")->isEnabled());
        buttonOf(panel, "Down")->click();
        QCOMPARE(names(), (std::vector{n[0], n[2], n[3], n[1]}));
        while (names() != n)
            history.undo();
        panel.select({n[1]});
        buttonOf(panel, "Remove")->setFocus();
        QTest::keyClick(buttonOf(panel, "Remove"), Qt::Key_Space);
        QCoreApplication::processEvents();
        QVERIFY(QApplication::focusWidget() != buttonOf(panel, "Clear"));
        history.undo();
        QCOMPARE(names(), n);
        panel.select({n[1], n[3]});
        panel.list().setFocus();
        QTest::keyClick(&panel.list(), Qt::Key_Delete);
        QCOMPARE(names(), (std::vector{n[0], n[2]}));
        QVERIFY(!std::filesystem::exists(runs() / n[3]));
        history.undo();
        QCOMPARE(names(), n);
        QVERIFY(RunFolder(runs() / n[3]).status().state == RunState::queued);
        history.redo();
        QCOMPARE(names(), (std::vector{n[0], n[2]}));
        history.undo();
        const auto sum = [&](int count) {
            const auto labels = panel.findChildren<QLabel*>();
            const QString begin = QString(count == 1 ? "%1 run to train" : "%1 runs to train").arg(count);
            return std::any_of(labels.begin(), labels.end(),
                               [&](const QLabel* label) { return label->text().startsWith(begin); });
        };
        QTRY_VERIFY_WITH_TIMEOUT(sum(4), 1000);
        buttonOf(panel, "Clear")->click();
        QCOMPARE(names(), (std::vector{n[0]}));  // it is training
        QTRY_VERIFY_WITH_TIMEOUT(sum(1), 1000);
        QCOMPARE(window_->runs().runs().size(), std::size_t(1));
        history.undo();
        QCOMPARE(names(), n);
        QCOMPARE(window_->runs().runs().size(), std::size_t(4));
        QTRY_VERIFY_WITH_TIMEOUT(sum(4), 1000);  // immediately, not at the next tick of the timer
    }

    /// Undoing it may start training, so nobody should do so without seeing it.
    void undoFromAnotherPageFirstShowsTheQueue() {
        queueFourLongRuns();
        const auto n = names();
        buttonOf(page().queuePanel(), "Clear")->click();
        window_->showPage("Rotation");
        trigger("Undo");
        QCOMPARE(names(), (std::vector{n[0]}));
        QCOMPARE(window_->currentPage()->name(), QString("Training"));
        trigger("Undo");
        QCOMPARE(names(), n);
    }

    void aRunIsDraggedToAnotherPlace() {
        queueFourLongRuns();
        const auto n = names();
        QueueList& list = page().queuePanel().list();
        // Dragging requires a desktop, so this sets the list to its state afterwards.
        list.insertTopLevelItem(1, list.takeTopLevelItem(3));
        emit list.dropped();
        QTRY_COMPARE(names(), (std::vector{n[0], n[3], n[1], n[2]}));
        QCOMPARE(list.topLevelItemCount(), 4);
        QCOMPARE(list.topLevelItem(1)->toolTip(0).toStdString(), n[3]);
        QCOMPARE(list.topLevelItem(1)->text(0), window_->runs().titleOf(QString::fromStdString(n[3])));
        QVERIFY2(list.topLevelItem(1)->text(0).contains(" · seed "),
                 qPrintable(list.topLevelItem(1)->text(0)));
        window_->selection().history().undo();
        QCOMPARE(names(), n);
    }

    void deletedRunsComeBack() {
        for (const char* name : {"a", "b", "c"})
            makeFinishedRun(runs(), {name});
        window_->runs().refresh();
        auto* table = control<QTreeView>("Runs");
        table->selectAll();
        table->setFocus();
        QTest::keyClick(table, Qt::Key_Delete);
        QVERIFY(window_->runs().runs().empty());
        window_->selection().history().undo();
        QCOMPARE(window_->runs().runs().size(), std::size_t(3));
        QCOMPARE(window_->runs().find("b")->folder().metrics().size(), std::size_t(100));
    }

    // Like a user whose machine loses power repeatedly.
    void tenRunsSurviveKilledWindowsAndTrainers() {
        fillForm(60);
        page().seedCount()->setValue(5);
        QTest::mouseClick(page().queueButton(), Qt::LeftButton);
        std::mt19937 chance(11);
        for (int round = 0; round < 5; ++round) {
            QTest::qWait(static_cast<int>(300 + chance() % 700));
            window_.reset();  // the worker and its trainers do not notice that the window is gone
            killAll();
            QTest::qWait(static_cast<int>(chance() % 300));
            open();
        }
        QTRY_VERIFY_WITH_TIMEOUT(allFinished(10), 180000);
        for (const RunWatcher* run : window_->runs().runs()) {
            const auto rows = run->folder().metrics();
            QCOMPARE(rows.size(), std::size_t(60));
            for (std::size_t i = 0; i < rows.size(); ++i)
                QCOMPARE(rows[i].step, static_cast<std::int64_t>(i + 1));
        }
        QTRY_VERIFY(readQueue(runs()).entries.empty());
    }

    /// The folder came from somebody else: opening it starts nothing.
    void aQueueThatCameAlongWaitsForAWord() {
        window_.reset();
        runs_ = std::make_unique<QTemporaryDir>();
        QTemporaryDir elsewhere;
        Specification tiny = loadPreset("addition-demo").specification;
        tiny.training.steps = 2;
        tiny.training.warmup_steps = 1;
        tiny.model.width = 32;
        const RunFolder made = createRun(elsewhere.path().toStdString(), "a", tiny);
        std::filesystem::copy(made.path(), runs() / "a", std::filesystem::copy_options::recursive);
        std::ofstream(queuePath(runs()).path()) << "[[run]]\nname = \"a\"\n";
        open();
        auto* accept = buttonOf(page().queuePanel(), "Train them");
        QVERIFY(window_->queue().needsApproval("a"));
        QTest::qWait(2500);
        QVERIFY(!isQueueBeingProcessed(runs()));
        QCOMPARE(window_->runs().find("a")->state(), RunState::queued);
        QVERIFY(!accept->isHidden());
        QTest::mouseClick(accept, Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(window_->runs().find("a")->state(), RunState::finished, 60000);
        QVERIFY(accept->isHidden());
    }

    void aFileThatIsEditedWronglyIsSaidToBe() {
        std::ofstream(queuePath(runs()).path()) << "at_once = none\n";
        window_->queue().refresh();
        QVERIFY(window_->queue().problem().contains("queue.toml:1:"));
        std::ofstream(queuePath(runs()).path()) << "at_once = 3\n";
        QTRY_COMPARE(window_->queue().queue().max_trainers, 3);
        QVERIFY(window_->queue().problem().isEmpty());
    }

    void fiveHundredRunsAndABrokenOne() {
        window_.reset();
        for (int i = 0; i < 500; ++i)
            makeFinishedRun(runs(), {"run-" + std::to_string(1000 + i), i % 2 == 0 ? "rope" : "roper", i / 2,
                                     i % 129, 1000});
        std::filesystem::create_directories(runs() / "broken");
        std::ofstream(runs() / "broken" / "run.toml") << "[model\nwidth = ";
        QElapsedTimer clock;
        clock.start();
        open();
        const qint64 opened = clock.elapsed();
        qInfo("500 runs: window open after %lld ms", opened);
        QCOMPARE(window_->runs().runs().size(), std::size_t(501));
        auto* tree = control<QTreeView>("Runs");
        QAbstractItemModel* model = tree->model();
        QCOMPARE(model->rowCount(), 2);  // an experiment of 500 runs, and the unreadable runs
        QCOMPARE(runsListed(*model), 501);
        page().runsPanel().select("broken");
        QCOMPARE(tree->currentIndex().data().toString(), QString("broken"));
        QCOMPARE(tree->currentIndex().siblingAtColumn(RunsModel::state_column).data().toString(),
                 QString("broken"));
        auto* filter = control<QLineEdit>("Filter runs");
        filter->setText("position=roper correct>=120 run-1");
        QVERIFY(runsListed(*model) > 0 && runsListed(*model) < 40);
        filter->setText("brok");
        QCOMPARE(runsListed(*model), 1);
        filter->clear();
        tree->sortByColumn(RunsModel::last_evaluation_column, Qt::DescendingOrder);
        const QModelIndex first = model->index(0, 0, model->index(0, 0));
        QCOMPARE(first.siblingAtColumn(RunsModel::last_evaluation_column).data().toString(),
                 QString("128/128"));
        // The charts show only the first runs of the selected experiment.
        tree->setCurrentIndex(first);
        QTRY_VERIFY(page().metrics().chart(0).hasSeries(page().runsPanel().selected()->name()));
        QVERIFY(!page().metrics().chart(0).hasSeries("run-1001"));
    }

    void aRunIsRenamedWithItsColour() {
        makeFinishedRun(runs(), {"old-name"});
        window_->runs().refresh();
        page().runsPanel().select("old-name");
        emit page().runsPanel().colorChosen("old-name", QColor("#123456"));
        page().runsPanel().rename("new-name");
        QVERIFY(window_->runs().find("old-name") == nullptr);
        QVERIFY(window_->runs().find("new-name") != nullptr);
        QCOMPARE(page().runsPanel().model().color("new-name"), QColor("#123456"));
        QVERIFY_THROWS_EXCEPTION(Error, page().runsPanel().rename("no/name"));
    }

  private:
    std::filesystem::path runs() const { return runs_->path().toStdString(); }
    TrainingPage& page() { return window_->trainingPage(); }

    void open() { openWindow("Training", runs()); }

    void fillForm(int steps) {
        Specification s = tinyRun(page().form().specification(), steps);
        s.evaluation.every = 0;
        s.checkpoints.every = 10;
        page().form().setSpecification(s);
    }

    static int runsListed(const QAbstractItemModel& model) {
        int runs = 0;
        for (int row = 0; row < model.rowCount(); ++row)
            runs += model.rowCount(model.index(row, 0));
        return runs;
    }

    /// Queues four runs, of which the first is training.
    void queueFourLongRuns() {
        fillForm(1000000);
        changeQueue(runs(), [](RunQueue& queue) { queue.max_trainers = 1; });
        page().seedCount()->setValue(2);
        startWith(page().queueButton());
        QTRY_VERIFY_WITH_TIMEOUT(anyRuns(), 60000);
        QCOMPARE(names().size(), std::size_t(4));
    }
    std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const auto& entry : readQueue(runs()).entries)
            all.push_back(entry.run);
        return all;
    }

    bool allFinished(std::size_t count) const {
        const auto all = window_->runs().runs();
        return all.size() == count && std::all_of(all.begin(), all.end(), [](const RunWatcher* run) {
                   return run->state() == RunState::finished;
               });
    }
    bool anyRuns() const {
        const auto all = window_->runs().runs();
        return std::any_of(all.begin(), all.end(), [](const RunWatcher* run) { return run->isActive(); });
    }

    /// Kills every process that works in this test's folder, without warning.
    void killAll() const {
        const QByteArray mine = runs_->path().toLocal8Bit();
        QDirIterator processes("/proc", QDir::Dirs);
        while (processes.hasNext()) {
            processes.next();
            const int pid = processes.fileName().toInt();
            if (pid <= 0 || pid == static_cast<int>(QCoreApplication::applicationPid())) continue;
            QFile command(processes.filePath() + "/cmdline");
            if (command.open(QIODevice::ReadOnly) && command.readAll().contains(mine)) ::kill(pid, SIGKILL);
        }
    }

    std::unique_ptr<QTemporaryDir> runs_;
};

ROPER_GUI_TEST(QueueTest, "queue_test")
#include "queue_test.moc"
