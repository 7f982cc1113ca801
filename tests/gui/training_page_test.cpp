#include <QLabel>
#include <QSignalSpy>
#include <QTest>
#include <QTreeView>
#include <csignal>

#include "tests/support/fake_trainer.h"
#include "tests/support/made_runs.h"
#include "tests/support/page_test.h"
#include "ui/live/run_texts.h"

using namespace roper;

/// The Training page with a real trainer: started from the form, watched, controlled, killed, found again.
class TrainingPageTest : public PageTest {
    Q_OBJECT

  private slots:
    void initTestCase() {
        clearSettings("training_page_test");
        // The window starts the trainer next to its own program, or on the PATH.
        const QByteArray trainer = qgetenv("ROPER_TRAIN");
        qputenv("PATH", QFileInfo(QString::fromLocal8Bit(trainer)).absolutePath().toLocal8Bit() + ":" +
                            qgetenv("PATH"));
    }

    void init() {
        runs_ = std::make_unique<QTemporaryDir>();
        openWindow();
    }

    void cleanup() {
        // No test leaves a trainer running, whether it failed or not.
        for (const RunWatcher* run : window_->runs().runs())
            if (run->isActive() && run->status().pid > 0)
                ::kill(static_cast<pid_t>(run->status().pid), SIGKILL);
        window_.reset();
    }

    void aTrainingStartedFromTheFormDrawsItsPoints() {
        fillForm(200);
        QTest::mouseClick(page().startButton(), Qt::LeftButton);
        QCOMPARE(window_->runs().runs().size(), std::size_t(1));  // visible immediately
        const QString name = onlyRun()->name();
        QTRY_VERIFY_WITH_TIMEOUT(page().metrics().chart(0).pointCount(name) > 10, 60000);
        QTRY_COMPARE_WITH_TIMEOUT(onlyRun()->state(), RunState::finished, 60000);
        QTRY_COMPARE(page().metrics().chart(0).pointCount(name), std::size_t(200));
        QTRY_COMPARE(page().metrics().chart(1).pointCount(name), std::size_t(4));
        page().metrics().chart(0).redrawNow();
        QVERIFY(page().metrics().chart(0).plot().graph(1)->dataCount() > 10);
        QCOMPARE(onlyRun()->samples().size(), std::size_t(4));
    }

    void twinsDifferInTheMethodAlone() {
        fillForm(20);
        QTest::mouseClick(page().twinsButton(), Qt::LeftButton);
        const auto runs = window_->runs().runs();
        QCOMPARE(runs.size(), std::size_t(2));
        QVERIFY(runs[0]->specification()->model.position != runs[1]->specification()->model.position);
        for (const RunWatcher* run : runs)
            QTRY_COMPARE_WITH_TIMEOUT(run->state(), RunState::finished, 60000);
        for (const SpecificationField& field : specificationFields()) {
            if (field.name == "position") continue;
            QCOMPARE(field.text(*runs[0]->specification()), field.text(*runs[1]->specification()));
        }
        // Same weights and same first batch; the difference comes from rotating values.
        QVERIFY(std::abs(runs[0]->metrics()[0].loss - runs[1]->metrics()[0].loss) < 0.3);
    }

    void pauseResumeCheckpointStopResume() {
        fillForm(1000000);
        startWith(page().startButton());
        RunWatcher* run = onlyRun();
        QTRY_COMPARE_WITH_TIMEOUT(run->state(), RunState::running, 60000);
        QTRY_VERIFY(!run->metrics().empty() && page().runsPanel().pauseButton()->isEnabled());
        page().runsPanel().pauseButton()->setFocus();
        QTest::keyClick(page().runsPanel().pauseButton(), Qt::Key_Space);
        QTRY_COMPARE(run->state(), RunState::paused);
        QTRY_VERIFY(!page().runsPanel().pauseButton()->isEnabled());
        // The focus has left the button, but not for Stop, where another Space would end the run.
        QCoreApplication::processEvents();
        QVERIFY(QApplication::focusWidget() != nullptr);
        QVERIFY(qobject_cast<QAbstractButton*>(QApplication::focusWidget()) == nullptr);
        page().runsPanel().send(Command::checkpoint);
        QTRY_VERIFY(!run->folder().checkpoints().empty());
        QTest::mouseClick(page().runsPanel().resumeButton(), Qt::LeftButton);
        QTRY_COMPARE(run->state(), RunState::running);
        QTest::mouseClick(page().runsPanel().stopButton(), Qt::LeftButton);
        QTRY_COMPARE(run->state(), RunState::stopped);
        const auto stopped_at = run->step();
        page().runsPanel().resumeSelected();
        QTRY_COMPARE_WITH_TIMEOUT(run->state(), RunState::running, 60000);
        QTRY_VERIFY_WITH_TIMEOUT(run->step() > stopped_at, 60000);
    }

