#include <QFile>
#include <QMessageBox>
#include <QTreeWidget>
#include "core/runs/run_recorder.h"
#include "core/specification/presets.h"
#include "tests/support/label_problems.h"
#include "tests/support/page_test.h"
#include "ui/pages/training/training_page.h"

using namespace roper;

/// The list of runs on a cluster. Scripts replace Slurm's programs; they record their arguments and print
/// given output. tests/process/slurm_test.py uses the real ones.
class ClusterPanelTest : public PageTest {
    Q_OBJECT

  private slots:
    void initTestCase() {
        clearSettings("cluster_panel_test");
        qputenv("XDG_STATE_HOME", folder_.filePath("state").toLocal8Bit());
        QVERIFY(QDir(folder_.path()).mkpath("bin"));
        qputenv("PATH", folder_.filePath("bin").toLocal8Bit() + ":" + qgetenv("PATH"));
        writeProgram("squeue", "cat '" + folder_.filePath("elements") + "'");
        writeProgram("scontrol", "");
        writeProgram("scancel", "");
        writeProgram("sbatch", "echo 77");
    }

    void init() {
        runs_ = std::make_unique<QTemporaryDir>();
        QFile::remove(folder_.filePath("calls"));
        setElements("");
    }
    void cleanup() { window_.reset(); }

    void aFolderWithoutAClusterSaysHowRunsComeThere() {
        open();
        QVERIFY(panel().grid().figureCsv().count('\n') == 1);
        QVERIFY(!buttonOf(panel(), "Cancel")->isEnabled());
        QTest::qWait(50);
        // The scheduler is not queried if nothing was submitted.
        QVERIFY(!QFile::exists(folder_.filePath("calls")));
        checkInputs();
    }

    void everyRunIsSeenWithWhatItWaitsFor() {
        submit({"a", "b", "c", "d"});
        makeRun("a", RunState::finished, 100);
        makeRun("b", RunState::running, 40);
        makeRun("c", RunState::preempted, 50);
        makeRun("d", RunState::failed, 3, "the loss is not a number");
        setElements("s.abc123|9|1|RUNNING|node7|None\ns.abc123|9|2|PENDING||Priority\n");
        open();
        QTRY_COMPARE(panel().list().topLevelItemCount(), 4);
        QTRY_VERIFY(where("b").startsWith("running on node7 (9_1), step 40 of"));
        QVERIFY(where("c").startsWith("waiting (9_2): Priority"));
        QCOMPARE(where("d"), QString("failed: the loss is not a number"));
        const QString said = readoutAt(&panel().grid(), panel().grid().cellRect(2).center().toPoint());
        QVERIFY2(said.startsWith("c: waiting (9_2)"), qPrintable(said));
        QVERIFY(panel().grid().figureCaption().contains("1 finished, 1 running, 1 waiting, 1 failed"));
        // Clicking a cell selects the run and updates the possible actions.
        clickCell(2);
        QCOMPARE(panel().selected(), std::vector<std::string>{"c"});
        QVERIFY(buttonOf(panel(), "Cancel")->isEnabled() && !buttonOf(panel(), "Requeue")->isEnabled() &&
                !buttonOf(panel(), "Submit again")->isEnabled());
        clickCell(1);
        QVERIFY(buttonOf(panel(), "Requeue")->isEnabled());
        clickCell(0);
        QVERIFY(!buttonOf(panel(), "Cancel")->isEnabled());
    }

    void elementsAreCancelledAndPutBack() {
        submit({"a", "b"});
        makeRun("a", RunState::running, 40);
        makeRun("b", RunState::queued, 0);
        setElements("s.abc123|9|0|RUNNING|node7|None\ns.abc123|9|1|PENDING||Priority\n");
        open();
        QTRY_COMPARE(panel().list().topLevelItemCount(), 2);
        QSignalSpy said(&panel(), &ClusterPanel::reported);
        clickCell(1);
        QTest::mouseClick(buttonOf(panel(), "Cancel"), Qt::LeftButton);
        QTRY_VERIFY(calls().contains("scancel 9_1"));
        QTRY_COMPARE(said.count(), 1);
        QVERIFY(said[0][0].toString().startsWith("1 array task cancelled"));
        clickCell(0);
        QTRY_VERIFY(buttonOf(panel(), "Requeue")->isEnabled());
        QTest::mouseClick(buttonOf(panel(), "Requeue"), Qt::LeftButton);
        QTRY_VERIFY(calls().contains("scontrol requeue 9_0"));
    }

