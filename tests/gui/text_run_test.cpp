#include <QProcess>
#include <QToolButton>

#include "tests/support/page_test.h"
#include "ui/pages/training/run_output_views.h"
#include "ui/theme/theme.h"

using namespace roper;

/// Every page with two runs on a text, whose tokens have several characters: one run generates, one predicts
/// masked tokens.
class TextRunTest : public PageTest {
    Q_OBJECT

  private slots:
    void initTestCase() {
        clearSettings("text_run_test");
        const QString trainer = QString::fromLocal8Bit(qgetenv("ROPER_TRAIN"));
        qputenv("PATH", QFileInfo(trainer).absolutePath().toLocal8Bit() + ":" + qgetenv("PATH"));
        qputenv("XDG_CACHE_HOME", folder_.filePath("cache").toLocal8Bit());
        for (const auto& [preset, name] : {std::pair{"text-quick", "causal"}, {"roformer-quick", "masked"}}) {
            QProcess process;
            QStringList arguments{"run", preset, "--runs", runs(), "--name", name, "--threads", "1", "-q"};
            for (const char* setting :
                 {"task.vocab_size=400", "model.width=32", "model.layers=2", "model.heads=2",
                  "model.feed_forward=32", "training.steps=30", "training.warmup_steps=4",
                  "training.length=24", "training.batch=4", "snapshots.every=15", "snapshots.tokens=20",
                  "evaluation.every=15", "evaluation.problems=4"})
                arguments << "--set" << setting;
            process.start(trainer, arguments);
            QVERIFY(process.waitForFinished(120000));
            QVERIFY2(process.exitCode() == 0, process.readAllStandardError());
        }
        window_ = std::make_unique<MainWindow>(runs().toStdString());
        window_->show();
        QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
        QTRY_COMPARE(window_->runs().runs().size(), std::size_t(2));
        QTRY_VERIFY(!run("masked").samples().empty() && !run("causal").samples().empty());
    }

    void samplesAreNeitherRightNorWrong() {
        const Sample& sample = run("causal").samples().front();
        QVERIFY(!sample.correct);
        const QString html = SamplesView::sampleHtml(sample, false);
        QVERIFY(!html.contains(QStringLiteral("✓")) && !html.contains(QStringLiteral("✗")));
        QVERIFY(html.contains("original:"));
        QVERIFY(QString::fromStdString(run("masked").samples().front().prompt).contains("[MASK]"));
    }

    void aRightResultAfterWrongWorkingIsSaidToBe() {
        Sample sample{1,  "?d=1+2;", " 1e0+2e0+0e0==3e0 and d==3#", " 1e0+2e0+0e0==4e0 and d==3#", true,
                      {}, false};
        QVERIFY(SamplesView::sampleHtml(sample, false).contains("the result is right, the working is not"));
        QVERIFY(SamplesView::sampleHtml(sample, false).contains("✓"));
        sample.fully_correct = true;
        QVERIFY(!SamplesView::sampleHtml(sample, false).contains("the working is not"));
        sample.fully_correct.reset();  // as for a task without working, and in older versions
        QVERIFY(!SamplesView::sampleHtml(sample, false).contains("the working is not"));
    }

    // Regression: samples kept the dark colors of the light theme on a dark background.
    void samplesFollowLightAndDark() {
        const Sample sample{1, "?d=1+2;", " d==3#", " d==3#", true, {}, true};
        SamplesView view(nullptr);
        view.setPalette(fixedPalette(false));
        view.show("run", {sample});
        auto* text = view.findChild<QTextBrowser*>();
        const QString light = text->toHtml();
        view.setPalette(fixedPalette(true));
        const auto color = [](const QString& html) {
            return QRegularExpression("color:(#[0-9a-f]{6})").match(html).captured(1);
        };
        QCOMPARE(color(light), color(SamplesView::sampleHtml(sample, false)));
        QCOMPARE(color(text->toHtml()), color(SamplesView::sampleHtml(sample, true)));
        QVERIFY(color(text->toHtml()) != color(light));
    }

