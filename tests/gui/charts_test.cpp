#include <QSignalSpy>
#include <QTest>
#include <cmath>
#include <limits>
#include <random>

#include "ui/charts/metric_chart.h"

using namespace roper;

/// The pyramid against plain loops, smoothing, and the chart driven by events.
class ChartsTest : public QObject {
    Q_OBJECT

  private slots:
    void pyramidKeepsEverySpike() {
        MinMaxPyramid pyramid;
        std::mt19937 random(1);
        std::vector<double> values;
        for (int i = 0; i < 10007; ++i) {
            values.push_back(static_cast<double>(random() % 1000));
            if (i % 997 == 5) values.back() = 1e6 + i;
            pyramid.append(i, values.back());
        }
        std::vector<double> xs, ys;
        pyramid.collect(0, 10007, 300, xs, ys);
        QVERIFY(xs.size() <= 2 * 300 + 40);
        QVERIFY(std::is_sorted(xs.begin(), xs.end()));
        for (int i = 5; i < 10007; i += 997)
            QVERIFY(std::find(ys.begin(), ys.end(), 1e6 + i) != ys.end());
        for (std::size_t i = 0; i < xs.size(); ++i)
            QCOMPARE(values[static_cast<std::size_t>(xs[i])], ys[i]);
    }

    void pyramidRangeIsThatOfThePoints() {
        MinMaxPyramid pyramid;
        std::mt19937 random(2);
        std::vector<double> values;
        for (int i = 0; i < 1000; ++i) {
            values.push_back(static_cast<double>(random() % 100000));
            pyramid.append(i, values.back());
        }
        for (int trial = 0; trial < 200; ++trial) {
            const auto a = random() % 1000, b = a + random() % (1000 - a);
            const auto range = pyramid.range(static_cast<double>(a), static_cast<double>(b));
            const auto first = values.begin() + static_cast<long>(a),
                       last = values.begin() + static_cast<long>(b) + 1;
            QCOMPARE(range.low, *std::min_element(first, last));
            QCOMPARE(range.high, *std::max_element(first, last));
        }
    }

    void pyramidKeepsNotANumberApart() {
        MinMaxPyramid pyramid;
        for (int i = 0; i < 64; ++i)
            pyramid.append(i, i == 20   ? std::nan("")
                              : i == 40 ? std::numeric_limits<double>::infinity()
                                        : double(i));
        QCOMPARE(pyramid.notFinite(), (std::vector<double>{20, 40}));
        std::vector<double> xs, ys;
        pyramid.collect(0, 64, 4, xs, ys);
        for (const double y : ys)
            QVERIFY(std::isfinite(y));
        QCOMPARE(pyramid.range(0, 64).high, 63.0);
        QCOMPARE(pyramid.range(0, 64).low, 0.0);
        QVERIFY(pyramid.range(20, 20).low > pyramid.range(20, 20).high);
    }

    void smoothingStartsAtTheFirstValue() {
        Smoothing smoothing(0.9);
        QCOMPARE(smoothing.add(5.0), 5.0);
        QVERIFY(std::abs(smoothing.add(5.0) - 5.0) < 1e-12);
        QVERIFY(std::abs(smoothing.add(std::nan("")) - 5.0) < 1e-12);
        Smoothing none(0.0);
        none.add(3.0);
        QCOMPARE(none.add(7.0), 7.0);
    }

    void chartShowsWhatIsAppended() {
        MetricChart chart("loss", "loss", nullptr);
        chart.resize(600, 300);
        chart.show();
        chart.addSeries("a", "run a", Theme::rope());
        chart.addSeries("b", "run b", Theme::roper());
        QSignalSpy replots(&chart.plot(), &QCustomPlot::afterReplot);
        for (int i = 1; i <= 5000; ++i)
            chart.append("a", {double(i), i * 0.1, i * 100.0, 3.0 / i});
        chart.append("b", {1, 0.1, 100, 2.0});
        QTRY_VERIFY(replots.count() > 0);
        QTest::qWait(120);
        QVERIFY2(replots.count() <= 6, "5,000 points must not make 5,000 replots");
        QVERIFY(chart.plot().xAxis->range().contains(1) && chart.plot().xAxis->range().contains(5000));
        QVERIFY(chart.plot().graph(0)->dataCount() <= 2 * chart.plot().axisRect()->width());
        QCOMPARE(chart.pointCount("a"), std::size_t(5000));
        // All data are exported; thinning is for the screen alone.
        QCOMPARE(chart.figureCsv().count('\n'), 5002);
    }