    void whatIsLeftIsSubmittedAgainWithTheSameOptions() {
        submit({"a"}, {"gpu", "gpu:2", "", 0, 1, {}, ""});
        makeRun("a", RunState::preempted, 50);
        open();
        QTRY_COMPARE(panel().list().topLevelItemCount(), 1);
        clickCell(0);
        QTRY_VERIFY(buttonOf(panel(), "Submit again")->isEnabled());
        QSignalSpy said(&panel(), &ClusterPanel::reported);
        QTest::mouseClick(buttonOf(panel(), "Submit again"), Qt::LeftButton);
        QTRY_COMPARE(said.count(), 1);
        QCOMPARE(said[0][0].toString(), QString("1 run submitted: job 77"));
        const auto all = readSubmissions(runs(), "s");
        QCOMPARE(all.size(), std::size_t(2));
        QCOMPARE(ownSubmissions(runs(), all).at(all.back().name).gres, std::string("gpu:2"));
    }

    void eachIsSubmittedAgainAsItWasTheLastTime() {
        submit({"a"}, {"gpu", "", "", 0, 1, {}, ""});
        submit({"b"}, {"cpu", "", "", 0, 1, {}, ""}, "s.def456");
        makeRun("a", RunState::preempted, 50);
        makeRun("b", RunState::preempted, 50);
        open();
        QTRY_COMPARE(panel().list().topLevelItemCount(), 2);
        panel().list().selectAll();
        QTRY_VERIFY(buttonOf(panel(), "Submit again")->isEnabled());
        QTest::mouseClick(buttonOf(panel(), "Submit again"), Qt::LeftButton);
        QTRY_COMPARE(readSubmissions(runs(), "s").size(), std::size_t(4));
        const auto all = readSubmissions(runs(), "s");
        const auto own = ownSubmissions(runs(), all);
        QCOMPARE(own.size(), std::size_t(4));
        for (const Submission& one : all)
            QCOMPARE(own.at(one.name).partition,
                     std::string(one.array_tasks.front().front() == "a" ? "gpu" : "cpu"));
    }

    void whatIsRefusedIsNotThere() {
        submit({"a"});
        makeRun("a", RunState::preempted, 50);
        writeProgram("sbatch", "echo 'no such partition' >&2; exit 1");
        open();
        QVERIFY(submitAgain().contains("no such partition"));
        QCOMPARE(readSubmissions(runs(), "s").size(), std::size_t(1));
        QTRY_VERIFY(buttonOf(panel(), "Submit again")->isEnabled());
        writeProgram("sbatch", "echo 77");
    }

    void whatSlurmMayHaveIsNotSubmittedTwice() {
        submit({"a"});
        makeRun("a", RunState::preempted, 50);
        writeProgram("sbatch", "echo 'sbatch: error: Socket timed out on send/recv operation' >&2; exit 1");
        open();
        QVERIFY(submitAgain().contains("timed out"));
        QCOMPARE(readSubmissions(runs(), "s").size(), std::size_t(2));
        QTRY_VERIFY(where("a").startsWith("submitted; state in Slurm unknown"));
        QVERIFY(!buttonOf(panel(), "Submit again")->isEnabled());
        // Slurm lists it now.
        const std::string name = readSubmissions(runs(), "s").back().name;
        setElements(QByteArray::fromStdString(name) + "|8|0|PENDING||Priority\n");
        panel().watch().refresh();
        QTRY_VERIFY(where("a").startsWith("waiting (8_0): Priority"));
        writeProgram("sbatch", "echo 77");
    }