    void predictedTokensAreMarkedInAMaskedSample() {
        const Sample& sample = run("masked").samples().front();
        const auto tokens = sample.predicted.size() / 3;
        QVERIFY(tokens >= static_cast<std::size_t>(QString::fromStdString(sample.prompt).count("[MASK]")));
        const QString html = SamplesView::sampleHtml(sample, false);
        QCOMPARE(html.count("#00785a") + html.count("#c2410c"), static_cast<qsizetype>(tokens));
        Sample made{1, "x[MASK]z", "xyz", "xaz", {}, {0, 1, 1, 1, 1, 0}};
        const QString own = SamplesView::sampleHtml(made, false);
        QVERIFY2(
            own.contains(
                "<span style='color:#00785a'>x</span><span style='color:#c2410c;text-decoration:underline'>"
                "a</span>z"),
            qPrintable(own));
        made.predicted = {0, 9, 1};  // beyond the end: nothing is marked, everything is shown
        QVERIFY(SamplesView::sampleHtml(made, false).contains("<br>xaz<br>"));
        made.predicted = {-1, 1, 1, 0, -5, 1};
        QVERIFY(SamplesView::sampleHtml(made, false).contains("<br>xaz<br>"));
    }

    void theLossIsShownBesideTheUnigramEntropy() {
        QVERIFY(window_->showPage("Training"));
        MetricChart& chart = window_->trainingPage().metrics().chart(0);
        window_->trainingPage().runsPanel().select("causal");
        QTRY_COMPARE(chart.pointCount("causal"), std::size_t(30));
        chart.redrawNow();
        QSignalSpy hovered(&chart, &MetricChart::hovered);
        const QPointF at(chart.plot().xAxis->coordToPixel(15), chart.plot().axisRect()->center().y());
        QMouseEvent move(QEvent::MouseMove, at, chart.plot().mapToGlobal(at), Qt::NoButton, Qt::NoButton, {});
        QApplication::sendEvent(&chart.plot(), &move);
        QVERIFY(!hovered.isEmpty());
        QVERIFY2(hovered.last()[0].toString().contains("unigram entropy"),
                 qPrintable(hovered.last()[0].toString()));
        QTRY_COMPARE(window_->trainingPage().metrics().chart(1).pointCount("causal"), std::size_t(2));
    }

    void theFormGreysWhatATextDoesNotRead() {
        SpecificationForm& form = window_->trainingPage().form();
        form.setSpecification(*run("masked").specification());
        const auto editor = [&](const char* key) { return form.findChild<QWidget*>(key); };
        QVERIFY(editor("task.text")->isEnabled());
        QVERIFY(editor("training.masked_share")->isEnabled());
        QVERIFY(!editor("task.digits_max")->isEnabled());
        QVERIFY(!editor("evaluation.temperature")->isEnabled());
        const auto buttons = editor("task.text")->parentWidget()->findChildren<QToolButton*>();
        QCOMPARE(buttons.size(), 2);  // for a file and a folder
        QVERIFY(buttons.front()->isEnabled());
        form.setSpecification({});
        QVERIFY(!editor("task.text")->isEnabled());
        QVERIFY(!editor("training.objective")->isEnabled());
        QVERIFY(!buttons.front()->isEnabled());
    }

