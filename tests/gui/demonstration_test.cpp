#include <QRegularExpression>
#include <QSignalSpy>
#include <csignal>

#include "tests/support/made_runs.h"
#include "tests/support/page_test.h"

using namespace roper;

/// "Watch RoPER learn sooner": one click starts two runs and leads to a sentence and the next steps.
class DemonstrationTest : public PageTest {
    Q_OBJECT

  private slots:
    void initTestCase() { clearSettings("demonstration_test"); }
    void init() { runs_ = std::make_unique<QTemporaryDir>(); }
    void cleanup() {
        for (const RunWatcher* run : window_->runs().runs())
            if (run->isActive() && run->status().pid > 0)
                ::kill(static_cast<pid_t>(run->status().pid), SIGKILL);
        window_.reset();
    }

    void onePressTrainsTwinsAloneInTheCharts() {
        makeFinishedRun(runs(), {"earlier", "rope", 1, 50, 60});
        openWindow("Training", runs());
        QAbstractItemModel& model = *page().runsPanel().tree().model();
        QTRY_COMPARE(model.rowCount(), 1);
        QVERIFY(model.setData(model.index(0, 0), Qt::Checked, Qt::CheckStateRole));
        QTRY_VERIFY(page().metrics().chart(0).hasSeries("earlier"));
        QVERIFY2(card().sentence().startsWith("Trains RoPE and RoPER"), qPrintable(card().sentence()));
        QVERIFY(!card().inspectButton()->isVisible());
        startWith(card().startButton());
        QCOMPARE(model.rowCount(), 2);
        QStringList names;
        for (const RunWatcher* run : window_->runs().runs())
            if (run->name() != "earlier") names << run->name();
        QCOMPARE(names.size(), 2);
        QTRY_VERIFY(!page().metrics().chart(0).hasSeries("earlier"));
        for (const QString& name : names)
            QVERIFY(page().metrics().chart(0).hasSeries(name));
        QTRY_VERIFY(!card().startButton()->isEnabled());
        QTRY_VERIFY2(card().sentence().startsWith("Training: the first evaluation"),
                     qPrintable(card().sentence()));
        for (const QString& name : names)
            QTRY_VERIFY_WITH_TIMEOUT(page().metrics().chart(0).pointCount(name) > 3, 60000);
    }

    void itEndsInASentenceWithWhereToGoOn() {
        makeTwin("rope", 60);
        makeTwin("roper", 128);
        window_ = std::make_unique<MainWindow>(runs(), QueueLauncher::WorkerMode::no_worker);
        window_->show();
        QVERIFY(window_->showPage("Training"));
        QTRY_COMPARE(card().sentence(),
                     QString("RoPER solved 90 % by step 600 here. RoPE never did: 60 of 128 are solved at "
                             "step 600."));
        QVERIFY(card().startButton()->isEnabled());
        QTRY_VERIFY(card().inspectButton()->isVisible());
        QVERIFY2(
            QRegularExpression("^More seeds \\(.+\\)$").match(card().moreSeedsButton()->text()).hasMatch(),
            qPrintable(card().moreSeedsButton()->text()));
        for (const QSize& size : {QSize(1400, 900), QSize(1000, 640), QSize(900, 560)}) {
            window_->resize(size);
            QTest::qWait(50);
            for (const QLabel* text : card().findChildren<QLabel*>())
                QVERIFY2(text->height() >= text->heightForWidth(text->width()), qPrintable(text->text()));
            const auto* tabs = card().parentWidget()->findChild<QTabWidget*>();
            QVERIFY(tabs->mapTo(card().parentWidget(), QPoint()).y() >= card().geometry().bottom());
        }
        QSignalSpy inspected(&page(), &TrainingPage::inspectRequested);
        QTest::mouseClick(card().inspectButton(), Qt::LeftButton);
        QCOMPARE(inspected.first().first().toString(), QString("demo-roper"));
        window_->showPage("Training");
        QTest::mouseClick(card().compareButton(), Qt::LeftButton);
        QCOMPARE(window_->currentPage(), &window_->comparePage());
        window_->showPage("Training");
        startWith(card().moreSeedsButton());
        // Seed 0 exists; the others wait.
        QTRY_COMPARE(window_->queue().queue().entries.size(), std::size_t(2 * (kMinPairs - 1)));
    }

    /// The second demonstration has its own preset, text and state.
    void theChosenDemonstrationIsShownAndTrained() {
        makeTwin("rope", 60);
        makeTwin("roper", 128);
        openWindow("Training", runs());
        QTRY_VERIFY(card().sentence().startsWith("RoPER solved 90 %"));
        card().chooser()->setCurrentIndex(1);
        QVERIFY2(card().sentence().startsWith("One vector is key and value"), qPrintable(card().sentence()));
        QVERIFY(!card().inspectButton()->isVisible());
        QSignalSpy started(&card(), &DemonstrationCard::startRequested);
        startWith(card().startButton());
        const auto specification = started.first().first().value<Specification>();
        QVERIFY(specification.model.shared_kv);
        QCOMPARE(specification.about.title, loadPreset("shared-quick").specification.about.title);
        QTRY_COMPARE(window_->runs().runs().size(), std::size_t(4));
        card().chooser()->setCurrentIndex(0);
        QTRY_VERIFY(card().sentence().startsWith("RoPER solved 90 %"));
    }

    void otherSettingsOfTheSameTaskAreNotTheDemonstration() {
        makeTwin("rope", 60);
        makeTwin("roper", 128, [](Specification& s) { s.model.width *= 2; });
        openWindow("Training", runs());
        QTRY_COMPARE(window_->runs().runs().size(), std::size_t(2));
        QVERIFY2(card().sentence().startsWith("Trains RoPE and RoPER"), qPrintable(card().sentence()));
    }

  private:
    std::filesystem::path runs() const { return runs_->path().toStdString(); }
    TrainingPage& page() { return window_->trainingPage(); }
    DemonstrationCard& card() { return page().demonstration(); }

    void makeTwin(const std::string& position, std::int64_t correct,
                  const std::function<void(Specification&)>& change = {}) {
        makeFinishedRun(runs(), {"demo-" + position, position, 0, correct, 600}, [&](Specification& s) {
            s = withPosition(loadPreset("copy-quick").specification, position);
            if (change) change(s);
        });
    }

    std::unique_ptr<QTemporaryDir> runs_;
};

ROPER_GUI_TEST(DemonstrationTest, "demonstration_test")
#include "demonstration_test.moc"