    void anAnswerThatWasLostIsFoundBySlurmsList() {
        submit({"a"});
        makeRun("a", RunState::preempted, 50);
        // It is listed from the moment when sbatch fails.
        writeProgram("sbatch", "for f in '" + runs_->path() +
                                   "'/slurm/*.sh; do echo \"$(basename $f .sh)|8|0|PENDING||None\" > '" +
                                   folder_.filePath("elements") + "'; done; echo 'timed out' >&2; exit 1");
        open();
        QCOMPARE(submitAgain(), QString("1 run submitted: job 8"));
        QCOMPARE(readSubmissions(runs(), "s").back().job, std::string("8"));
        writeProgram("sbatch", "echo 77");
    }

    void whoSharesAnElementIsAskedAbout() {
        const Submission packed{"s.abc123", "s", {{"a", "b"}}, 1, false};
        writeSubmission(runs(), packed);
        recordSubmission(runs(), packed, {});
        makeRun("a", RunState::queued, 0);
        makeRun("b", RunState::queued, 0);
        setElements("s.abc123|9|0|PENDING||Priority\n");
        open();
        QTRY_COMPARE(panel().list().topLevelItemCount(), 2);
        clickCell(0);
        for (const char* answer : {"Keep them", "Cancel all"}) {
            QTest::mouseClick(buttonOf(panel(), "Cancel"), Qt::LeftButton);
            auto* question = panel().findChild<QMessageBox*>("cancel_question");
            QVERIFY(question != nullptr && question->informativeText().startsWith("b\n"));
            QVERIFY(!calls().contains("scancel"));
            for (QAbstractButton* button : question->buttons())
                if (button->text() == answer) QTest::mouseClick(button, Qt::LeftButton);
            QTRY_VERIFY(panel().findChild<QMessageBox*>("cancel_question") == nullptr);
        }
        QTRY_VERIFY(calls().contains("scancel 9_0"));
        // If both are selected, cancelling affects no other run, so no question is asked.
        panel().list().selectAll();
        QTest::mouseClick(buttonOf(panel(), "Cancel"), Qt::LeftButton);
        QVERIFY(panel().findChild<QMessageBox*>("cancel_question") == nullptr);
        QTRY_COMPARE(calls().count("scancel 9_0"), 2);
    }

    void oneThatCannotBeRequeuedDoesNotKeepTheOthersFromIt() {
        submit({"a", "b"});
        makeRun("a", RunState::running, 40);
        makeRun("b", RunState::running, 40);
        setElements("s.abc123|9|0|RUNNING|node7|None\ns.abc123|9|1|RUNNING|node7|None\n");
        writeProgram("scontrol", "case \"$*\" in *9_0*) echo 'Job has already finished' >&2; exit 1;; esac");
        open();
        QTRY_COMPARE(panel().list().topLevelItemCount(), 2);
        panel().list().selectAll();
        QSignalSpy said(&panel(), &ClusterPanel::reported);
        QTRY_VERIFY(buttonOf(panel(), "Requeue")->isEnabled());
        QTest::mouseClick(buttonOf(panel(), "Requeue"), Qt::LeftButton);
        QTRY_COMPARE(said.count(), 1);
        QVERIFY(calls().contains("scontrol requeue 9_1"));
        QVERIFY(said[0][0].toString().startsWith("1 array task saved and put back"));
        QVERIFY(said[0][0].toString().contains("already finished"));
        writeProgram("scontrol", "");
    }

    /// Regression: the file in the folder names a program, and a run of the user's own made the window start
    /// it.
    void whatSomebodyElseSubmittedIsNotSubmittedAgain() {
        makeRun("mine", RunState::finished, 100);
        makeRun("a", RunState::preempted, 50);
        writeForeignSubmission(R"("time": 1)");
        QVERIFY(answerToSubmitAgain("a").contains("you did not submit a from this machine"));
    }

