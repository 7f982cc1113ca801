#include <QTest>

#include "tests/support/page_test.h"

using namespace roper;

/// Pointing at a pair, a token or a distance highlights it in every figure of the page that shows it.
class LinkedViewsTest : public PageTest {
    Q_OBJECT

  private slots:
    void initTestCase() { forgetSettings("linked_views_test"); }
    void init() {
        QSettings().clear();
        openWindow("Rotation");
    }
    void cleanup() { window_.reset(); }

    void aPairOnTheRotationPage() {
        auto* dials = window_->rotationPage().findChild<DialsView*>();
        auto* bars = window_->rotationPage().findChild<BarsView*>();
        expectMarkedIn({dials, bars}, [&] { readoutAt(bars, middleOf(*bars)); });
        QVERIFY(pointed().pair.has_value());
        expectNothingAfterLeaving(bars);
    }

    void aWordOnTheRotationPage() {
        auto* strip = window_->rotationPage().findChild<TokenStrip*>();
        auto* circle = window_->rotationPage().findChild<CircleView*>();
        expectMarkedIn({strip, circle}, [&] { readoutAt(strip, middleOf(*strip)); });
        QVERIFY(pointed().position.has_value());
        expectNothingAfterLeaving(strip);
    }

    void pairAndDistanceOnTheSpectrumPage() {
        window_->showPage("Spectrum");
        SpectrumPage& page = window_->spectrumPage();
        HeatMapView& map = page.cosineMapView();
        expectMarkedIn({&map, &page.spectrumChart(), &page.decayChart(), &page.boundChart()},
                       [&] { readoutAt(&map, map.cellRect(5, 90).center().toPoint()); });
        QCOMPARE(pointed().pair, 5);
        // From a chart to the map: x is the middle of the plot.
        QSignalSpy told(&page.decayChart(), &CurveChart::xPointed);
        expectMarkedIn({&map, &page.boundChart()}, [&] { movePlot(page.decayChart()); });
        QCOMPARE(told.size(), 1);
        QCOMPARE(*pointed().distance, qRound(told[0][0].toDouble()));
        QVERIFY(!pointed().pair.has_value());
        expectNothingAfterLeaving(&page.decayChart().plot());
        readoutAt(&map, map.cellRect(5, 90).center().toPoint());
        expectNothingAfterLeaving(&map);
    }

    void aDistanceOnTheAttentionPage() {
        window_->showPage("Attention");
        AttentionPage& page = window_->attentionPage();
        page.setViewSettings({{"view.attention_below", "4"}});
        QVERIFY(page.distanceChart().isVisible());
        expectMarkedIn({&page.map(), &page.distanceChart()},
                       [&] { readoutAt(&page.map(), page.map().cellRect(9, 2).center().toPoint()); });
        QCOMPARE(pointed().distance, 7);
        expectMarkedIn({&page.map()}, [&] { movePlot(page.distanceChart()); });
        QCOMPARE(*pointed().key, *pointed().query - *pointed().distance);
        expectNothingAfterLeaving(&page.distanceChart().plot());
    }

    void aKeyOnTheValueMixingPage() {
        change([](Setup& s) { s.mixture = Mixture::all; });
        window_->showPage("Value mixing");
        MixingPage& page = window_->mixingPage();
        page.showTab(0);
        BarChart& bars = page.distances();
        expectMarkedIn({&bars, &page.compass()},
                       [&] { readoutAt(&bars, bars.placeRect(3).center().toPoint()); });
        QCOMPARE(pointed().distance, bars.places()[3]);
        QCOMPARE(pointed().key, setup().query - bars.places()[3]);
        const Pointed key = pointed();
        page.setViewSettings({{"view.mixing_below", "1"}});
        expectMarkedIn({&page.steps(), &page.compass()}, [&] { window_->selection().pointing().set(key); });
    }

    /// Exported files do not contain the highlight.
    void marksAreNotExported() {
        window_->showPage("Spectrum");
        HeatMapView& map = window_->spectrumPage().cosineMapView();
        const auto drawn = [&map] {
            QImage image(map.size(), QImage::Format_ARGB32_Premultiplied);
            image.fill(Qt::white);
            QPainter painter(&image);
            map.paintFigure(painter, map.canvas(), Theme::light());
            return image;
        };
        const QImage before = drawn();
        readoutAt(&map, map.cellRect(5, 90).center().toPoint());
        QVERIFY(pointed().pair.has_value());
        QCOMPARE(drawn(), before);
    }

    /// A change of the setup clears the highlight, since something else may be under the pointer.
    void aChangeOfTheSetupForgetsIt() {
        window_->selection().pointing().set({.key = 3, .distance = 6});
        change([](Setup& s) { s.query = 4; });
        QVERIFY(pointed() == Pointed{});
    }

    /// A pair that does not exist in a figure is not highlighted there.
    void aPairThatIsNotThere() {
        change([](Setup& s) { s.head_dim = 4; });
        window_->selection().pointing().set(
            {.pair = 31, .query = 500, .key = 400, .distance = 100, .position = 99});
        for (const char* page : {"Rotation", "Spectrum", "Attention", "Value mixing"}) {
            window_->showPage(page);
            window_->grab();
        }
    }

  private:
    const Pointed& pointed() const { return window_->selection().pointed(); }

    static QPoint middleOf(const QWidget& widget) { return widget.rect().center(); }

    static void movePlot(CurveChart& chart) {
        const QPoint at = chart.plot().axisRect()->rect().center();
        QMouseEvent move(QEvent::MouseMove, QPointF(at), chart.plot().mapToGlobal(QPointF(at)), Qt::NoButton,
                         Qt::NoButton, {});
        QCoreApplication::sendEvent(&chart.plot(), &move);
    }

    void expectNothingAfterLeaving(QWidget* view) const {
        QEvent leave(QEvent::Leave);
        QCoreApplication::sendEvent(view, &leave);
        QVERIFY(pointed() == Pointed{});
    }

    /// Each figure must change when the pointer arrives and be restored when it leaves.
    void expectMarkedIn(const std::vector<QWidget*>& views, const std::function<void()>& point) {
        window_->selection().pointing().clear();
        const auto picturesOf = [&views] {
            // Charts are drawn after events are processed, which may take longer on a busy machine.
            QTest::qWait(50);
            for (QWidget* view : views)
                if (auto* chart = qobject_cast<PlotView*>(view)) chart->redrawNow();
            std::vector<QImage> pictures;
            for (QWidget* view : views)
                pictures.push_back(view->grab().toImage());
            return pictures;
        };
        const std::vector<QImage> before = picturesOf();
        point();
        const std::vector<QImage> marked = picturesOf();
        for (std::size_t i = 0; i < views.size(); ++i)
            QVERIFY2(marked[i] != before[i], views[i]->metaObject()->className());
        const Pointed now = pointed();
        window_->selection().pointing().clear();
        const std::vector<QImage> after = picturesOf();
        for (std::size_t i = 0; i < views.size(); ++i)
            QVERIFY2(after[i] == before[i], views[i]->metaObject()->className());
        window_->selection().pointing().set(now);
    }
};

ROPER_GUI_TEST(LinkedViewsTest, "linked_views_test")
#include "linked_views_test.moc"