    /// Regression: “Resume” was disabled although `roper-train resume` could continue such a run.
    void moreStepsLetAFinishedRunGoOn() {
        fillForm(20);
        startWith(page().startButton());
        RunWatcher* run = onlyRun();
        QTRY_COMPARE_WITH_TIMEOUT(run->state(), RunState::finished, 60000);
        page().runsPanel().select(run->name());
        QTRY_VERIFY(!page().runsPanel().resumeButton()->isEnabled());
        Specification more = *run->specification();
        more.training.steps = 40;
        writeFileAtomically(run->folder().specificationPath(), toToml(more));
        QTRY_COMPARE(run->state(), RunState::unfinished);
        QCOMPARE(run->steps(), std::int64_t(40));
        QVERIFY(noticeOf(*run).contains("its run.toml now asks for 40 steps"));
        QTRY_VERIFY(page().runsPanel().resumeButton()->isEnabled());
        QTest::mouseClick(page().runsPanel().resumeButton(), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(run->step(), std::int64_t(40), 60000);
        QTRY_COMPARE_WITH_TIMEOUT(run->state(), RunState::finished, 60000);
        QCOMPARE(run->metrics().size(), std::size_t(40));
    }

    void aRunIsFoundAgainAfterTheWindowWasClosed() {
        fillForm(1000000);
        startWith(page().startButton());
        QTRY_VERIFY_WITH_TIMEOUT(!onlyRun()->metrics().empty(), 60000);
        const auto seen = onlyRun()->step();
        window_->close();
        window_.reset();
        QTest::qWait(300);
        openWindow();
        QCOMPARE(window_->runs().runs().size(), std::size_t(1));
        QTRY_COMPARE(onlyRun()->state(), RunState::running);
        QTRY_VERIFY(onlyRun()->step() > seen);
        QTRY_VERIFY(page().metrics().chart(0).pointCount(onlyRun()->name()) == onlyRun()->metrics().size());
    }

    void aKilledTrainerIsNoticedAndCanBeContinued() {
        fillForm(1000000);
        startWith(page().startButton());
        RunWatcher* run = onlyRun();
        QTRY_VERIFY_WITH_TIMEOUT(run->metrics().size() > 3, 60000);
        ::kill(static_cast<pid_t>(run->status().pid), SIGKILL);
        QTRY_COMPARE_WITH_TIMEOUT(run->state(), RunState::interrupted, 2000);
        page().runsPanel().resumeSelected();
        QTRY_COMPARE_WITH_TIMEOUT(run->state(), RunState::running, 60000);
        // Rows after the newest checkpoint were discarded and are computed again; the chart follows.
        QTRY_VERIFY_WITH_TIMEOUT(page().metrics().chart(0).pointCount(run->name()) == run->metrics().size() &&
                                     run->metrics().size() > 3,
                                 60000);
        QCOMPARE(run->metrics().front().step, std::int64_t(1));
    }

    void aTrainerThatHasNotReportedForLongIsSaid() {
        const FakeTrainer trainer("sleep 100");
        const RunFolder run = createRun(runs_->path().toStdString(), "silent", {});
        trainer.beat(run);
        window_->runs().refresh();
        page().runsPanel().select("silent");
        QTRY_COMPARE(onlyRun()->state(), RunState::running);
        const auto notice = [&] { return control<QLabel>("About the run")->text(); };
        QVERIFY(!notice().contains("has not reported"));
        QTRY_VERIFY2_WITH_TIMEOUT(notice().contains("has not reported for 3"), qPrintable(notice()), 40000);
        QVERIFY(notice().contains("kill -9 " + QString::number(run.status().pid)));
        trainer.beat(run);
        QTRY_VERIFY(notice().isEmpty());
    }

    void nonsenseInTheFormIsExplainedAndNothingStarts() {
        const auto type = [&](const char* key, const char* text) {
            auto* line = qobject_cast<QLineEdit*>(page().form().editor(key));
            line->selectAll();
            QTest::keyClicks(line, text);
        };
        for (const auto& [key, text] : {std::pair{"model.width", "abc"},
                                        {"model.width", "-4"},
                                        {"model.heads", "5"},
                                        {"training.learning_rate", "fast"},
                                        {"device.name", "toaster"},
                                        {"training.steps", "99999999999999999999"},
                                        {"model.dropout", "2"}}) {
            page().form().setSpecification({});
            QVERIFY(page().form().isValid());
            type(key, text);
            QVERIFY2(!page().form().isValid(), text);
            QVERIFY(!page().startButton()->isEnabled());
            const QString why = page().form().editor(key)->accessibleDescription();
            QVERIFY2(why.size() > 15, qPrintable(why));
        }
        QVERIFY(window_->runs().runs().empty());
    }

    void aTextRunThatOverfitsIsSaidTo() {
        const RunFolder run = makeFinishedRun(runs_->path().toStdString(), {"text"}, [](Specification& s) {
            s.task = loadPreset("text-quick").specification.task;
        });
        std::vector<EvaluationRow> rows;
        for (const double loss : {4.0, 3.8, 4.2, 4.9}) {
            EvaluationRow row;
            row.step = 25 * static_cast<std::int64_t>(rows.size() + 1);
            row.loss = loss;
            rows.push_back(row);
        }
        writeFileAtomically(run.pathOf<EvaluationRow>(), formatRows(rows), Durability::process_death);
        window_->runs().refresh();
        page().runsPanel().select("text");
        const auto notice = [&] { return control<QLabel>("About the run")->text(); };
        QTRY_VERIFY2(
            notice().contains("risen from its best, 3.800 at step 50, to 4.900 (perplexity 44.7 to 134.3)"),
            qPrintable(notice()));
        QTRY_COMPARE(page().metrics().chart(0).pointCount("text/validation"), std::size_t(4));
        QCOMPARE(page().metrics().chart(0).pointCount("text/best"), std::size_t(1));
        QTRY_VERIFY(page().metrics().chart(0).figureCaption().contains("RoPE, validation"));
    }

    void aTextThatIsNoneLeavesNoRun() {
        Specification s = loadPreset("text-quick").specification;
        s.training.steps = 2;
        s.training.warmup_steps = 1;
        s.task.specific_settings.set("text",
                                     QFile::symLinkTarget("/proc/self/exe").toStdString());  // a binary file
        page().form().setSpecification(s);
        startWith(page().startButton());
        QVERIFY(window_->runs().runs().empty());
        QVERIFY2(readout().contains("Not started") && readout().contains("which does not occur in text"),
                 qPrintable(readout()));
        // An error that only the trainer can find: too few letters for a vocabulary.
        const QString path = runs_->filePath("text.txt");
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("a b c\n");
        file.close();
        s.task.specific_settings.set("text", path.toStdString());
        page().form().setSpecification(s);
        startWith(page().startButton());
        QTRY_VERIFY2_WITH_TIMEOUT(readout().contains("Not started"), qPrintable(readout()), 60000);
        QTRY_VERIFY(window_->runs().runs().empty());
    }

    void aCardSaysThatItsSettingsWereChanged() {
        QVERIFY(page().presets().choose("addition-small"));
        const auto note = [&] { return page().presets().currentItem()->data(Qt::UserRole + 1).toBool(); };
        QVERIFY(!note());
        auto* steps = qobject_cast<QLineEdit*>(page().form().editor("training.steps"));
        steps->selectAll();
        QTest::keyClicks(steps, "77");
        QVERIFY(note());
        emit page().presets().itemClicked(page().presets().currentItem());
        QVERIFY(!note());
        QVERIFY(page().form().specification().training.steps != 77);
    }

    void settingsThatARunDoesNotUseAreFoldedAway() {
        Specification s = loadPreset("addition-small").specification;
        page().form().setSpecification(s);
        QWidget* other_task = page().form().editor("task.text");
        QVERIFY(other_task->isHidden() || other_task->parentWidget()->isHidden());
        QVERIFY(!page().form().editor("task.digits_max")->isHidden());
        auto* all = page().form().findChild<QCheckBox*>();
        QVERIFY(all->text().contains("unused settings"));
        all->setChecked(true);
        QVERIFY(!other_task->parentWidget()->isHidden());
        QVERIFY(!other_task->isEnabled());
    }

    void aRunStartsFromTheWeightsOfAnother() {
        fillForm(10);
        QTest::mouseClick(page().startButton(), Qt::LeftButton);
        const RunWatcher* source = onlyRun();
        QTRY_COMPARE_WITH_TIMEOUT(source->state(), RunState::finished, 60000);
        page().runsPanel().select(source->name());
        page().form().setSpecification({});
        chooseInMenu(*page().runsPanel().findChild<QTreeView*>()->viewport(),
                     {"Start a run from its weights…"});
        auto* weights = qobject_cast<QLineEdit*>(page().form().editor("training.initial_weights"));
        QCOMPARE(weights->text(), source->name());
        QTRY_VERIFY(weights->hasFocus() && !weights->visibleRegion().isEmpty());
        QCOMPARE(page().form().specification().model.width, 32);
        QVERIFY(page().form().isValid());
        weights->selectAll();
        QTest::keyClicks(weights, "nothing");
        QVERIFY(!page().form().isValid());
        QCOMPARE(weights->accessibleDescription(), QString("no such run or checkpoint"));
        weights->selectAll();
        QTest::keyClicks(weights, source->name());
        QTest::mouseClick(page().startButton(), Qt::LeftButton);
        QCOMPARE(window_->runs().runs().size(), std::size_t(2));
        for (const RunWatcher* run : window_->runs().runs())
            QTRY_COMPARE_WITH_TIMEOUT(run->state(), RunState::finished, 60000);
    }

    void aLongRunStartsOnlyAfterAWord() {
        page().form().setSpecification(loadPreset("addition-paper").specification);
        const QString expectedCosts = control<QLabel>("Cost of a run")->text();
        QVERIFY2(
            expectedCosts.contains("A run takes roughly") && expectedCosts.contains("no run has been timed"),
            qPrintable(expectedCosts));
        for (QPushButton* button : {page().startButton(), page().twinsButton(), page().queueButton()}) {
            QTest::mouseClick(button, Qt::LeftButton);
            QVERIFY(longWorkQuestion()->text().contains(" h"));
            answerLongWork(false);
        }
        QVERIFY(window_->runs().runs().empty());
        QVERIFY(readQueue(runs_->path().toStdString()).entries.empty());
    }

    // Regression: the window said “Started”, and then the run failed.
    void aRunThatDoesNotFitIntoMemoryCannotStart() {
        Specification s = loadPreset("addition-paper").specification;
        s.model.width = 32768;
        s.model.layers = 64;
        page().form().setSpecification(s);
        QVERIFY(page().form().isValid());
        for (const QPushButton* button : {page().startButton(), page().twinsButton(), page().queueButton()})
            QVERIFY(!button->isEnabled());
        const QString expectedCosts = control<QLabel>("Cost of a run")->text();
        QVERIFY2(expectedCosts.contains("GB are free: use a smaller"), qPrintable(expectedCosts));
    }

    void aFolderThatCannotBeUsedIsReported() {
        const QString file = runs_->filePath("file");
        QFile(file).open(QIODevice::WriteOnly);
        window_ = std::make_unique<MainWindow>((file + "/runs").toStdString());
        window_->showPage("Training");
        fillForm(10);
        QTest::mouseClick(page().startButton(), Qt::LeftButton);
        bool said = false;
        for (const QLabel* label : page().findChildren<QLabel*>())
            said = said || label->text().contains("Not started");
        QVERIFY(said);
    }

    void aDamagedRunIsShownAndHarmsNoOther() {
        createRun(runs_->path().toStdString(), "good", {});
        createRun(runs_->path().toStdString(), "bad", {});
        const auto write = [&](const char* file, const char* text) {
            QFile out(runs_->filePath(file));
            QVERIFY(out.open(QIODevice::WriteOnly));
            out.write(text);
        };
        write("bad/run.toml", "[modle]\n");
        write("bad/status.json", "{");
        write("bad/metrics.csv", "nonsense\n1,2\n\xff\n");
        window_->runs().refresh();
        QCOMPARE(window_->runs().runs().size(), std::size_t(2));
        QVERIFY(!window_->runs().find("bad")->problem().isEmpty());
        QCOMPARE(window_->runs().find("good")->state(), RunState::queued);
    }

    void everyPresetFillsTheForm() {
        QVERIFY(page().presets().count() >= 8);
        for (const Preset& preset : page().presets().presets()) {
            QVERIFY(page().presets().choose(QString::fromStdString(preset.name)));
            QCOMPARE(page().form().specification().about.title, preset.specification.about.title);
            // One preset needs a text of the user; its run cannot start until the text is given.
            QCOMPARE(page().form().isValid(), preset.name != "text-paper");
        }
    }

  private:
    void openWindow() { PageTest::openWindow("Training", runs_->path().toStdString()); }

    TrainingPage& page() { return window_->trainingPage(); }
    QString readout() const {
        QStringList texts;
        for (const QLabel* label : window_->trainingPage().findChildren<QLabel*>())
            if (label->text().startsWith("Not started")) texts << label->text();
        return texts.join(' ');
    }
    RunWatcher* onlyRun() { return window_->runs().runs().front(); }

    /// Enters a tiny model into the form.
    void fillForm(int steps) {
        const std::pair<const char*, QString> values[] = {
            {"model.width", "32"},        {"model.layers", "1"},
            {"model.heads", "2"},         {"model.feed_forward", "32"},
            {"training.batch", "4"},      {"training.warmup_steps", "5"},
            {"device.threads", "1"},      {"evaluation.every", "50"},
            {"evaluation.problems", "4"}, {"training.steps", QString::number(steps)}};
        for (const auto& [key, text] : values) {
            auto* line = qobject_cast<QLineEdit*>(page().form().editor(key));
            line->selectAll();
            QTest::keyClicks(line, text);
        }
        QVERIFY(page().form().isValid());
    }

    std::unique_ptr<QTemporaryDir> runs_;
};

ROPER_GUI_TEST(TrainingPageTest, "training_page_test")
#include "training_page_test.moc"
