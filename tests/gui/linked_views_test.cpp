#include <QTest>

#include "tests/support/page_test.h"

using namespace roper;

/// Pointing at a pair, a token or a distance highlights it in every figure of the page that shows it.
class LinkedViewsTest : public PageTest {
    Q_OBJECT

  private slots:
    void initTestCase() { clearSettings("linked_views_test"); }
    void init() {
        QSettings().clear();
        openWindow("Rotation");
    }
    void cleanup() { window_.reset(); }

    void aPairOnTheRotationPage() {
        auto* dials = window_->rotationPage().findChild<DialsView*>();
        auto* bars = window_->rotationPage().findChild<BarsView*>();
        expectMarkedIn({dials, bars}, [&] { readoutAt(bars, middleOf(*bars)); });
        QVERIFY(hovered().pair.has_value());
        expectNothingAfterLeaving(bars);
    }

    void aWordOnTheRotationPage() {
        auto* strip = window_->rotationPage().findChild<TokenStrip*>();
        auto* circle = window_->rotationPage().findChild<CircleView*>();
        expectMarkedIn({strip, circle}, [&] { readoutAt(strip, middleOf(*strip)); });
        QVERIFY(hovered().position.has_value());
        expectNothingAfterLeaving(strip);
    }

    void pairAndDistanceOnTheSpectrumPage() {
        window_->showPage("Spectrum");
        SpectrumPage& page = window_->spectrumPage();
        HeatMapView& map = page.cosineMapView();
        expectMarkedIn({&map, &page.spectrumChart(), &page.decayChart(), &page.boundChart()},
                       [&] { readoutAt(&map, map.cellRect(5, 90).center().toPoint()); });
        QCOMPARE(hovered().pair, 5);
        // From a chart to the map: x is the middle of the plot.
        QSignalSpy told(&page.decayChart(), &CurveChart::xHovered);
        expectMarkedIn({&map, &page.boundChart()}, [&] { movePlot(page.decayChart()); });
        QCOMPARE(told.size(), 1);
        QCOMPARE(*hovered().distance, qRound(told[0][0].toDouble()));
        QVERIFY(!hovered().pair.has_value());
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
        QCOMPARE(hovered().distance, 7);
        expectMarkedIn({&page.map()}, [&] { movePlot(page.distanceChart()); });
        QCOMPARE(*hovered().key, *hovered().query - *hovered().distance);
        expectNothingAfterLeaving(&page.distanceChart().plot());
    }

    void aKeyOnTheValueMixingPage() {
        change([](Setup& s) { s.mixed_tokens = MixedTokens::all; });
        window_->showPage("Value mixing");
        MixingPage& page = window_->mixingPage();
        page.showTab(0);
        BarChart& bars = page.distances();
        expectMarkedIn({&bars, &page.chainView()},
                       [&] { readoutAt(&bars, bars.categoryRect(3).center().toPoint()); });
        QCOMPARE(hovered().distance, bars.categories()[3]);
        QCOMPARE(hovered().key, setup().query - bars.categories()[3]);
        const HoveredItem key = hovered();
        page.setViewSettings({{"view.mixing_below", "1"}});
        expectMarkedIn({&page.steps(), &page.chainView()},
                       [&] { window_->selection().hoverState().set(key); });
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
        QVERIFY(hovered().pair.has_value());
        QCOMPARE(drawn(), before);
    }

    /// A change of the setup clears the highlight, since something else may be under the pointer.
    void aChangeOfTheSetupForgetsIt() {
        window_->selection().hoverState().set({.key = 3, .distance = 6});
        change([](Setup& s) { s.query = 4; });
        QVERIFY(hovered() == HoveredItem{});
    }

    /// A pair that does not exist in a figure is not highlighted there.
    void aPairThatIsNotThere() {
        change([](Setup& s) { s.head_dim = 4; });
        window_->selection().hoverState().set(
            {.pair = 31, .query = 500, .key = 400, .distance = 100, .position = 99});
        for (const char* page : {"Rotation", "Spectrum", "Attention", "Value mixing"}) {
            window_->showPage(page);
            window_->grab();
        }
    }

  private:
    const HoveredItem& hovered() const { return window_->selection().hovered(); }

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
        QVERIFY(hovered() == HoveredItem{});
    }

    /// Each figure must change when the pointer arrives and be restored when it leaves.
    void expectMarkedIn(const std::vector<QWidget*>& views, const std::function<void()>& point) {
        window_->selection().hoverState().clear();
        const auto grabbed = [&views] {
            QTest::qWait(50);
            for (QWidget* view : views)
                if (auto* chart = qobject_cast<PlotView*>(view)) chart->redrawNow();
            std::vector<QImage> pageFigures;
            for (QWidget* view : views)
                pageFigures.push_back(view->grab().toImage());
            return pageFigures;
        };
        const auto picturesOf = [&grabbed] {
            // A chart is drawn after events are processed, and again if its legend then covers a curve: the
            // pictures are final once they stay the same.
            std::vector<QImage> last, now;
            const auto isFinal = [&] {
                last = std::exchange(now, grabbed());
                return now == last;
            };
            if (!QTest::qWaitFor(isFinal)) QTest::qFail("figures keep changing", __FILE__, __LINE__);
            return now;
        };
        const std::vector<QImage> before = picturesOf();
        point();
        const std::vector<QImage> marked = picturesOf();
        for (std::size_t i = 0; i < views.size(); ++i)
            QVERIFY2(marked[i] != before[i], views[i]->metaObject()->className());
        const HoveredItem now = hovered();
        window_->selection().hoverState().clear();
        const std::vector<QImage> after = picturesOf();
        for (std::size_t i = 0; i < views.size(); ++i)
            QVERIFY2(after[i] == before[i], views[i]->metaObject()->className());
        window_->selection().hoverState().set(now);
    }
};

ROPER_GUI_TEST(LinkedViewsTest, "linked_views_test")
#include "linked_views_test.moc"
