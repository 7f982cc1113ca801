#include <QCheckBox>
#include <QLabel>

#include "tests/support/label_problems.h"
#include "tests/support/made_runs.h"
#include "tests/support/page_test.h"
#include "ui/charts/drawing.h"

using namespace roper;

/// The charts of the Training page: one to four of them, for any recorded quantity, with a shared zoom.
class MetricPanelTest : public PageTest {
    Q_OBJECT

  private slots:
    void initTestCase() { clearSettings("metric_panel_test"); }

    void init() {
        QSettings().clear();
        runs_ = std::make_unique<QTemporaryDir>();
        makeFinishedRun(runs(), {"a", "rope", 0});
        const RunFolder linear = makeFinishedRun(
            runs(), {"b", "roper", 1}, [](Specification& s) { s.model.attention = "linear_cosine"; });
        std::vector<MethodRow> rows;
        for (const std::int64_t step : {50, 100})
            for (const std::int64_t head : {0, 1})
                rows.push_back({step, "least_denominator", 0, head, {}, 0.1 * double(step) + double(head)});
        writeFileAtomically(linear.pathOf<MethodRow>(), formatRows(rows), Durability::process_death);
        for (const char* name : {"a", "b"})
            writeLabels(RunFolder(runs() / name), {"both", {}, {}});
        openWindow("Training", runs());
        QTRY_COMPARE(panel().chart(0).pointCount("a"), std::size_t(100));  // read in parts
        QTRY_COMPARE(panel().chart(0).pointCount("b"), std::size_t(100));
    }
    void cleanup() { window_.reset(); }

    /// The legend of the lowest chart serves all only if it contains the curves of all.
    void aChartWhoseCurvesTheLowestLacksHasItsOwnLegend() {
        for (const char* experiment : {"x", "y", "z"})
            for (const char* method : {"rope", "roper"}) {
                const RunFolder run = makeFinishedRun(runs(), {std::string(experiment) + method, method, 2});
                writeLabels(run, {experiment, {}, {}});
                std::filesystem::remove(run.path() / "evaluations.csv");  // not evaluated yet
            }
        window_->runs().refresh();
        window_->runs().readAll();
        window_->trainingPage().runsPanel().model().setTicked(window_->runs().runs(), true);
        QTRY_COMPARE(panel().chart(0).pointCount("zroper"), std::size_t(100));
        MetricChart& loss = panel().chart(0);
        const MetricChart& lowest = panel().chart(panel().count() - 1);
        QVERIFY(!lowest.legendContains(loss));
        QVERIFY(loss.isLegendShown());
        // If the lowest chart shows a quantity that every run has, one legend is enough.
        panel().setQuantity(panel().count() - 1, Quantity::gradient_norm);
        QTRY_VERIFY(lowest.legendContains(loss));
        QVERIFY(!loss.isLegendShown() && lowest.isLegendShown());
        // A reference line is named in the chart that shows it.
        loss.setReference("zroper", 0.15, "lower bound");
        loss.redrawNow();
        QCPLegend& legend = *loss.plot().legend;
        QVERIFY(legend.visible());
        QCOMPARE(legend.itemCount(), 1);
        QCOMPARE(dynamic_cast<QCPPlottableLegendItem*>(legend.item(0))->plottable()->name(),
                 QString("lower bound"));
    }

    /// A curve keeps its dash pattern and its letter when others are added or removed.
    void curvesKeepTheirDashesAndLetters() {
        CurveStyles looks;
        const auto of = [&](const QStringList& experiments) {
            QList<CurveStyles::Run> runs;
            for (const QString& experiment : experiments)
                for (const int place : {0, 1}) {
                    const QString group = place == 0 ? "RoPE" : "RoPER";
                    runs << CurveStyles::Run{experiment + group, experiment, experiment, group,
                                             group + ", seed 0", place,      Qt::red};
                }
            return looks.of(runs);
        };
        auto all = of({"a"});
        QCOMPARE(all["aRoPER"].label, QString("RoPER"));
        QCOMPARE(all["aRoPER"].marker, 1);
        QCOMPARE(all["aRoPER"].letter_label, QString());
        all = of({"b", "a"});  // another one is selected
        QCOMPARE(all["aRoPE"].dash, 0);
        QCOMPARE(all["bRoPE"].dash, 1);
        QCOMPARE(all["bRoPER"].label, QString("b: RoPER"));
        QCOMPARE(of({"c", "b"})["bRoPE"].dash, 1);
        QCOMPARE(of({"b"})["bRoPE"].dash, 0);
        const QStringList ten = QString("a b c d e f g h i j").split(' ');
        all = of(ten);
        QSet<QString> letters;
        for (const MetricChart::CurveStyle& style : all)
            letters.insert(style.letter_label);
        QCOMPARE(letters.size(), 20);
        QVERIFY(!letters.contains(QString()));
        QCOMPARE(all["jRoPE"].dash, 0);  // the method's dash pattern
        QCOMPARE(all["jRoPER"].dash, 1);
        const QString of_j = all["jRoPER"].letter_label;
        QCOMPARE(of(QString("d e j").split(' '))["jRoPER"].letter_label, of_j);
        // Two curves alone have no letters, and different dash patterns whatever numbers they had among ten.
        for (const QString& other : ten) {
            if (other == "a") continue;
            of(ten);
            all = of({"a", other});
            QCOMPARE(all["aRoPE"].letter_label, QString());
            QVERIFY(dashOf(all["aRoPE"].dash) != dashOf(all[other + "RoPE"].dash));
        }
    }