    void aTimeAheadOfTheClockDoesNotWin() {
        makeRun("a", RunState::preempted, 50);
        submit({"a"}, {"mine", "", "", 0, 1, {}, ""}, "s.mine01");
        writeForeignSubmission(R"("time": 99999999999)");
        QVERIFY(answerToSubmitAgain("a").startsWith("1 run submitted"));
        QVERIFY(calls().contains("sbatch"));
        for (const auto& [name, options] : ownSubmissions(runs(), readSubmissions(runs(), "s")))
            QCOMPARE(options.partition, std::string("mine"));
    }

    void aSubmissionThatWasExchangedIsNoLongerOnesOwn() {
        makeRun("a", RunState::preempted, 50);
        makeRun("b", RunState::preempted, 50);
        submit({"a"});
        writeSubmission(runs(), submissionOf({"b"}));
        QVERIFY(answerToSubmitAgain("b").contains("you did not submit b from this machine"));
    }

    void whatSomebodyElseSubmittedIsNotCancelled() {
        makeRun("a", RunState::queued, 0);
        writeForeignSubmission(R"("time": 1)");
        setElements("s.foreign|9|0|RUNNING|node1|None\n");
        open();
        QTRY_COMPARE(panel().list().topLevelItemCount(), 1);
        clickCell(0);
        QTRY_VERIFY(where("a").contains("9_0"));
        QVERIFY(!buttonOf(panel(), "Cancel")->isEnabled());
        QVERIFY(!buttonOf(panel(), "Requeue")->isEnabled());
    }

    void whereSlurmCannotBeAskedThatIsSaid() {
        submit({"a", "b"});
        makeRun("a", RunState::finished, 100);
        makeRun("b", RunState::preempted, 50);
        writeProgram("squeue", "echo 'Unable to contact slurm controller' >&2; exit 1");
        open();
        QTRY_COMPARE(panel().list().topLevelItemCount(), 2);
        writeProgram("squeue", "cat '" + folder_.filePath("elements") + "'");
        QVERIFY(where("b").startsWith("submitted; state in Slurm unknown"));
        QCOMPARE(where("a"), QString("finished"));
        const auto labels = panel().findChildren<QLabel*>();
        QVERIFY(std::any_of(labels.begin(), labels.end(), [](const QLabel* label) {
            return label->isVisible() && label->text().contains("Unable to contact slurm controller");
        }));
        clickCell(1);
        QVERIFY(!buttonOf(panel(), "Submit again")->isEnabled());  // it may have been accepted
        panel().watch().refresh();
        QTRY_VERIFY(panel().watch().problem().isEmpty());
        QTRY_VERIFY(buttonOf(panel(), "Submit again")->isEnabled());
    }

    void noLabelIsCutOrLaidOverAnother() {
        std::vector<SweepRunStatus> cells;
        for (int i = 0; i < 200; ++i) {
            SweepRunStatus one;
            one.run = "sweep-" + std::to_string(i);
            one.state = std::array{RunState::finished, RunState::running, RunState::failed, RunState::queued,
                                   RunState::preempted}[static_cast<std::size_t>(i % 5)];
            one.status.step = i % 5 == 3 ? 0 : i;
            one.status.steps = 200;
            one.is_state_known = i % 7 != 0;
            cells.push_back(one);
        }
        SweepGridView grid(nullptr);
        grid.show(cells);
        for (const QSize& size : {QSize(240, 120), QSize(420, 200), QSize(900, 600), QSize(320, 900)})
            QCOMPARE(labelProblems(grid, size), QStringList());
        // All fit, and none overlap.
        grid.resize(420, 200);
        for (std::size_t i = 0; i < 200; ++i) {
            QVERIFY(grid.canvas().contains(grid.cellRect(i)));
            if (i > 0) QVERIFY(!grid.cellRect(i).intersects(grid.cellRect(i - 1)));
        }
    }

  private:
    TrainingPage& page() const { return *qobject_cast<TrainingPage*>(window_->currentPage()); }
    ClusterPanel& panel() const { return page().clusterPanel(); }
    std::filesystem::path runs() const { return runs_->path().toStdString(); }

    void open() {
        openWindow("Training", runs());
        for (QTabWidget* tabs : page().findChildren<QTabWidget*>())
            if (const int tab = tabs->indexOf(&panel()); tab >= 0) tabs->setCurrentIndex(tab);
        QVERIFY(panel().isVisible());
    }

