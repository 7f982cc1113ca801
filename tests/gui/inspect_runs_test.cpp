#include <QProcess>
#include <QScopeGuard>
#include <fstream>

#include "tests/support/label_problems.h"
#include "tests/support/made_runs.h"
#include "tests/support/page_test.h"
#include "tests/support/small_model.h"

using namespace roper;

/// The panels of the Inspect page that are about runs: snapshots, generated text, problems solved by size,
/// learned positions; a real run is asked through `roper-train serve`.
class InspectRunsTest : public PageTest {
    Q_OBJECT

  private slots:
    void initTestCase() {
        clearSettings("inspect_runs_test");
        const QString trainer = QString::fromLocal8Bit(qgetenv("ROPER_TRAIN"));
        qputenv("PATH", QFileInfo(trainer).absolutePath().toLocal8Bit() + ":" + qgetenv("PATH"));
        for (const char* name : {"real", "twin"})
            train(name, name == std::string("real") ? "roper" : "rope");
        makeFinishedRun(folder_.path().toStdString(), {"without-snapshots"});
        openWindow("Inspect");
    }

    void train(const QString& name, const QString& method) {
        const QString trainer = QString::fromLocal8Bit(qgetenv("ROPER_TRAIN"));
        QProcess process;
        QStringList arguments{"run",
                              "index-small",
                              "--runs",
                              folder_.path(),
                              "--name",
                              name,
                              "--threads",
                              "1",
                              "-q",
                              "--set",
                              "model.position=" + method};
        for (const char* setting :
             {"model.width=32", "model.layers=2", "model.heads=2", "model.feed_forward=32",
              "training.steps=40", "training.warmup_steps=4", "snapshots.every=10", "snapshots.tokens=24",
              "evaluation.every=0", "checkpoints.every=20", "training.batch=4", "evaluation.problems=4"})
            arguments << "--set" << setting;
        process.start(trainer, arguments);
        QVERIFY(process.waitForFinished(120000));
        QVERIFY2(process.exitCode() == 0, process.readAllStandardError());
    }

    void init() {
        page().inspect("real", false);
        page().showPanel<SnapshotsPanel>();
    }

    void aPublishedModelIsLookedAtLikeARun() {
        QTemporaryDir models;
        makeSmallModel("llama", QDir(models.path()));
        const QString model = models.filePath("llama");
        page().open(model);
        QVERIFY(figure<HeadsView>("heads").isVisible());
        look("5>E5>33W5");
        QVERIFY2(state().maps() != nullptr, qPrintable(state().message()));
        QCOMPARE(state().maps()->count(), std::size_t(8));
        state().setHead(1, 2);
        QVERIFY2(figure<HeatMapView>("head").figureCaption().contains("layer 1, head 2 of llama, text"),
                 qPrintable(figure<HeatMapView>("head").figureCaption()));
        page().showPanel<GenerationPanel>();
        control<QLineEdit>("Prompt")->setText("5>E5");
        control<QSpinBox>("Tokens to generate")->setValue(4);
        QTest::mouseClick(control<QPushButton>("Generate"), Qt::LeftButton);
        waitForAnswers();
        QVERIFY2(continuation() != nullptr, qPrintable(state().message()));
        QCOMPARE(continuation()->generated(), std::size_t(4));
        QCOMPARE(continuation()->attention.front().cols(), Eigen::Index(8));
        page().showPanel<SizesPanel>();
        QVERIFY(!control<QPushButton>("Solve")->isEnabled());
        page().showPanel<SnapshotsPanel>();
    }