    void everythingThatRunsRecordCanBeShown() {
        const std::map<Quantity, double> at_the_end = {
            {Quantity::training_loss, 0.3},        {Quantity::correct, 100 * 100 / 128.0},
            {Quantity::evaluation_loss, 0.5},      {Quantity::accuracy, 100 * 100 / 128.0},
            {Quantity::perplexity, std::exp(0.5)}, {Quantity::gradient_norm, 1.04},
            {Quantity::learning_rate, 1e-3},       {Quantity::tokens_per_second, 20480}};
        for (const auto& [quantity, value] : at_the_end) {
            choose(1, quantity == Quantity::training_loss ? Quantity::gradient_norm : quantity);
            choose(0, quantity);
            MetricChart& chart = panel().chart(0);
            const bool every_step = bool(infoOf(quantity).from_metrics);
            QCOMPARE(chart.pointCount("a"), std::size_t(every_step ? 100 : 2));
            const QStringList lines =
                chart.figureCsv().split('\n').filter(QRegularExpression("^\"?a\"?,100,"));
            QCOMPARE(lines.size(), 1);
            QVERIFY2(std::abs(lines[0].section(',', 4, 4).toDouble() - value) < 1e-9, qPrintable(lines[0]));
            QCOMPARE(chart.figureName(), QuantityChart::figureNameOf(quantity));
            QVERIFY(chart.figureCaption().contains(QString::fromStdString(infoOf(quantity).title),
                                                   Qt::CaseInsensitive) ||
                    quantity == Quantity::training_loss);
        }
    }

    void theLeastDenominatorIsThatOfAllHeads() {
        choose(0, Quantity::min_denominator);
        QCOMPARE(panel().chart(0).pointCount("a"), std::size_t(0));
        QCOMPARE(panel().chart(0).pointCount("b"), std::size_t(2));
        const QString csv = panel().chart(0).figureCsv();
        QVERIFY2(csv.contains("b,50,5,") && csv.contains("b,100,10,"), qPrintable(csv));
    }

    void aQuantityIsShownOnce() {
        choose(0, Quantity::accuracy);
        QCOMPARE(panel().at(0).quantity(), Quantity::accuracy);
        QCOMPARE(panel().at(1).quantity(), Quantity::training_loss);
        QCOMPARE(panel().chart(1).pointCount("a"), std::size_t(100));
        for (const auto* each : panel().at(0).findChildren<QToolButton*>())
            if (each->accessibleName() == "Logarithmic y axis") QVERIFY(!each->isEnabled());
    }

    void chartsAreAddedAndClosed() {
        auto* add = button("Add chart");
        while (add->isEnabled())
            QTest::mouseClick(add, Qt::LeftButton);
        QCOMPARE(panel().count(), MetricPanel::kMaxCharts);
        QCOMPARE(panel().chart(3).pointCount("b"), std::size_t(100));
        QCOMPARE(panel().figures().size(), std::size_t(4));
        std::set<QString> names;
        for (const Figure* figure : panel().figures())
            names.insert(figure->figureName());
        QCOMPARE(names.size(), std::size_t(4));
        // Even with all charts, the smallest window fits into 1000 × 640.
        window_->resize(window_->minimumSizeHint());
        QVERIFY2(window_->minimumSizeHint().height() <= 640 && window_->minimumSizeHint().width() <= 1000,
                 qPrintable(QString("%1 × %2")
                                .arg(window_->minimumSizeHint().width())
                                .arg(window_->minimumSizeHint().height())));
        while (panel().count() > 1)
            QTest::mouseClick(closeButton(0), Qt::LeftButton);
        QVERIFY(!closeButton(0)->isVisible());
        QVERIFY(add->isEnabled());
    }