    void chartMarksNotANumber() {
        MetricChart chart("loss", "loss", nullptr);
        chart.resize(600, 300);
        chart.addSeries("a", "a", Theme::rope());
        for (int i = 1; i <= 10; ++i)
            chart.append("a", {double(i), 0, 0, i == 7 ? std::nan("") : 1.0});
        chart.redrawNow();
        const QCPGraph* marks = chart.plot().graph(2);
        QCOMPARE(marks->dataCount(), 1);
        QCOMPARE(marks->data()->at(0)->key, 7.0);
        QVERIFY(chart.figureCsv().contains("nan"));
    }

    void legendHidesAndIsolates() {
        MetricChart chart("loss", "loss", nullptr);
        chart.resize(600, 400);
        for (const char* key : {"a", "b", "c"}) {
            chart.addSeries(key, key, Theme::rope());
            chart.append(key, {1, 1, 1, 1});
            chart.append(key, {2, 2, 2, 2});
        }
        chart.show();
        QVERIFY(QTest::qWaitForWindowExposed(&chart));
        chart.redrawNow();
        QTest::qWait(80);
        const auto clickLegend = [&](int item, bool twice) {
            const QPoint at = chart.plot().legend->item(item)->rect().center();
            QTest::mouseClick(&chart.plot(), Qt::LeftButton, {}, at);
            if (twice) QTest::mouseDClick(&chart.plot(), Qt::LeftButton, {}, at);
            chart.redrawNow();
            QTest::qWait(60);
        };
        clickLegend(1, false);
        QVERIFY(!chart.isShown("b"));
        QVERIFY(!chart.plot().graph(4)->visible());
        clickLegend(1, false);
        QVERIFY(chart.isShown("b"));
        QTest::qWait(QApplication::doubleClickInterval() + 50);
        clickLegend(2, true);
        QVERIFY(chart.isShown("c") && !chart.isShown("a") && !chart.isShown("b"));
        QTest::qWait(QApplication::doubleClickInterval() + 50);
        clickLegend(2, true);
        QVERIFY(chart.isShown("a") && chart.isShown("b") && chart.isShown("c"));
    }

    void crosshairReadsTheNumbers() {
        MetricChart chart("loss", "loss", nullptr);
        chart.resize(600, 300);
        chart.addSeries("a", "run a", Theme::rope());
        for (int i = 1; i <= 100; ++i)
            chart.append("a", {double(i), 0, 0, i / 100.0});
        chart.setSmoothing(0);
        chart.show();
        QVERIFY(QTest::qWaitForWindowExposed(&chart));
        chart.redrawNow();
        QTest::qWait(80);
        QSignalSpy pointed(&chart, &MetricChart::pointed);
        const int x = static_cast<int>(chart.plot().xAxis->coordToPixel(50));
        // Sent to the plot itself: where the platform's own pointer is does not matter.
        const QPointF at(x, chart.plot().axisRect()->center().y());
        QMouseEvent move(QEvent::MouseMove, at, chart.plot().mapToGlobal(at), Qt::NoButton, Qt::NoButton, {});
        QApplication::sendEvent(&chart.plot(), &move);
        QVERIFY(!pointed.isEmpty());
        QVERIFY2(pointed.last()[0].toString().contains("run a: 0.5"),
                 qPrintable(pointed.last()[0].toString()));
    }

    void axesCanBeLogarithmic() {
        MetricChart chart("loss", "loss", nullptr);
        chart.resize(600, 300);
        chart.addSeries("a", "a", Theme::rope());
        for (int i = 1; i <= 100; ++i)
            chart.append("a", {double(i), i * 1.0, i * 10.0, 1.0 / i});
        chart.setLogX(true);
        chart.setLogY(true);
        chart.redrawNow();
        QCOMPARE(chart.plot().yAxis->scaleType(), QCPAxis::stLogarithmic);
        QVERIFY(chart.plot().yAxis->range().lower > 0);
        chart.setAcross(MetricChart::XAxis::tokens);
        chart.redrawNow();
        QVERIFY(chart.plot().xAxis->range().upper >= 1000);
    }
};

QTEST_MAIN(ChartsTest)
#include "charts_test.moc"