    /// Runs have names for people; a name follows what distinguishes the runs of the folder.
    void runsHaveNamesInTheLists() {
        const auto* models = control<QComboBox>("Model");
        QCOMPARE(models->currentText(), QString("Index · RoPER · seed 0"));
        QCOMPARE(models->currentData(Qt::ToolTipRole).toString(), QString("real"));
        QVERIFY2(models->toolTip().contains("(real)"), qPrintable(models->toolTip()));
        makeFinishedRun(folder_.path().toStdString(), {"wide", "roper"}, [](Specification& s) {
            s.task.name = "index";
            s.model.width = 96;
        });
        window_->runs().refresh();
        QTRY_VERIFY2(models->currentText().startsWith("Index · RoPER · seed 0 · "),
                     qPrintable(models->currentText()));
        const QString longer = models->currentText();
        QDir(folder_.filePath("wide")).removeRecursively();
        window_->runs().refresh();
        QTRY_COMPARE(models->currentText(), QString("Index · RoPER · seed 0"));
        QVERIFY(models->findText(longer) < 0);
    }

    // The twin shows the same head and step, whichever is selected.
    void aTwinStandsBesideItsRun() {
        QVERIFY(!page().panel<SnapshotsPanel>().comparisonMap().isVisible());
        const std::size_t alone = page().figures().size();
        auto* choice = control<QComboBox>("Comparison model");
        QCOMPARE(choice->itemText(1), QString("twin: RoPE (same settings and seed)"));
        choice->setCurrentIndex(1);
        emit choice->activated(1);
        QCOMPARE(comparison().model(), QString("twin"));
        QVERIFY(page().panel<SnapshotsPanel>().comparisonMap().isVisible());
        scrubber().setValue(1);
        QCOMPARE(state().maps()->step, std::int64_t(10));
        QCOMPARE(comparison().maps()->step, std::int64_t(10));
        state().setHead(1, 1);
        QCOMPARE(headOf(comparison()), std::pair(1, 1));
        HeadsView& beside_heads = page().panel<SnapshotsPanel>().comparisonThumbnails();
        QTest::mouseClick(&beside_heads, Qt::LeftButton, {}, beside_heads.headRect(1, 0).center().toPoint());
        QCOMPARE(headOf(state()), std::pair(1, 0));
        QVERIFY(page().panel<SnapshotsPanel>().comparisonMap().figureCaption().contains(
            "layer 1, head 0 of Index · RoPE · seed 0 at step 10"));
        QVERIFY(*figure<HeatMapView>("head").map().values !=
                *page().panel<SnapshotsPanel>().comparisonMap().map().values);
        // Both read a text typed by the user, and both continue a prompt.
        look("?s='abc'; s[1:]=='");
        QCOMPARE(comparison().message(), QString());
        QCOMPARE(comparison().maps()->text, state().maps()->text);
        page().showPanel<GenerationPanel>();
        control<QLineEdit>("Prompt")->setText("?s='abc'; s[1:]=='");
        control<QSpinBox>("Tokens to generate")->setValue(5);
        QTest::mouseClick(control<QPushButton>("Generate"), Qt::LeftButton);
        waitForAnswers();
        const Continuation* of_beside = comparison().answer(answers::continuation);
        QVERIFY(continuation() != nullptr && of_beside != nullptr);
        QCOMPARE(of_beside->prompt_tokens, continuation()->prompt_tokens);
        // When an older checkpoint is selected, the twin uses the same step.
        auto* step = control<QComboBox>("Step of the model");
        step->setCurrentIndex(step->findText("checkpoint 20"));
        QCOMPARE(state().step(), std::optional<std::int64_t>(20));
        QTest::mouseClick(control<QPushButton>("Generate"), Qt::LeftButton);
        waitForAnswers();
        QCOMPARE(comparison().step(), std::optional<std::int64_t>(20));
        step->setCurrentIndex(0);
        // Both solve problems of every size, and both can be cancelled.
        page().showPanel<SizesPanel>();
        control<QSpinBox>("Problems of each size")->setValue(1);
        QTest::mouseClick(control<QPushButton>("Solve"), Qt::LeftButton);
        QTest::mouseClick(control<QPushButton>("Solve"), Qt::LeftButton);  // the button now says “Cancel”
        QVERIFY(!state().sizes().isCounting() && !comparison().sizes().isCounting());
        QTest::mouseClick(control<QPushButton>("Solve"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!state().sizes().isCounting() && !comparison().sizes().isCounting(), 60000);
        QVERIFY2(comparison().sizes().table().has_value(), qPrintable(comparison().sizes().message()));
        QVERIFY(page().panel<SizesPanel>().comparisonSizeMap().isVisible());
        QVERIFY(page().panel<SizesPanel>().comparisonSizeMap().figureCaption().contains(
            "that Index · RoPE · seed 0 solves at step"));
        QCOMPARE(page().panel<SizesPanel>().comparisonSizeMap().map().values->rows(),
                 figure<HeatMapView>("solved-by-size").map().values->rows());
        QCOMPARE(page().figures().size(), alone + 4);
        page().showPanel<SnapshotsPanel>();
        // The twin is removed when its own run is opened.
        page().open("twin");
        QCOMPARE(comparison().model(), QString());
        QVERIFY(!page().panel<SnapshotsPanel>().comparisonMap().isVisible());
        QCOMPARE(page().figures().size(), alone);
        page().inspect("twin", true);
        QCOMPARE(comparison().model(), QString("real"));
    }

    void aRunWithoutATwinStandsAlone() {
        page().inspect("without-snapshots", true);
        QCOMPARE(comparison().model(), QString());
        QVERIFY(!page().panel<SnapshotsPanel>().comparisonMap().isVisible());
    }

    void theScrubberLeadsThroughTheSnapshots() {
        QCOMPARE(state().snapshots().count(), 5);  // steps 0, 10, 20, 30, 40
        QCOMPARE(state().maps()->step, std::int64_t(40));
        scrubber().setValue(0);
        QCOMPARE(state().maps()->step, std::int64_t(0));
        const Eigen::MatrixXd before = *figure<HeatMapView>("head").map().values;
        scrubber().setValue(4);
        QCOMPARE(state().maps()->step, std::int64_t(40));
        QVERIFY(before != *figure<HeatMapView>("head").map().values);
        QCOMPARE(state().maps()->count(), std::size_t(4));
        for (const auto& weights : state().maps()->weights)
            for (Eigen::Index row = 0; row < weights->rows(); ++row)
                QVERIFY(std::abs(weights->row(row).sum() - 1) < 1e-5);
    }

    void playingShowsThemOneAfterTheOther() {
        state().showSnapshot(0);
        QTest::mouseClick(control<QPushButton>("Play"), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(state().snapshots().shown(), 4, 10000);
        QTRY_COMPARE(control<QPushButton>("Play")->text(), QString("Play"));
    }

    void aClickChoosesAHeadAndTheOrderChangesPlaces() {
        HeadsView& view = figure<HeadsView>("heads");
        const QPoint third = view.headRect(1, 0).center().toPoint();
        QTest::mouseClick(&view, Qt::LeftButton, {}, third);
        QCOMPARE(headOf(state()), std::pair(1, 0));
        QVERIFY(figure<HeatMapView>("head").figureCaption().contains("layer 1, head 0"));
        QVERIFY(readoutAt(&view, third).contains("layer 1, head 0: entropy"));
        control<QComboBox>("Order of the heads")->setCurrentIndex(1);
        const std::vector<int> order = view.ordered();
        const auto entropyOf = [&](std::size_t place) {
            return state().maps()->statistics[static_cast<std::size_t>(order[place])].entropy;
        };
        for (std::size_t i = 1; i < order.size(); ++i)
            QVERIFY(entropyOf(i - 1) <= entropyOf(i));
        QTest::mouseClick(&view, Qt::LeftButton, {},
                          view.headRect(order[1] / 2, order[1] % 2).center().toPoint());
        QTest::keyClick(&view, Qt::Key_Left);
        QCOMPARE(headOf(state()), std::pair(order[0] / 2, order[0] % 2));
        control<QComboBox>("Order of the heads")->setCurrentIndex(0);
        state().setHead(1, 1);
        QTest::keyClick(&view, Qt::Key_Left);
        QCOMPARE(headOf(state()), std::pair(1, 0));
    }

    void aTextOfOnesOwnIsReadByTheModel() {
        look("?s='abc'; s[1:]=='");
        QCOMPARE(state().message(), QString());
        QCOMPARE(state().maps()->text, std::string("?s='abc'; s[1:]=='"));
        QCOMPARE(figure<HeatMapView>("head").map().values->rows(), Eigen::Index(18));
        // The model gives the same values as the snapshot for the snapshot's text.
        state().showSnapshot(4);
        const HeadMaps snapshot = *state().maps();
        readMaps(QString::fromStdString(snapshot.text));
        QVERIFY((*state().maps()->weights[3] - *snapshot.weights[3]).cwiseAbs().maxCoeff() < 1e-6);
        readMaps("ABC");
        QVERIFY2(state().message().contains("'A'"), qPrintable(state().message()));
    }

    void theModelContinuesAText() {
        page().showPanel<GenerationPanel>();
        auto* prompt = control<QLineEdit>("Prompt");
        prompt->setText("?s='abc'; s[1:]=='");
        control<QSpinBox>("Tokens to generate")->setValue(9);
        QTest::mouseClick(control<QPushButton>("Generate"), Qt::LeftButton);
        waitForAnswers();
        QVERIFY2(continuation() != nullptr, qPrintable(state().message()));
        const Continuation c = *continuation();
        QCOMPARE(c.generated(), std::size_t(9));
        QCOMPARE(c.prompt_tokens, std::size_t(18));
        for (std::size_t i = 0; i < 9; ++i) {
            QCOMPARE(c.candidates[i].front().text,
                     c.tokens[c.prompt_tokens + i]);  // greedy: the most likely character is generated
            QVERIFY(std::abs(c.candidates[i].front().probability - c.probability[i]) < 1e-6);
        }
        ContinuationView& view = page().panel<GenerationPanel>().continuation();
        QTest::mouseClick(&view, Qt::LeftButton, {}, view.tokenRect(18 + 4).center().toPoint());
        QCOMPARE(view.chosen(), 4);
        const std::vector<double> weights = view.weights();
        QVERIFY(std::abs(std::accumulate(weights.begin(), weights.end(), 0.0) - 1) < 1e-5);
        for (std::size_t j = 18 + 4; j < weights.size(); ++j)
            QCOMPARE(weights[j], 0.0);  // a character is chosen before it can be attended to
        QTest::keyClick(&view, Qt::Key_Right);
        QCOMPARE(view.chosen(), 5);
        control<QComboBox>("Head for the shading")->setCurrentIndex(2);
        QVERIFY(view.figureCaption().contains("layer 0, head 1"));
        control<QDoubleSpinBox>("Temperature")->setValue(3);
        control<QSpinBox>("Sampling seed")->setValue(5);
        QTest::mouseClick(control<QPushButton>("Generate"), Qt::LeftButton);
        waitForAnswers();
        QVERIFY(continuation()->tokens != c.tokens);
    }

    void sizesAreCountedAndCanBeCancelled() {
        page().showPanel<SizesPanel>();
        control<QSpinBox>("Problems of each size")->setValue(2);
        QTest::mouseClick(control<QPushButton>("Solve"), Qt::LeftButton);
        QVERIFY(state().sizes().isCounting());
        QTRY_VERIFY_WITH_TIMEOUT(!state().sizes().isCounting(), 60000);
        QVERIFY2(state().sizes().table().has_value(), qPrintable(state().sizes().message()));
        QCOMPARE(figure<HeatMapView>("solved-by-size").map().values->rows(),
                 Eigen::Index(6));  // strings of 3 to 8 letters
        // No index beyond the end of the string.
        QVERIFY(std::isnan((*figure<HeatMapView>("solved-by-size").map().values)(0, 7)));
        QTest::mouseClick(control<QPushButton>("Solve"), Qt::LeftButton);
        QTest::mouseClick(control<QPushButton>("Solve"), Qt::LeftButton);  // the button now says “Cancel”
        QVERIFY(!state().sizes().isCounting());
    }

    void problemsAreCountedWithAllTheirWorkingToo() {
        auto* with_working = control<QCheckBox>("Fully solved");
        page().showPanel<SizesPanel>();
        QVERIFY(!with_working->isVisible());  // this task has no working
        const QByteArray trainer = qgetenv("ROPER_TRAIN");
        const auto restore = qScopeGuard([&] { qputenv("ROPER_TRAIN", trainer); });
        const QString program = folder_.filePath("answers");
        std::ofstream(program.toStdString()) << "#!/bin/sh\necho '{\"step\": 40, \"names\": [\"a\", \"b\"], "
                                                "\"scores\": [[1, 1, 4, 4, 3], [1, 2, 2, 4, 0]]}'\n";
        QFile(program).setPermissions(QFile::ReadOwner | QFile::ExeOwner);
        qputenv("ROPER_TRAIN", program.toLocal8Bit());
        QTest::mouseClick(control<QPushButton>("Solve"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!state().sizes().isCounting(), 60000);
        QVERIFY(with_working->isVisible());
        const HeatMapView& map = figure<HeatMapView>("solved-by-size");
        QCOMPARE((*map.map().values)(0, 0), 100.0);
        QVERIFY(!map.figureCaption().contains("every step"));
        QTest::mouseClick(with_working, Qt::LeftButton);
        QCOMPARE((*map.map().values)(0, 0), 75.0);
        QCOMPARE((*map.map().values)(0, 1), 0.0);
        QVERIFY(map.figureCaption().contains("every step of the working right"));
        QCOMPARE(map.map().value_name, QString("fully solved, %"));
        for (const QSize size : {QSize(260, 260), QSize(600, 400), QSize(1400, 700)})
            QCOMPARE(labelProblems(map, size), QStringList());
        page().open("twin");
        QVERIFY(!with_working->isVisible());
        with_working->setChecked(false);
    }

    void anOlderCheckpointCanBeAsked() {
        auto* steps = control<QComboBox>("Step of the model");
        QCOMPARE(steps->count(), 3);
        steps->setCurrentIndex(1);
        readMaps("?s='");
        QCOMPARE(state().maps()->step, std::int64_t(20));
        steps->setCurrentIndex(0);
    }

    void whatPositionsHaveLearnedIsDrawnOverTheSteps() {
        page().showPanel<LearnedPanel>();
        QVERIFY(figure<CurveChart>("learned-positions").curves().empty());
        const RunFolder folder(folder_.path().toStdString() + "/without-snapshots");
        std::string rows = headerLine<MethodRow>();
        for (const auto& [step, first, second] : {std::tuple{0, 1.0, 0.1}, {50, 1.25, 0.1}, {100, 1.5, 0.08}})
            for (const auto& [pair, value] : {std::pair{0, first}, {1, second}})
                rows += "\n" + formatRow(MethodRow{step, "query_key_frequency", 1, {}, pair, value});
        writeFileAtomically(folder.pathOf<MethodRow>(), rows + "\n", Durability::process_death);
        page().open("without-snapshots");
        const auto& curves = figure<CurveChart>("learned-positions").curves();
        QCOMPARE(curves.size(), std::size_t(2));
        QCOMPARE(curves[0].x, (QVector<double>{0, 50, 100}));
        QCOMPARE(curves[0].y, (QVector<double>{1, 1.25, 1.5}));
        QVERIFY(std::abs(curves[1].y.back() - 0.8) < 1e-12);
        QCOMPARE(control<QComboBox>("Layer of these numbers")->currentText(), QString("layer 1"));
        // An incomplete or invalid file must not leave old numbers on display.
        writeFileAtomically(folder.pathOf<MethodRow>(), rows + "\nnonsense\n", Durability::process_death);
        page().panel<LearnedPanel>().refreshNow();
        QVERIFY(figure<CurveChart>("learned-positions").curves().empty());
        page().showPanel<SnapshotsPanel>();
    }

    void aRunWithoutSnapshotsSaysWhatToDo() {
        page().open("without-snapshots");
        QVERIFY(!state().maps());
        QVERIFY(!scrubber().isEnabled());
        readMaps("?d=");
        QVERIFY2(state().message().contains("no checkpoint"), qPrintable(state().message()));
    }

    /// Regression: the description of the model became a column of one word a line, with a gap beside it.
    void theDescriptionOfTheModelHasALineOfItsOwn() {
        const QSize before = window_->size();
        window_->resize(window_->minimumSize());
        const auto* models = control<QComboBox>("Model");
        QTRY_VERIFY(window_->size() == window_->minimumSize() &&
                    topOf(*control<QPlainTextEdit>("Text that the model reads")) - topOf(*models) <
                        6 * models->height());
        window_->resize(before);
    }

    void longerProblemsAreAskedFromTheComparePage() {
        QVERIFY(window_->showPage("Compare"));
        ComparePage& compare = window_->comparePage();
        compare.showTab(ComparePage::Tab::lengths);
        QVERIFY(compare.lengths().view().maps().empty());
        QCOMPARE(compare.lengths().largest().value(), 16);  // twice the 8 letters of training
        compare.lengths().largest().setValue(10);
        compare.lengths().refresh();
        QCOMPARE(compare.lengths().largest().value(), 10);  // what the user chose stays
        compare.lengths().problems().setValue(1);
        QTest::mouseClick(&compare.lengths().measureButton(), Qt::LeftButton);
        QCOMPARE(compare.lengths().measureButton().text(), QString("Cancel"));
        QTRY_COMPARE_WITH_TIMEOUT(compare.lengths().measureButton().text(), QString("Measure"), 60000);
        QCOMPARE(compare.lengths().summary().text(), QString());
        const auto& maps = compare.lengths().view().maps();
        QCOMPARE(maps.size(), std::size_t(1));
        QCOMPARE(maps[0].trained, (std::vector<std::int64_t>{8}));
        QCOMPARE(maps[0].lengths, (std::vector<std::int64_t>{3, 4, 5, 6, 7, 8, 9, 10}));
        QCOMPARE(maps[0].panels[0].cells.at({8, 10}).total, std::int64_t(10));
        // With one training length there are bars with values, and no rows to explain.
        QVERIFY(!compare.lengths().view().figureCaption().contains("rows"));
        for (const QSize size : {QSize(330, 240), QSize(600, 400), QSize(1400, 700)})
            QCOMPARE(labelProblems(compare.lengths().view(), size), QStringList());
        checkInputs();
        QVERIFY(window_->showPage("Inspect"));
    }

    void allInputsAreNamedAndExplained() {
        for (int row = 0; row < page().chooser().count(); ++row) {
            page().chooser().setCurrentRow(row);
            checkInputs();
        }
    }

  private:
    int topOf(const QWidget& widget) { return widget.mapTo(&page(), QPoint(0, 0)).y(); }
    InspectPage& page() { return window_->inspectPage(); }
    InspectState& state() { return page().state(); }
    QSlider& scrubber() const { return *control<QSlider>("Step of the snapshot"); }
    InspectState& comparison() { return page().comparisonState(); }
    const Continuation* continuation() { return state().answer(answers::continuation); }
    static std::pair<int, int> headOf(const InspectState& of) { return {of.layer(), of.head()}; }
    void waitForAnswers() {
        QTRY_VERIFY_WITH_TIMEOUT(!state().isAsking() && !comparison().isAsking(), 60000);
    }
    /// Makes the model read a text typed by the user, with all its heads.
    void readMaps(const QString& text) {
        page().readText(text);
        state().readMaps();
        waitForAnswers();
    }
    /// Makes the model read a text typed by the user.
    void look(const QString& text) {
        page().showPanel<SnapshotsPanel>();
        page().readText(text);
        QTest::mouseClick(control<QPushButton>("Show maps of the text above"), Qt::LeftButton);
        waitForAnswers();
    }
};

ROPER_GUI_TEST(InspectRunsTest, "inspect_runs_test")
#include "inspect_runs_test.moc"