    void zoomingOneZoomsAllAlongX() {
        QTest::mouseClick(button("Add chart"), Qt::LeftButton);
        MetricChart& first = shown(0);
        const QRect inside = first.plot().axisRect()->rect();
        drag(first, inside.topLeft() + QPoint(inside.width() / 4, 20),
             inside.topLeft() + QPoint(inside.width() / 2, 60));
        const QCPRange range = first.plot().xAxis->range();
        QVERIFY2(std::abs(range.lower - 25) < 3 && std::abs(range.upper - 50) < 3,
                 qPrintable(QString("%1 to %2").arg(range.lower).arg(range.upper)));
        QVERIFY(!first.isAutoscaled());
        for (int place = 1; place < panel().count(); ++place) {
            QCOMPARE(panel().chart(place).plot().xAxis->range().lower, range.lower);
            QCOMPARE(panel().chart(place).plot().xAxis->range().upper, range.upper);
        }
        // The other charts show all values of this interval, in which the gradient norm is between 1.08 and
        // 1.16.
        const QCPRange norm = panel().chart(2).plot().yAxis->range();
        QVERIFY2(norm.lower > 1.05 && norm.upper < 1.2,
                 qPrintable(QString("%1 to %2").arg(norm.lower).arg(norm.upper)));
        QTest::mouseDClick(&first.plot(), Qt::LeftButton, {}, inside.center());
        for (int place = 0; place < panel().count(); ++place) {
            QVERIFY(panel().chart(place).isAutoscaled());
            panel().chart(place).redrawNow();
            QVERIFY(panel().chart(place).plot().xAxis->range().contains(99));
        }
    }

    // Evaluations start later than steps. Regression: in charts above each other, the same x was at two
    // positions.
    void chartsThatFollowShareTheirStretch() {
        for (int place : {0, 1}) {
            const QCPRange range = shown(place).plot().xAxis->range();
            QCOMPARE(range.lower, 1.0);
            QCOMPARE(range.upper, 100.0);
        }
        auto metrics = RunFolder(runs() / "a").metrics();
        metrics.push_back(metrics.back());
        metrics.back().step = 150;
        writeFileAtomically(RunFolder(runs() / "a").metricsPath(), formatRows(metrics),
                            Durability::process_death);
        window_->runs().find("a")->poll();
        QTRY_COMPARE(panel().chart(0).pointCount("a"), std::size_t(101));
        QTRY_COMPARE(panel().chart(1).plot().xAxis->range().upper, 150.0);
    }

    // Whatever is done to one chart while all are zoomed, all show the same range of x.
    void allStayZoomedTogether() {
        MetricChart& first = shown(0);
        const QRect inside = first.plot().axisRect()->rect();
        drag(first, inside.topLeft() + QPoint(inside.width() / 4, 20),
             inside.topLeft() + QPoint(inside.width() / 2, 90));
        const QCPRange range = first.plot().xAxis->range();
        const auto all_show_it = [&] {
            for (int place = 0; place < panel().count(); ++place) {
                panel().chart(place).redrawNow();
                const QCPRange shown = panel().chart(place).plot().xAxis->range();
                if (shown.lower != range.lower || shown.upper != range.upper) return false;
            }
            return true;
        };
        QVERIFY(all_show_it());
        choose(1, Quantity::gradient_norm);
        QVERIFY(all_show_it());
        QTest::mouseClick(button("Add chart"), Qt::LeftButton);
        QVERIFY(all_show_it());
        panel().at(1).setLogY(true);
        QVERIFY(all_show_it());
        QTest::mouseClick(closeButton(2), Qt::LeftButton);
        QVERIFY(all_show_it());
        QTest::mouseClick(button("Reset zoom"), Qt::LeftButton);
        panel().chart(0).redrawNow();
        QCOMPARE(panel().chart(0).plot().xAxis->range().upper, 100.0);
    }

    void aTallBoxZoomsAlongYAlone() {
        MetricChart& chart = shown(0);
        const QRect inside = chart.plot().axisRect()->rect();
        const double height = chart.plot().yAxis->range().size();
        drag(chart, inside.center() - QPoint(3, inside.height() / 4),
             inside.center() + QPoint(3, inside.height() / 4));
        QVERIFY(chart.plot().yAxis->range().size() < 0.6 * height);
        QCOMPARE(chart.plot().xAxis->range().upper, 100.0);
        // Along x it still follows new points.
        auto metrics = RunFolder(runs() / "a").metrics();
        metrics.push_back(metrics.back());
        metrics.back().step = 130;
        writeFileAtomically(RunFolder(runs() / "a").metricsPath(), formatRows(metrics),
                            Durability::process_death);
        window_->runs().find("a")->poll();
        QTRY_COMPARE(chart.plot().xAxis->range().upper, 130.0);
        QVERIFY(chart.plot().yAxis->range().size() < 0.6 * height);
    }