    /// Selects the first run, submits it again, and returns the message.
    QString submitAgain() {
        const auto is_enabled = [this] { return buttonOf(panel(), "Submit again")->isEnabled(); };
        if (!QTest::qWaitFor([this] { return panel().list().topLevelItemCount() > 0; })) return {};
        clickCell(0);
        if (!QTest::qWaitFor(is_enabled)) return {};
        QSignalSpy said(&panel(), &ClusterPanel::reported);
        QTest::mouseClick(buttonOf(panel(), "Submit again"), Qt::LeftButton);
        return QTest::qWaitFor([&] { return said.count() == 1; }) ? said[0][0].toString() : QString();
    }

    void clickCell(std::size_t cell) {
        QTest::mouseClick(&panel().grid(), Qt::LeftButton, {},
                          (panel().grid().cellRect(cell).center() * Zoom::instance().factor()).toPoint());
    }

    QString where(const QString& run) const {
        const auto found = panel().list().findItems(run, Qt::MatchExactly);
        return found.isEmpty() ? QString() : found.front()->text(1);
    }

    /// Writes a program that records its name and arguments and then runs `what`.
    void writeProgram(const QString& name, const QString& what) const {
        const QString path = folder_.filePath("bin/" + name);
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QStringLiteral("#!/bin/sh\necho %1 \"$@\" >> '%2'\n%3\n")
                       .arg(name, folder_.filePath("calls"), what)
                       .toUtf8());
        file.close();
        QVERIFY(file.setPermissions(file.permissions() | QFile::ExeOwner | QFile::ExeUser));
    }
    void setElements(const QByteArray& lines) const {
        QFile file(folder_.filePath("elements"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(lines);
    }
    QString calls() const {
        QFile file(folder_.filePath("calls"));
        return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
    }

    /// Submits one element for each run.
    void submit(const std::vector<std::string>& names, const SlurmOptions& options = {},
                const std::string& job = "s.abc123") const {
        Submission submission = submissionOf(names, job);
        writeSubmission(runs(), submission);
        recordSubmission(runs(), submission, options);
    }
    static Submission submissionOf(const std::vector<std::string>& names,
                                   const std::string& job = "s.abc123") {
        Submission submission{job, "s", {}, 1, false};
        for (const std::string& name : names)
            submission.array_tasks.push_back({name});
        return submission;
    }
    /// A file as written by somebody else or by an older version.
    void writeForeignSubmission(const QByteArray& time) const {
        makeFolder(submissionsFolder(runs()));
        QFile file(QString::fromStdString(submissionPath(runs(), "s.foreign").string()));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(R"({"name": "s.foreign", "sweep": "s", "elements": [["a"]], "ended": false, "job": "9",
            "options": {"partition": "", "gres": "", "time": "", "at_once": 0, "pack": 1, "more": ["--wrap=true"],
            "program": "true"}, )" +
                   time + "}");
    }
    QString answerToSubmitAgain(const char* run) {
        open();
        if (!QTest::qWaitFor([&] { return panel().list().topLevelItemCount() > 0; })) return {};
        for (int i = 0; i < panel().list().topLevelItemCount(); ++i)
            panel().list().topLevelItem(i)->setSelected(panel().list().topLevelItem(i)->text(0) == run);
        if (!QTest::qWaitFor([&] { return buttonOf(panel(), "Submit again")->isEnabled(); })) return {};
        return submitAgain();
    }
    /// A run in the state that its trainer (this process) has written.
    void makeRun(const std::string& name, RunState state, std::int64_t step, const std::string& error = "") {
        const RunFolder run = createRun(runs(), name, loadPreset("addition-small").specification);
        RunRecorder recorder(run);
        Status status = run.status();
        status.state = state;
        status.step = step;
        status.error = error;
        recorder.setStatus(status);
    }

    std::unique_ptr<QTemporaryDir> runs_;
};

ROPER_GUI_TEST(ClusterPanelTest, "cluster_panel_test")
#include "cluster_panel_test.moc"