    void inspectReadsTokens() {
        QVERIFY(window_->showPage("Inspect"));
        InspectState& state = window_->inspectPage().state();
        window_->inspectPage().open("causal");
        QVERIFY(state.maps() != nullptr);
        QCOMPARE(state.maps()->weights.front()->rows(), Eigen::Index(20));
        window_->inspectPage().readText("The Rays of Light");
        state.readMaps();
        QTRY_VERIFY_WITH_TIMEOUT(!state.isAsking(), 60000);
        QCOMPARE(state.message(), QString());
        QCOMPARE(static_cast<std::size_t>(state.maps()->weights.front()->rows()),
                 state.maps()->tokens.size());
        QVERIFY(state.maps()->tokens.size() < 17);  // some tokens have several letters
        std::string whole;
        for (const std::string& token : state.maps()->tokens)
            whole += token;
        QCOMPARE(whole, std::string("The Rays of Light"));
        window_->inspectPage().showPanel<GenerationPanel>();
        auto* prompt = control<QLineEdit>("Prompt");
        QVERIFY(!prompt->text().isEmpty());  // the beginning of a sample
        control<QSpinBox>("Tokens to generate")->setValue(5);
        QTest::mouseClick(control<QPushButton>("Generate"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!state.isAsking(), 60000);
        const Continuation* continuation = state.answer(answers::continuation);
        QVERIFY2(continuation != nullptr, qPrintable(state.message()));
        QCOMPARE(continuation->generated(), std::size_t(5));
    }

    void aMaskedModelLooksBothWaysAndCannotGenerate() {
        QVERIFY(window_->showPage("Inspect"));
        window_->inspectPage().showPanel<GenerationPanel>();
        InspectState& state = window_->inspectPage().state();
        window_->inspectPage().open("masked");
        QVERIFY(state.maps() != nullptr);
        QVERIFY((*state.maps()->weights.front())(0, 19) > 0);
        window_->inspectPage().showPanel<SnapshotsPanel>();
        QVERIFY(figure<HeatMapView>("head").map().lower_triangle_only == false);
        QVERIFY(figure<HeatMapView>("head").figureCsv().contains("0,19,"));
        window_->inspectPage().showPanel<GenerationPanel>();
        QVERIFY(!control<QPushButton>("Generate")->isEnabled());
        QVERIFY(control<QPushButton>("Generate")->toolTip().contains("cannot generate"));
        window_->inspectPage().showPanel<SnapshotsPanel>();
        AttentionState& attention = window_->attentionState();
        QVERIFY(window_->showPage("Attention"));
        attention.useRun("masked");
        QTRY_VERIFY_WITH_TIMEOUT(attention.isReady(), 60000);
        QVERIFY(!setup().causal);
        attention.useRun("causal");
        QTRY_VERIFY_WITH_TIMEOUT(attention.isReady() && setup().run == "causal", 60000);
        QTRY_VERIFY_WITH_TIMEOUT(setup().causal, 60000);
    }

    void longerTextsAreMeasuredFromTheComparePage() {
        QVERIFY(window_->showPage("Compare"));
        ComparePage& compare = window_->comparePage();
        compare.showTab(ComparePage::Tab::lengths);
        LengthTab& tab = compare.lengths();
        QTest::mouseClick(&tab.measureButton(), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(tab.measureButton().text(), QString("Measure"), 120000);
        QCOMPARE(tab.summary().text(), QString());
        QCOMPARE(tab.view().maps().size(), std::size_t(2));  // causal and masked
        const LengthMap shares = tab.view().maps().front();
        QCOMPARE(shares.metric, LengthMap::Metric::token_accuracy);
        QCOMPARE(shares.lengths, (std::vector<std::int64_t>{24, 48, 96, 192}));
        QCOMPARE(shares.panels.size(), std::size_t(1));
        QVERIFY(tab.view().figureCaption().contains("Token accuracy"));
        tab.what().setCurrentIndex(1);
        QCOMPARE(tab.view().figureName(), QString("loss-by-position"));
        QCOMPARE(tab.view().maps().size(), std::size_t(1));
        const LengthMap losses = tab.view().maps().front();
        QCOMPARE(losses.metric, LengthMap::Metric::loss);
        QCOMPARE(losses.trained, (std::vector<std::int64_t>{23}));
        QCOMPARE(losses.lengths.back(), std::int64_t(64));
        QCOMPARE(losses.panels.size(), std::size_t(1));  // a masked model has no such loss
        const QRectF cell = tab.view().cellRect(0, 0, 23, 4);
        const QString said = readoutAt(&tab.view(), cell.center().toPoint());
        QVERIFY2(said.contains("positions 2 to 3") && said.contains("nats"), qPrintable(said));
        checkInputs();
    }

  private:
    QString runs() const { return folder_.filePath("runs"); }
    const RunWatcher& run(const char* name) const { return *window_->runs().find(name); }
};

ROPER_GUI_TEST(TextRunTest, "text_run_test")
#include "text_run_test.moc"