    void aFlatBoxZoomsAlongXAlone() {
        MetricChart& chart = shown(0);
        const QRect inside = chart.plot().axisRect()->rect();
        drag(chart, inside.center() - QPoint(inside.width() / 4, 2),
             inside.center() + QPoint(inside.width() / 4, 2));
        QVERIFY(chart.plot().xAxis->range().size() < 60);
        // All values of steps 26 to 75 are visible: about 0.35 to 0.6.
        QVERIFY2(chart.plot().yAxis->range().lower > 0.2 && chart.plot().yAxis->range().upper < 0.8,
                 qPrintable(QString::number(chart.plot().yAxis->range().upper)));
        QVERIFY(chart.plot().yAxis->range().size() > 0.15);
    }

    void draggingWithShiftMoves() {
        MetricChart& chart = shown(0);
        const double width = chart.plot().xAxis->range().size();
        const QRect inside = chart.plot().axisRect()->rect();
        drag(chart, inside.center(), inside.center() - QPoint(inside.width() / 3, 0), Qt::ShiftModifier);
        const QCPRange range = chart.plot().xAxis->range();
        QVERIFY2(std::abs(range.size() - width) < 1e-6 * width, qPrintable(QString::number(range.size())));
        QVERIFY(range.lower > 25);
        QCOMPARE(panel().chart(1).plot().xAxis->range().lower, range.lower);
        QTest::mouseClick(button("Reset zoom"), Qt::LeftButton);
        for (int place = 0; place < panel().count(); ++place)
            QVERIFY(panel().chart(place).isAutoscaled());
    }

    void whatIsHiddenIsHiddenEverywhere() {
        MetricChart& first = shown(0);
        const QPoint at = first.plot().legend->item(0)->rect().center();
        QTest::mouseClick(&first.plot(), Qt::LeftButton, {}, at);
        QVERIFY(!first.isCurveVisible("a") && first.isCurveVisible("b"));
        QVERIFY(!panel().chart(1).isCurveVisible("a"));
        choose(1, Quantity::tokens_per_second);
        QVERIFY(!panel().chart(1).isCurveVisible("a") && panel().chart(1).isCurveVisible("b"));
    }

    void smoothingSaysItsNumberAndIsOfStepsAlone() {
        auto* slider = control<QSlider>("Smoothing");
        slider->setValue(4);
        bool said = false;
        for (const QLabel* label : panel().findChildren<QLabel*>())
            said = said || label->text() == "mean of 25";
        QVERIFY(said);
        QVERIFY(panel().chart(0).figureCaption().contains("mean of the 25 values"));
        QVERIFY(!panel().chart(1).figureCaption().contains("mean of"));
        choose(1, Quantity::gradient_norm);
        QVERIFY(panel().chart(1).figureCaption().contains("mean of the 25 values"));
    }

    void theMenuOfAChartChangesIt() {
        MetricChart& chart = shown(0);
        chooseInMenu(chart.plot(), {"Show", "learning rate"});
        QCOMPARE(panel().at(0).quantity(), Quantity::learning_rate);
        chooseInMenu(chart.plot(), {"Logarithmic y axis"});
        QVERIFY(chart.plot().yAxis->scaleType() == QCPAxis::stLogarithmic);
        QVERIFY(panel().at(0).isLogY());
        chooseInMenu(chart.plot(), {"Add a chart"});
        QCOMPARE(panel().count(), 3);
        chooseInMenu(chart.plot(), {"Close this chart"});
        QCOMPARE(panel().count(), 2);
        QCOMPARE(panel().at(0).quantity(), Quantity::accuracy);
    }

    // Regression: the plot consumed the click, and no menu opened.
    void aRightClickOnThePlotOpensTheMenu() {
        MetricChart& chart = shown(0);
        bool opened = false;
        QTimer::singleShot(300, this, [&] {
            QWidget* popup = QApplication::activePopupWidget();
            opened = qobject_cast<QMenu*>(popup) != nullptr;
            if (popup != nullptr) popup->close();
        });
        const QPoint at = chart.plot().mapTo(window_.get(), chart.plot().rect().center());
        QTest::mouseClick(window_->windowHandle(), Qt::RightButton, {}, at);
        QTRY_VERIFY_WITH_TIMEOUT(opened, 3000);
    }

    void aBoxWithoutAValueShowsAllOfItsStretch() {
        MetricChart& chart = shown(0);
        const QRect inside = chart.plot().axisRect()->rect();
        // Below the curve, which is high at the left.
        drag(chart, inside.bottomLeft() + QPoint(8, -inside.height() / 8),
             inside.bottomLeft() + QPoint(inside.width() / 10, -4));
        const QCPRange ys = chart.plot().yAxis->range();
        QVERIFY2(chart.plot().xAxis->range().upper < 30 && ys.contains(1),
                 qPrintable(QString("%1 to %2").arg(ys.lower).arg(ys.upper)));
    }

    void theArrangementIsThereAgainAfterARestart() {
        panel().arrange("gradient_norm-log,accuracy,nonsense,perplexity,accuracy");
        QCOMPARE(panel().arrangement(), std::string("gradient_norm-log,accuracy,perplexity"));
        window_->close();
        window_.reset();
        openWindow("Training", runs());
        QCOMPARE(panel().arrangement(), std::string("gradient_norm-log,accuracy,perplexity"));
        QTRY_COMPARE(panel().chart(0).pointCount("a"), std::size_t(100));
        panel().arrange("nonsense");
        QCOMPARE(panel().count(), 3);
    }

    void rowsThatComeAreDrawnInAll() {
        panel().arrange("training_loss,accuracy,learning_rate,perplexity");
        const RunFolder folder(runs() / "a");
        auto metrics = folder.metrics();
        metrics.push_back(metrics.back());
        metrics.back().step = 101;
        writeFileAtomically(folder.metricsPath(), formatRows(metrics), Durability::process_death);
        auto evaluations = folder.evaluations();
        evaluations.push_back(evaluations.back());
        evaluations.back().step = 101;
        writeFileAtomically(folder.pathOf<EvaluationRow>(), formatRows(evaluations),
                            Durability::process_death);
        window_->runs().refresh();
        window_->runs().find("a")->poll();
        for (const auto& [place, points] : {std::pair{0, 101}, {1, 3}, {2, 101}, {3, 3}})
            QTRY_COMPARE(panel().chart(place).pointCount("a"), std::size_t(points));
    }

    void noLabelIsCutOrLaidOverAnother() {
        QStringList wrong;
        for (const QuantityInfo& info : quantities()) {
            choose(0, info.quantity);
            for (const QSize& size : {QSize(330, 220), QSize(560, 300), QSize(1280, 600)}) {
                panel().chart(0).resize(size);
                panel().chart(0).redrawNow();
                wrong += labelProblems(panel().chart(0), size);
            }
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join('\n')));
        checkInputs();
    }

  private:
    std::filesystem::path runs() const { return runs_->path().toStdString(); }
    MetricPanel& panel() { return window_->trainingPage().metrics(); }

    /// The chart, redrawn.
    MetricChart& shown(int place) {
        MetricChart& chart = panel().chart(place);
        chart.redrawNow();
        QTest::qWait(60);
        return chart;
    }

    QPushButton* button(const QString& text) {
        for (auto* each : panel().findChildren<QPushButton*>())
            if (each->text() == text) return each;
        qFatal("there is no button %s", qPrintable(text));
    }

    QToolButton* closeButton(int place) {
        for (auto* each : panel().at(place).findChildren<QToolButton*>())
            if (each->accessibleName() == "Close this chart") return each;
        qFatal("a chart has no button that closes it");
    }

    /// Chooses a quantity like a user, in the box above the chart.
    void choose(int place, Quantity quantity) {
        for (auto* box : panel().at(place).findChildren<QComboBox*>()) {
            box->setFocus();
            box->setCurrentIndex(static_cast<int>(quantity));
            emit box->activated(static_cast<int>(quantity));
        }
        QCOMPARE(panel().at(place).quantity(), quantity);
    }

    static void drag(MetricChart& chart, const QPoint& from, const QPoint& to,
                     Qt::KeyboardModifiers keys = {}) {
        QCustomPlot& plot = chart.plot();
        QTest::mousePress(&plot, Qt::LeftButton, keys, from);
        for (const double share : {0.3, 0.7, 1.0}) {
            const QPointF at = from + (to - from) * share;
            QMouseEvent move(QEvent::MouseMove, at, plot.mapToGlobal(at), Qt::NoButton, Qt::LeftButton, keys);
            QApplication::sendEvent(&plot, &move);
        }
        QTest::mouseRelease(&plot, Qt::LeftButton, keys, to);
        chart.redrawNow();
    }

    std::unique_ptr<QTemporaryDir> runs_;
};

ROPER_GUI_TEST(MetricPanelTest, "metric_panel_test")
#include "metric_panel_test.moc"
