#include <sys/stat.h>

#include <QFile>
#include <QProcess>
#include <QSpinBox>
#include <fstream>

#include "tests/support/label_problems.h"
#include "tests/support/page_test.h"
#include "tests/support/small_model.h"
#include "ui/live/published_models.h"

using namespace roper;

/// The panels of the Inspect page that show what models answer: a small published one and a run, both asked
/// through `roper-train serve`.
class InspectAnswersTest : public PageTest {
    Q_OBJECT

  private slots:
    void initTestCase() {
        clearSettings("inspect_answers_test");
        const QString trainer = QString::fromLocal8Bit(qgetenv("ROPER_TRAIN"));
        qputenv("PATH", QFileInfo(trainer).absolutePath().toLocal8Bit() + ":" + qgetenv("PATH"));
        qputenv("HF_HUB_CACHE", models_.filePath("none").toLocal8Bit());
        for (const char* family : {"llama", "gpt2", "ernie4_5_moe"})
            makeSmallModel(family, QDir(models_.path()));
        for (const char* method : {"roper", "rope"})
            train(trainer, method);
    }

    void init() {
        QSettings().clear();
        openWindow("Inspect");
        window_->resize(1300, 860);
    }

    void cleanup() { window_.reset(); }

    void aNewcomerIsToldWhatToDoFirst() {
        QVERIFY(!figure<SurprisalView>("surprise").isVisible());
        const auto open_run = [this]() -> QPushButton* {
            for (QPushButton* button : page().findChildren<QPushButton*>())
                if (button->text() == "Open Addition · RoPER · seed 0") return button;
            return nullptr;
        };
        QTRY_VERIFY(open_run() != nullptr && open_run()->isVisible());
        checkInputs();
        QTest::mouseClick(open_run(), Qt::LeftButton);
        QTRY_COMPARE(state().model(), QString("run"));
        waitForAnswers();
        QVERIFY(figure<SurprisalView>("surprise").isVisible());
        QVERIFY2(state().answer(answers::predictions) != nullptr, qPrintable(state().message()));
        QCOMPARE(page().text().toPlainText(), state().text());
        QVERIFY(!state().text().isEmpty());  // an example from the run's training task
    }

    // A token such as “%1” was taken for a place in the text around it.
    void percentSignsInTokensAreShown() {
        HeatMapView::Map map;
        map.row_labels = {"%2", "%1"};
        map.values = std::make_shared<const Eigen::MatrixXd>(Eigen::MatrixXd::Constant(2, 2, 0.25));
        QCOMPARE(weightAt(map, 1, 0), QString("query “%1” (1), key “%2” (0), distance 1: weight 0.25"));
    }

    void aFolderWithAPipeForAConfigIsNoModel() {
        const QDir models(models_.path());
        QVERIFY(models.mkdir("pipes"));
        for (const char* name : {"config.json", "model.gguf"})
            QCOMPARE(::mkfifo(qPrintable(models.filePath(QString("pipes/") + name)), 0600), 0);
        for (const char* path : {"pipes", "pipes/model.gguf"}) {
            page().openPublished(models.filePath(path));
            QVERIFY(state().model().isEmpty());
            const auto* readout = page().findChild<QLabel*>("readout");
            QVERIFY2(readout->text().contains("is not a model"), qPrintable(readout->text()));
        }
    }

    void aFolderWithTwoModelsSaysWhatToChoose() {
        const QDir models(models_.path());
        QVERIFY(models.mkdir("two"));
        for (const char* name : {"a.gguf", "b.gguf"}) {
            QFile file(models.filePath(QString("two/") + name));
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write("GGUF");
        }
        page().openPublished(models.filePath("two"));
        QVERIFY(state().model().isEmpty());
        const auto* readout = page().findChild<QLabel*>("readout");
        QVERIFY2(readout->text().contains("name one of a.gguf, b.gguf"), qPrintable(readout->text()));
        QVERIFY(isPublishedModel(models.filePath("two/a.gguf")));
        QVERIFY(QFile::rename(models.filePath("two/a.gguf"), models.filePath("two/sha256-0123")));
        QVERIFY(isPublishedModel(models.filePath("two/sha256-0123")));
        QVERIFY(problemOfModel(models.filePath("two/sha256-0123")).isEmpty());
        QVERIFY(!isPublishedModel(models.path()));
    }

    void aTextIsReadTokenByToken() {
        openModel();
        QSignalSpy answered(&state(), &InspectState::answered);
        typeText(kText);
        QTest::keyClick(&page().text(), Qt::Key_Return, Qt::ControlModifier);
        waitForAnswers();
        QCOMPARE(state().text(), QString(kText));
        QCOMPARE(state().answer(answers::predictions)->ids.size(), std::size_t(13));
        // The last position, which predicts the token after the text.
        QCOMPARE(figure<SurprisalView>("surprise").chosen(), 12);
        // A click selects another token; its predictions are shown next to it.
        click(figure<SurprisalView>("surprise"), figure<SurprisalView>("surprise").tokenRect(3).center());
        QCOMPARE(figure<SurprisalView>("surprise").chosen(), 3);
        const QString said = readoutAt(&figure<SurprisalView>("surprise"),
                                       figure<SurprisalView>("surprise").tokenRect(3).center().toPoint());
        QVERIFY2(said.contains("token 3, “5”: −ln p"), qPrintable(said));
        QTest::keyClick(&figure<SurprisalView>("surprise"), Qt::Key_Right);
        QCOMPARE(figure<SurprisalView>("surprise").chosen(), 4);
        QCOMPARE(figure<SurprisalView>("surprise").figureCsv().count('\n'), 14);
        QVERIFY(effect().startsWith("loss "));
        // The command line gives the same result.
        QProcess look;
        look.start(QString::fromLocal8Bit(qgetenv("ROPER_TRAIN")),
                   {"look", model("llama"), "--what", "loss", "--text", kText, "--json"});
        QVERIFY(look.waitForFinished(60000));
        const QByteArray printed = look.readAllStandardOutput();
        QVERIFY(printed.contains(
            QByteArray("\"loss\":") +
            QByteArray::number(state().answer(answers::predictions)->loss, 'g', 17).left(12)));
    }

    void whatIsTakenAwayIsSeenAtOnce() {
        openModel();
        const double before = state().answer(answers::predictions)->loss;
        auto* pairs = control<QLineEdit>("Ablated pairs");
        QTest::keyClicks(pairs, "0");
        QTest::keyClick(pairs, Qt::Key_Return);
        waitForAnswers();
        QVERIFY(state().answer(answers::changed_predictions) != nullptr);
        QVERIFY(state().answer(answers::changed_predictions)->loss != before);
        QCOMPARE(state().answer(answers::predictions)->loss, before);
        QVERIFY2(effect().contains("with the change"), qPrintable(effect()));
        // Ablating a single head has less effect.
        const double all = std::abs(state().answer(answers::changed_predictions)->loss - before);
        auto* layer = control<QComboBox>("Layer");
        auto* head = control<QComboBox>("Head");
        QCOMPARE(layer->count(), 1 + static_cast<int>(state().summary()->layers));
        layer->setCurrentIndex(1);
        head->setCurrentIndex(2);
        waitForAnswers();
        QVERIFY(std::abs(state().answer(answers::changed_predictions)->loss - before) < all);
        QCOMPARE(state().change().layer, std::optional<std::int64_t>(0));
        // Shifting all positions changes results only by rounding.
        QTest::mouseClick(control<QPushButton>("As trained"), Qt::LeftButton);
        QCOMPARE(state().change(), ModelChange{});
        QVERIFY(pairs->text().isEmpty());
        auto* shift = control<QSpinBox>("Shift all positions");
        shift->setValue(1000);
        waitForAnswers();
        QVERIFY(std::abs(state().answer(answers::changed_predictions)->loss - before) < 1e-4);
        // An invalid change is refused with a message, and the next change works.
        pairs->setText("99");
        QTest::keyClick(pairs, Qt::Key_Return);
        waitForAnswers();
        QVERIFY2(state().message().contains("pairs 0 to"), qPrintable(state().message()));
        // That result was for another change.
        QVERIFY2(!effect().contains("with the change"), qPrintable(effect()));
        pairs->setText("1");
        QTest::keyClick(pairs, Qt::Key_Return);
        waitForAnswers();
        QCOMPARE(state().message(), QString());
    }

    void headsAreChosenByTheirPictures() {
        openModel();
        page().showPanel<HeadsPanel>();
        waitForAnswers();
        QVERIFY(state().answer(answers::heads) != nullptr && state().answer(answers::thumbnails) != nullptr &&
                state().answer(answers::attention) != nullptr);
        click(figure<HeadScatterView>("head-atlas"), figure<HeadScatterView>("head-atlas").dotOf(1, 1));
        QCOMPARE(state().layer(), 1);
        waitForAnswers();
        QCOMPARE(state().answer(answers::attention)->layer, 1);
        QVERIFY(figure<HeatMapView>("model-head").map().values != nullptr);
        QCOMPARE(figure<HeatMapView>("model-head").map().values->rows(), Eigen::Index(13));
        QCOMPARE(figure<HeatMapView>("model-head").map().row_labels.at(1), QString(">"));
        click(figure<HeadsView>("all-heads"), figure<HeadsView>("all-heads").headRect(0, 1).center());
        QCOMPARE(state().layer(), 0);
        QCOMPARE(state().head(), 1);
        QCOMPARE(control<QSpinBox>("Head shown")->value(), 1);
        waitForAnswers();
        QCOMPARE(state().answer(answers::attention)->head, 1);
        // By distance: mean weights, and scores relative to the query's own token.
        const auto& weights = *state().answer(answers::attention)->map.values;
        QVERIFY(std::abs(figure<CurveChart>("reach").curves().front().y.front() - weights.diagonal().mean()) <
                1e-12);
        control<QComboBox>("Quantity by distance")->setCurrentIndex(1);
        QCOMPARE(figure<CurveChart>("reach").curves().front().y.front(), 0.0);
        QVERIFY(std::abs(figure<CurveChart>("reach").curves().front().y.back() -
                         std::log(weights(12, 0) / weights(12, 12))) < 1e-12);
        QTest::keyClick(&figure<HeadsView>("all-heads"), Qt::Key_Left);
        QTest::keyClick(&figure<HeadsView>("all-heads"), Qt::Key_Up);
        QVERIFY(state().layer() == 0 && state().head() == 0);
        control<QSpinBox>("Layer shown")->setValue(1);
        QCOMPARE(state().layer(), 1);
        // Sorted, and colored, by the scores of heads.
        control<QComboBox>("Order of all heads")->setCurrentIndex(3);
        control<QComboBox>("Color of the dots")->setCurrentIndex(4);
        waitForAnswers();
        QVERIFY2(state().answer(answers::copying) != nullptr, qPrintable(state().message()));
        QVERIFY(state().answer(answers::induction) != nullptr);
        const std::vector<int> order = figure<HeadsView>("all-heads").ordered();
        const auto scoreOf = [&](int head) {
            return *headScores().front().of(state(), *state().report(head / 4, head % 4));
        };
        for (std::size_t i = 1; i < order.size(); ++i)
            QVERIFY(scoreOf(order[i - 1]) >= scoreOf(order[i]));
        const QString said = readoutAt(&figure<HeadsView>("all-heads"),
                                       figure<HeadsView>("all-heads").headRect(0, 1).center().toPoint());
        QVERIFY2(said.contains("layer 0, head 1") && said.contains("; induction score "), qPrintable(said));
        auto* color = control<QComboBox>("Color of the dots");
        const auto colorBy = [&](const char* score) {
            color->setCurrentIndex(color->findText(score));
            QCOMPARE(color->currentText(), QString(score));
            waitForAnswers();
        };
        colorBy("by weight on the first token");
        QVERIFY2(state().answer(answers::sinks) != nullptr, qPrintable(state().message()));
        colorBy("by share of the scores' variance from rotated features");
        QVERIFY2(state().message().contains("every feature of this model's heads rotates"),
                 qPrintable(state().message()));
        for (const HeadReport& report : state().answer(answers::heads)->heads) {
            const QString described = describeHead(report, state());
            QVERIFY2(described.contains("weight on the first token"), qPrintable(described));
        }
        control<QComboBox>("Order of all heads")->setCurrentIndex(0);
        // One label alone.
        auto* label = control<QComboBox>("Heads with one label");
        QVERIFY(label->count() >= 2);
        label->setCurrentIndex(1);
        QVERIFY(figure<HeadScatterView>("head-atlas").figureCsv().count('\n') ==
                1 + static_cast<int>(state().answer(answers::heads)->heads.size()));
        // The map is for the text that is read now.
        page().readText("5>E5>");
        waitForAnswers();
        QCOMPARE(figure<HeatMapView>("model-head").map().values->rows(), Eigen::Index(5));
    }

    void bandsAndValuesAreThoseOfTheHead() {
        openModel();
        page().showPanel<PairsPanel>();
        waitForAnswers();
        const auto heads = static_cast<Eigen::Index>(state().answer(answers::heads)->heads.size());
        QCOMPARE(figure<HeatMapView>("bands").map().values->rows(), heads);
        click(figure<HeatMapView>("bands"), figure<HeatMapView>("bands").cellRect(2, 0).center());
        QCOMPARE(state().layer() * static_cast<int>(state().summary()->heads) + state().head(), 2);
        for (const auto quantity :
             {PairQuantity::query_norm, PairQuantity::key_norm, PairQuantity::value_norm}) {
            control<QComboBox>("Quantity of each pair")->setCurrentIndex(static_cast<int>(quantity));
            QVERIFY(figure<HeatMapView>("bands").map().values->minCoeff() >= 0);
            QCOMPARE(figure<BarChart>("head-bands").series().front().values.front(),
                     (*figure<HeatMapView>("bands").map().values)(2, 0));
        }
        page().showPanel<ValuesPanel>();
        waitForAnswers();
        QCOMPARE(figure<CurveChart>("kernels").curves().size(),
                 static_cast<std::size_t>(state().summary()->heads));
        // RoPE's values do not rotate, so the norm is constant.
        const auto& norms = figure<CurveChart>("kernels").curves().front().y;
        QCOMPARE(norms.front(), norms.back());
        page().open("run");
        waitForAnswers();
        const auto& turned = figure<CurveChart>("kernels").curves().front().y;
        QVERIFY(turned.front() != turned.back());
        const auto of_head_1 = figure<CurveChart>("kernels").curves().at(1).y;
        const CurveChart& ov = figure<CurveChart>("ov-by-distance");
        QCOMPARE(ov.curves().size(), std::size_t(8));
        QVERIFY(ov.curves()[0].y.front() >= ov.curves()[7].y.front());
        QVERIFY(ov.figureCaption().contains("need rank"));
        // For each checkpoint; the last value is the one shown before.
        control<QCheckBox>("Over training")->click();
        waitForAnswers();
        QCOMPARE(figure<CurveChart>("kernels").curves().size(), state().summary()->checkpoints.size());
        QVERIFY(figure<CurveChart>("kernels").curves().size() >= 4);
        QVERIFY(figure<CurveChart>("kernels").curves().front().y !=
                figure<CurveChart>("kernels").curves().back().y);
        control<QSpinBox>("Head shown")->setValue(1);
        control<QSpinBox>("Layer shown")->setValue(0);
        waitForAnswers();
        QCOMPARE(figure<CurveChart>("kernels").curves().back().y, of_head_1);
        // A published model has no checkpoints.
        page().open(model("llama"));
        waitForAnswers();
        QVERIFY(!control<QCheckBox>("Over training")->isEnabled());
        QCOMPARE(figure<CurveChart>("kernels").curves().size(),
                 static_cast<std::size_t>(state().summary()->heads));
    }

    // Both use the same text and head. RoPER's kernels rotate with distance, RoPE's do not.
    void aTwinStandsBesideItsRun() {
        page().open("run");
        auto* comparison = control<QComboBox>("Comparison model");
        QTRY_COMPARE(comparison->itemText(1), QString("twin: RoPE (same settings and seed)"));
        comparison->setCurrentIndex(1);
        emit comparison->activated(1);
        QCOMPARE(page().comparisonState().model(), QString("twin"));
        page().showPanel<PairsPanel>();
        waitForAnswers();
        QCOMPARE(figure<BarChart>("head-bands").series().size(), std::size_t(2));
        QCOMPARE(figure<BarChart>("head-bands").series()[1].label, QString("Addition · RoPE · seed 0"));
        QVERIFY(figure<BarChart>("head-bands").series()[0].values !=
                figure<BarChart>("head-bands").series()[1].values);
        QCOMPARE(figure<BarChart>("head-bands").series()[0].color, Theme::roper());
        QCOMPARE(figure<BarChart>("head-bands").series()[1].color, Theme::rope());
        const auto of_head = figure<BarChart>("head-bands").series()[1].values;
        control<QCheckBox>("Mean of all heads")->click();
        QVERIFY(figure<BarChart>("head-bands").series()[1].values != of_head);
        page().showPanel<ValuesPanel>();
        waitForAnswers();
        const auto& curves = figure<CurveChart>("kernels").curves();
        QCOMPARE(curves.size(), std::size_t(3));  // two heads, and the twin's head
        QVERIFY(curves[0].y.front() != curves[0].y.back());
        QCOMPARE(curves[2].y.front(), curves[2].y.back());
        QCOMPARE(figure<HeatMapView>("token-map").map().values->rows(),
                 figure<HeatMapView>("token-map").map().values->cols());
        const auto at_0 = *figure<HeatMapView>("token-map").map().values;
        control<QSpinBox>("Distance of the token map")->setValue(3);
        waitForAnswers();
        QVERIFY(*figure<HeatMapView>("token-map").map().values != at_0);
        // A run that is removed or opened itself is no longer shown as a twin.
        page().open("twin");
        QCOMPARE(page().comparisonState().model(), QString());
        waitForAnswers();
        QCOMPARE(figure<CurveChart>("kernels").curves().size(), std::size_t(2));
    }

    void everySubsetOfBandsIsReadAndCanBeCancelled() {
        openModel();
        page().showPanel<SubsetsPanel>();
        control<QSpinBox>("Number of bands")->setValue(2);
        QTest::mouseClick(control<QPushButton>("Evaluate every subset"), Qt::LeftButton);
        waitForAnswers();
        QVERIFY(state().answer(answers::subsets) != nullptr);
        QCOMPARE(state().answer(answers::subsets)->subsets.size(), std::size_t(4));
        QCOMPARE(figure<SubsetsView>("band-subsets").figureCsv().count('\n'), 5);
        // They are unknown for another text or change.
        control<QCheckBox>("q and k not rotated")->click();
        QVERIFY(state().answer(answers::subsets) == nullptr);
        QTest::mouseClick(control<QPushButton>("As trained"), Qt::LeftButton);
        waitForAnswers();
        QTest::mouseClick(control<QPushButton>("Evaluate every subset"), Qt::LeftButton);
        waitForAnswers();
        // Without changes, the set of all bands gives the model's loss.
        double whole = 0;
        for (const BandSubset& subset : state().answer(answers::subsets)->subsets)
            if (subset.kept.size() == 2) whole = subset.loss;
        QVERIFY(std::abs(whole - state().answer(answers::predictions)->loss) < 1e-9);
        // A long text takes time and can be cancelled.
        page().readText(QString(kText).repeated(100));
        waitForAnswers();
        QTest::mouseClick(control<QPushButton>("Evaluate every subset"), Qt::LeftButton);
        QTRY_VERIFY(state().isAsking());
        QTest::mouseClick(control<QPushButton>("Cancel"), Qt::LeftButton);
        QVERIFY(!state().isAsking());
        page().readText(kText);
        waitForAnswers();
        QCOMPARE(state().answer(answers::predictions)->ids.size(), std::size_t(13));
    }

    // One set of controls: the continuation by the unchanged model with what it attended to, and below it the
    // continuation with the change.
    void theModelWritesOn() {
        openModel();
        page().showPanel<GenerationPanel>();
        control<QLineEdit>("Prompt")->clear();  // continues the text of the page
        control<QSpinBox>("Tokens to generate")->setValue(4);
        QTest::mouseClick(control<QPushButton>("Generate"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!state().isAsking(), 60000);
        QVERIFY2(state().answer(answers::continuation) != nullptr, qPrintable(state().message()));
        QCOMPARE(state().answer(answers::continuation)->prompt, std::string(kText));
        QVERIFY(state().answer(answers::generated_text) == nullptr);  // there is no change
        control<QCheckBox>("q and k not rotated")->click();
        waitForAnswers();
        control<QLineEdit>("Prompt")->setText("5>E5");
        QTest::mouseClick(control<QPushButton>("Generate"), Qt::LeftButton);
        waitForAnswers();
        QTRY_VERIFY_WITH_TIMEOUT(!state().isAsking(), 60000);
        QCOMPARE(state().answer(answers::continuation)->prompt, std::string("5>E5"));
        QVERIFY2(state().answer(answers::generated_text) != nullptr, qPrintable(state().message()));
        QVERIFY(state().answer(answers::generated_text)->generated.size() <= 4);
        auto* generated_text = control<QLabel>("Text generated by the changed model");
        QVERIFY2(generated_text->isVisible() && generated_text->text().startsWith("with the change: "),
                 qPrintable(generated_text->text()));
    }

    // Settings of versions with two pages are still read.
    void formerViewsAreRestored() {
        const auto front = [this] { return page().chooser().currentItem()->text(); };
        page().setViewSettings(
            {{"view.models", "2"}, {"view.models_model", "run"}, {"view.models_head", "1.1"}});
        QCOMPARE(front(), QString("Pairs"));
        QCOMPARE(state().model(), QString("run"));
        waitForAnswers();
        QCOMPARE(state().layer(), 1);
        QCOMPARE(state().head(), 1);
        page().setViewSettings({{"view.inspect", "1"}, {"view.inspect_run", "twin"}});
        QCOMPARE(front(), QString("Generate"));
        QCOMPARE(state().model(), QString("twin"));
        const ViewSettings now = page().viewSettings();
        page().setViewSettings({{"view.inspect_panel", "Layers"}});
        QCOMPARE(front(), QString("Layers"));
        page().setViewSettings({{"view.inspect_panel", "Heads over training"}});
        QCOMPARE(front(), QString("Snapshots"));
        page().setViewSettings(now);
        QCOMPARE(front(), QString("Generate"));
        waitForAnswers();
    }

    // All are seen at once, and the keyboard reaches them.
    void everyPanelIsListedInASmallWindow() {
        window_->resize(1000, 640);
        page().open("run");
        waitForAnswers();
        QListWidget& list = page().chooser();
        QCOMPARE(list.count(), 14);
        for (int row = 0; row < list.count(); ++row) {
            const QRect name = list.visualItemRect(list.item(row));
            QVERIFY(list.item(row)->text().count(' ') <= 1 && !list.item(row)->toolTip().isEmpty());
            QVERIFY2(list.viewport()->rect().contains(name), qPrintable(list.item(row)->text()));
            QVERIFY(list.sizeHintForColumn(0) <= list.viewport()->width());
        }
        list.setFocus();
        for (int row = 1; row < list.count(); ++row) {
            QTest::keyClick(&list, Qt::Key_Down);
            QCOMPARE(list.currentRow(), row);
        }
        QVERIFY(page().panel<LearnedPanel>().isVisible());
        QVERIFY(!page().panel<TextPanel>().isVisible());
        // The panels have the room of the changes, unless these are wanted.
        QTest::keyClick(&list, Qt::Key_Home);
        auto* changes = control<QToolButton>("Ablations and changes");
        QVERIFY(changes->isVisible() && !changes->isChecked() && !changePanel().isVisible());
        QTest::mouseClick(changes, Qt::LeftButton);
        QVERIFY(changePanel().isVisible());
        page().setViewSettings({{"view.inspect_panel", "Bands"}});  // former name of Pairs
        QVERIFY(page().panel<PairsPanel>().isVisible() && !changePanel().isVisible());
        window_->resize(1300, 860);
        QTRY_VERIFY(changePanel().isVisible() && changes->isChecked());
    }

    // Every panel is of the checkpoint that is chosen.
    void anOlderCheckpointIsLookedInto() {
        page().open("run");
        waitForAnswers();
        QCOMPARE(state().step(), std::optional<std::int64_t>(4));
        const double last = state().answer(answers::predictions)->loss;
        auto* steps = control<QComboBox>("Step of the model");
        steps->setCurrentIndex(steps->findText("checkpoint 2"));
        waitForAnswers();
        QCOMPARE(state().step(), std::optional<std::int64_t>(2));
        QVERIFY(state().answer(answers::predictions)->loss != last);
        steps->setCurrentIndex(0);
        waitForAnswers();
        QCOMPARE(state().answer(answers::predictions)->loss, last);
    }

    void problemsAreSolvedWithAndWithoutTheChange() {
        openModel();
        QVERIFY(!control<QPushButton>("Solve 64 problems")->isVisible());
        page().open("run");
        waitForAnswers();
        auto* solve = control<QPushButton>("Solve 64 problems");
        QVERIFY(solve->isVisible());
        QTest::mouseClick(solve, Qt::LeftButton);
        waitForAnswers();
        auto* said = control<QLabel>("Effect of the change on solved problems");
        QVERIFY2(said->text().contains("of 64 solved (95 % interval"), qPrintable(said->text()));
        QVERIFY(!said->text().contains("with the change"));
        control<QCheckBox>("outputs not rotated back")->click();
        QVERIFY(said->text().isEmpty());
        waitForAnswers();
        QTest::mouseClick(solve, Qt::LeftButton);
        waitForAnswers();
        QVERIFY2(said->text().contains("with the change"), qPrintable(said->text()));
    }

    // Rows appear and disappear depending on the model, and none overlap.
    void theChangePanelShowsEveryRow() {
        for (const QString& model : {model("llama"), QString("run"), QString("twin"), QString("run")}) {
            page().open(model);
            waitForAnswers();
            QTest::qWait(50);
            QList<QWidget*> rows;
            for (QWidget* widget : changePanel().findChildren<QWidget*>(Qt::FindDirectChildrenOnly))
                if (widget->isVisible() && !widget->size().isEmpty()) rows << widget;
            QVERIFY(rows.contains(control<QPushButton>("As trained")));
            QCOMPARE(rows.contains(control<QPushButton>("Solve 64 problems")), model != this->model("llama"));
            for (const QWidget* a : rows)
                for (const QWidget* b : rows)
                    QVERIFY2(a == b || !a->geometry().intersects(b->geometry()),
                             qPrintable(model + ": " + a->accessibleName() + " over " + b->accessibleName()));
        }
    }

    void longTextsLayersAndPatching() {
        openModel();
        page().showPanel<LayersPanel>();
        waitForAnswers();
        QVERIFY(state().answer(answers::lens) != nullptr);
        QCOMPARE(figure<HeatMapView>("logit-lens").map().values->rows(),
                 static_cast<Eigen::Index>(state().summary()->layers + 1));
        // After the last layer, the prediction is the model's own.
        QVERIFY(std::abs((*figure<HeatMapView>("logit-lens").map().values)(2, 4) -
                         state().answer(answers::predictions)->nll[4]) < 1e-5);
        page().showPanel<LengthsPanel>();
        QTest::mouseClick(control<QPushButton>("Read with scaled frequencies"), Qt::LeftButton);
        waitForAnswers();
        QCOMPARE(figure<CurveChart>("longer-text").curves().size(), std::size_t(4));
        const CurveChart::Curve& ntk = figure<CurveChart>("longer-text").curves()[2];
        QVERIFY2(ntk.label.startsWith("NTK-aware: "), qPrintable(ntk.label));
        QCOMPARE(ntk.x.front(), 0.0);  // each token at its position
        page().readText(QString(kText).repeated(4));
        control<QLineEdit>("Needle")->setText("ABC");
        control<QLineEdit>("Question")->setText("XY");
        control<QLineEdit>("Answer")->setText("C");
        QTest::mouseClick(control<QPushButton>("Needle test"), Qt::LeftButton);
        waitForAnswers();
        QVERIFY2(state().answer(answers::needle) != nullptr, qPrintable(state().message()));
        QCOMPARE(figure<HeatMapView>("needle").map().values->rows(), Eigen::Index(4));
        QCOMPARE(figure<HeatMapView>("needle").map().values->cols(), Eigen::Index(5));
        page().showPanel<PatchPanel>();
        page().readText(kText);
        auto* other = control<QLineEdit>("Other text");
        QTest::keyClicks(other, "5>E5");
        QTest::mouseClick(control<QPushButton>("Patch every head"), Qt::LeftButton);
        waitForAnswers();
        QVERIFY2(state().message().contains("the same number of tokens"), qPrintable(state().message()));
        page().showPanel<LayersPanel>();
        QCOMPARE(state().message(), QString());  // it belongs to the other panel
        page().showPanel<PatchPanel>();
        other->clear();
        QVERIFY(!control<QPushButton>("Patch every head")->isEnabled());
        other->setText("A>E5>33W5>E:Z");
        QTest::mouseClick(control<QPushButton>("Patch every head"), Qt::LeftButton);
        waitForAnswers();
        QVERIFY2(state().answer(answers::patch) != nullptr, qPrintable(state().message()));
        click(figure<HeatMapView>("patching"), figure<HeatMapView>("patching").cellRect(1, 2).center());
        waitForAnswers();
        QVERIFY(state().answer(answers::patch_positions) != nullptr);
        // Of two clicks in quick succession, the second counts.
        click(figure<HeatMapView>("patching"), figure<HeatMapView>("patching").cellRect(0, 1).center());
        click(figure<HeatMapView>("patching"), figure<HeatMapView>("patching").cellRect(1, 2).center());
        waitForAnswers();
        QCOMPARE(state().answer(answers::patch_positions)->head, std::int64_t(2));
        QCOMPARE(figure<BarChart>("patching-positions").categories().size(), std::size_t(13));
        QVERIFY(std::abs(figure<BarChart>("patching-positions").series().front().values.back() -
                         state().answer(answers::patch)->restored[1][2]) < 1e-5);
    }

    // The explorer computes the same scores from the model's q and k as the model itself.
    void theAttentionPageTakesSuchAModelAsItsSource() {
        openModel();
        page().showPanel<HeadsPanel>();
        state().setHead(1, 2);
        waitForAnswers();
        AttentionState& attention = window_->attentionState();
        attention.useRun(model("llama"));
        QTRY_VERIFY_WITH_TIMEOUT(!attention.isAsking(), 60000);
        Setup setup = attention.setup();
        setup.run_text = kText;
        setup.layer = 1;
        setup.head = 2;
        setup.query = 12;
        window_->selection().set(setup, "test");
        QTRY_VERIFY_WITH_TIMEOUT(!attention.isAsking(), 60000);
        QVERIFY2(attention.isReady(), qPrintable(attention.message()));
        QCOMPARE(attention.sourceText(), QString("layer 1, head 2 of llama"));
        const Eigen::VectorXd of_model = state().answer(answers::attention)->map.values->row(12).transpose();
        QVERIFY((attention.weightRow() - of_model).cwiseAbs().maxCoeff() < 2e-5);
        QCOMPARE(attention.tokenNames().size(), 13);
    }

    // Parts of a change that the next model does not support are removed.
    void aHeadIsShownOrAblatedFromAnyPictureOfIt() {
        openModel();
        page().showPanel<HeadsPanel>();
        waitForAnswers();
        HeadsView& grid = figure<HeadsView>("all-heads");
        const auto head = grid.headAt(QRectF(grid.rect()).center());
        QVERIFY(head);
        const QString title = headTitle(head->first, head->second);
        chooseInMenu(grid, {"Ablate " + title});
        QCOMPARE(state().change().layer, std::optional<std::int64_t>(head->first));
        QCOMPARE(state().change().head, std::optional<std::int64_t>(head->second));
        QVERIFY(control<QCheckBox>("zero the heads' output")->isChecked());
        waitForAnswers();
        QVERIFY(state().answer(answers::changed_predictions) != nullptr);
        // The answers may have changed the layout: the menu opens on the same head again.
        QTRY_VERIFY(grid.headAt(QRectF(grid.rect()).center()) == head);
        chooseInMenu(grid, {"Ablate nothing"});
        QVERIFY(state().change().isEmpty());
        waitForAnswers();
        chooseInMenu(grid, {"Show the values of " + title});
        QCOMPARE(page().chooser().currentItem()->text(), QString("Values"));
        QCOMPARE(std::pair(state().layer(), state().head()), *head);
        page().showPanel<PairsPanel>();
        waitForAnswers();
        HeatMapView& bands = figure<HeatMapView>("bands");
        const int row = bands.cellAt(QRectF(bands.rect()).center()).y();
        const HeadReport& report = state().answer(answers::heads)->heads.at(static_cast<std::size_t>(row));
        chooseInMenu(bands, {"Show the attention of " +
                             headTitle(static_cast<int>(report.layer), static_cast<int>(report.head))});
        QCOMPARE(page().chooser().currentItem()->text(), QString("Heads"));
    }

    void aHeadIsWalkedThroughStageByStage() {
        page().open("run");
        page().readText("12+34=46");
        waitForAnswers();
        page().showPanel<HeadsPanel>();
        waitForAnswers();
        HeadsView& grid = figure<HeadsView>("all-heads");
        const auto head = grid.headAt(QRectF(grid.rect()).center());
        QVERIFY(head);
        chooseInMenu(grid, {"Walk through " + headTitle(head->first, head->second)});
        QCOMPARE(page().chooser().currentItem()->text(), QString("Walkthrough"));
        waitForAnswers();
        const auto& panel = page().panel<WalkthroughPanel>();
        auto& stages = *control<QListWidget>("Stage");
        auto *token = control<QSpinBox>("Token n"), *key = control<QSpinBox>("Key j");
        auto& bars = figure<BarChart>("walkthrough");
        const auto& arrows = figure<PairArrows>("walkthrough-pairs");
        const Walkthrough* answer = state().answer(answers::walkthrough);
        QVERIFY2(answer != nullptr, qPrintable(state().message()));
        QCOMPARE(std::pair(static_cast<int>(answer->layer), static_cast<int>(answer->head)), *head);
        QCOMPARE(answer->token, 7);
        // The arrow keys go through all stages, and every one describes itself.
        QStringList titles, texts;
        stages.setFocus();
        for (int stage = 0; stage < stages.count(); ++stage) {
            titles << stages.currentItem()->text().mid(3).trimmed();
            texts << panel.text();
            const bool rotates = titles.back().startsWith("Rotation");
            QCOMPARE(arrows.isVisible(), rotates);
            QCOMPARE(bars.isVisible(), !rotates);
            QVERIFY(rotates ? !arrows.pairs().empty() : !bars.categories().empty());
            QTest::keyClick(&stages, Qt::Key_Right);
        }
        QCOMPARE(titles, QStringList({"Residual stream", "Query, key, value", "Rotation", "Scores", "Weights",
                                      "Rotation of values", "Weighted sum", "Rotation back", "Output",
                                      "Prediction"}));
        texts.removeDuplicates();
        QCOMPARE(texts.size(), titles.size());
        QVERIFY(!control<QPushButton>("Next stage")->isEnabled());
        QTest::keyClick(&stages, Qt::Key_Left);
        QCOMPARE(stages.currentRow(), 8);
        auto* next = control<QPushButton>("Next stage");
        next->setFocus();
        QTest::keyClick(next, Qt::Key_Space);
        QCOMPARE(stages.currentRow(), 9);
        QVERIFY(stages.hasFocus());
        // A key is chosen by a click, and stays with another head; the first token sees only itself.
        stages.setCurrentRow(4);
        QCOMPARE(bars.series().front().values, answer->weights);
        click(bars, bars.categoryRect(3).center());
        QCOMPARE(key->value(), 3);
        state().setHead(head->first, 1 - head->second);
        waitForAnswers();
        QCOMPARE(key->value(), 3);
        QCOMPARE(stages.currentRow(), 4);
        token->setValue(0);
        waitForAnswers();
        QCOMPARE(key->maximum(), 0);
        QCOMPARE(bars.series().front().values, std::vector<double>{1});
        // Values of llama do not rotate; another text begins at its last token.
        stages.setCurrentRow(7);
        page().open(model("llama"));
        page().readText(kText);
        waitForAnswers();
        QCOMPARE(stages.count(), 8);
        QCOMPARE(stages.currentRow(), 0);
        QCOMPARE(token->value(), 12);
        page().open("run");
        waitForAnswers();
        QCOMPARE(stages.currentRow(), 7);
        // A change of the head is part of it.
        control<QCheckBox>("outputs not rotated back")->click();
        waitForAnswers();
        QCOMPARE(stages.count(), 9);
        QVERIFY(stages.findItems("Rotation back", Qt::MatchContains).isEmpty());
    }

    /// The hint names pairs that the model has, and an empty base is the model's own.
    void fieldsOfAChangeSayWhatTheModelHas() {
        openModel();
        const std::int64_t pairs = std::ssize(state().summary()->theta);
        QCOMPARE(control<QLineEdit>("Ablated pairs")->placeholderText(),
                 QString("such as %1-%2").arg(pairs / 2).arg(pairs - 1));
        auto* base = control<QLineEdit>("Base of the frequencies");
        QCOMPARE(base->text(), QString());
        base->setFocus();
        QTest::keyClicks(base, "500");
        QCOMPARE(state().change().base, 500.0);
        base->selectAll();
        QTest::keyClick(base, Qt::Key_Delete);
        QCOMPARE(state().change().base, 0.0);
        QVERIFY(state().change().isEmpty());
    }

    void aChangeIsFittedToTheModel() {
        page().open("run");
        waitForAnswers();
        control<QCheckBox>("outputs not rotated back")->click();
        waitForAnswers();
        QVERIFY(state().answer(answers::changed_predictions) != nullptr);
        page().open("twin");
        waitForAnswers();
        QVERIFY2(state().message().isEmpty(), qPrintable(state().message()));
        QVERIFY(state().change().isEmpty());
        QVERIFY2(!effect().contains("with the change"), qPrintable(effect()));
    }

    // Its first layer is no mixture, which leaves a gap.
    void expertsAreThoseThatEachTokenTakes() {
        page().open(model("ernie4_5_moe"));
        page().readText(kText);
        choosePanel("Experts");
        waitForAnswers();
        const ExpertsAnswer* answer = state().answer(answers::experts);
        QVERIFY2(answer != nullptr, qPrintable(state().message()));
        HeatMapView& choices = figure<HeatMapView>("experts");
        HeatMapView& counts = figure<HeatMapView>("expert-counts");
        QCOMPARE(answer->layers.front().layer, std::int64_t(1));
        QCOMPARE(choices.map().values->rows(), Eigen::Index(3));
        QVERIFY(choices.map().values->row(0).array().isNaN().all());
        QCOMPARE(pageReadoutAt(choices, choices.cellRect(0, 3).center().toPoint()),
                 QString("layer 0 is not a mixture of experts"));
        QCOMPARE(choices.map().values->cols(), Eigen::Index(13));
        QCOMPARE((*choices.map().values)(1, 3), static_cast<double>(answer->layers[0].experts[3][0]));
        QCOMPARE(counts.map().values->cols(), static_cast<Eigen::Index>(state().summary()->experts));
        QCOMPARE(counts.map().values->row(1).sum(),
                 static_cast<double>(13 * state().summary()->experts_per_token));
        const QString said = pageReadoutAt(choices, choices.cellRect(1, 3).center().toPoint());
        for (std::size_t k = 0; k < answer->layers[0].experts[3].size(); ++k)
            QVERIFY2(said.contains(QString("expert %1 with weight 0.").arg(answer->layers[0].experts[3][k])),
                     qPrintable(said));
        QVERIFY2(said.startsWith(QString("layer 1, token 3, “5”: ")), qPrintable(said));
        const QString counted = pageReadoutAt(counts, counts.cellRect(1, 1).center().toPoint());
        QVERIFY2(counted.contains(QString("expert 1: %1 of 13 tokens").arg(answer->layers[0].counts[1])),
                 qPrintable(counted));
        auto* color = control<QComboBox>("Color of the chosen experts");
        color->setFocus();
        QTest::keyClick(color, Qt::Key_Down);
        QCOMPARE((*choices.map().values)(1, 3), answer->layers[0].weights[3][0]);
        QVERIFY(choices.figureCsv().startsWith("layer,token,weight\n0,0,nan\n"));
        checkInputs();
        // A change to the model reaches its routers.
        const Eigen::MatrixXd before = *choices.map().values;
        control<QCheckBox>("q and k not rotated")->click();
        waitForAnswers();
        QVERIFY(choices.map().values->row(1) != before.row(1));
        QStringList wrong;
        for (const Figure* figure : page().panel<ExpertsPanel>().figures())
            for (const QSize& size : {QSize(330, 300), QSize(720, 480)})
                wrong += labelProblems(*figure, size);
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join('\n')));
    }

    void modelsWithoutExpertsAreSaidToBeSo() {
        choosePanel("Experts");
        openModel();
        QVERIFY2(state().message().isEmpty(), qPrintable(state().message()));
        QVERIFY(state().answer(answers::experts) == nullptr);
        const auto &choices = figure<HeatMapView>("experts"), &counts = figure<HeatMapView>("expert-counts");
        QVERIFY(choices.isVisible() && choices.map().values == nullptr);
        QVERIFY(choices.accessibleDescription().contains("has no mixtures of experts"));
        QVERIFY(!counts.isVisible());
        // The next model has some.
        page().open(model("ernie4_5_moe"));
        waitForAnswers();
        QVERIFY2(state().answer(answers::experts) != nullptr, qPrintable(state().message()));
        QVERIFY(counts.isVisible());
    }

    void modelsWithoutRotationAreSaidToBeSo() {
        page().open(model("gpt2"));
        page().readText(kText);
        page().showPanel<PairsPanel>();
        waitForAnswers();
        QVERIFY2(state().message().isEmpty(), qPrintable(state().message()));
        QVERIFY(!state().summary()->rotates);
        page().showPanel<HeadsPanel>();
        waitForAnswers();
        QVERIFY(state().answer(answers::attention) != nullptr);
    }

    void whatIsNoModelIsSaid() {
        const QString broken = models_.filePath("broken.gguf");
        std::ofstream(broken.toStdString()) << "GGUF and nothing more";
        page().open(broken);
        waitForAnswers();
        QVERIFY2(state().message().contains("broken.gguf"), qPrintable(state().message()));
        QVERIFY(state().summary() == nullptr);
        page().open(model("llama"));
        page().readText(kText);
        waitForAnswers();
        QCOMPARE(state().message(), QString());
        QVERIFY(state().answer(answers::predictions) != nullptr);
        // Models opened before are listed unless they no longer exist.
        QVERIFY(control<QComboBox>("Model")->findData(model("llama")) >= 0);
        QFile::remove(broken);
        window_.reset();
        openWindow("Inspect");
        QVERIFY(control<QComboBox>("Model")->findData(model("llama")) >= 0);
        QCOMPARE(control<QComboBox>("Model")->findData(broken), -1);
    }

    /// Such a model opens with its heads, and no panel complains about predictions that it only shows beside
    /// other answers.
    void aModelWithoutAHeadShowsItsHeadsFirst() {
        makeSmallModel("esm", QDir(models_.path()));
        QFile weights(models_.filePath("esm/model.safetensors"));
        QVERIFY(weights.open(QIODevice::ReadWrite));
        const QByteArray all = weights.readAll().replace("\"lm_head.", "\"pooler.h");
        weights.seek(0);
        QCOMPARE(weights.write(all), all.size());
        weights.close();
        page().showPanel<TextPanel>();
        page().open(model("esm"));
        page().readText(kText);
        waitForAnswers();
        QVERIFY2(state().summary() != nullptr, qPrintable(state().message()));
        QVERIFY(!state().summary()->has_head);
        QCOMPARE(page().chooser().currentItem()->text(), QString("Heads"));
        for (const char* panel : {"Heads", "Walkthrough", "Pairs"}) {
            choosePanel(panel);
            waitForAnswers();
            QCOMPARE(state().message(), QString());
        }
        QVERIFY(state().answer(answers::heads) != nullptr);
        choosePanel("Text");
        waitForAnswers();
        QVERIFY2(state().message().contains("no output head"), qPrintable(state().message()));
    }

    void noLabelIsCutOrLaidOverAnother() {
        openModel();
        control<QLineEdit>("Ablated pairs")->setText("0");
        QTest::keyClick(control<QLineEdit>("Ablated pairs"), Qt::Key_Return);
        page().showPanel<SubsetsPanel>();
        control<QSpinBox>("Number of bands")->setValue(2);
        QTest::mouseClick(control<QPushButton>("Evaluate every subset"), Qt::LeftButton);
        page().showPanel<LengthsPanel>();
        QTest::mouseClick(control<QPushButton>("Read with scaled frequencies"), Qt::LeftButton);
        page().showPanel<PatchPanel>();
        control<QLineEdit>("Other text")->setText("A>E5>33W5>E:Z");
        QTest::mouseClick(control<QPushButton>("Patch every head"), Qt::LeftButton);
        for (int row = 0; row < page().chooser().count(); ++row) {
            page().chooser().setCurrentRow(row);
            waitForAnswers();
        }
        QStringList wrong;
        for (const Figure* figure : page().figures())
            for (const QSize& size : {QSize(330, 300), QSize(440, 330), QSize(720, 480), QSize(1280, 800)})
                wrong += labelProblems(*figure, size);
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join('\n')));
    }

  private:
    static constexpr auto kText = "5>E5>33W5>E:M";

    InspectPage& page() const { return window_->inspectPage(); }
    ChangePanel& changePanel() const { return *page().findChild<ChangePanel*>(); }
    InspectState& state() const { return page().state(); }
    QString model(const char* family) const { return models_.filePath(family); }
    QString effect() const { return control<QLabel>("Effect of the change on the loss")->text(); }

    void waitForAnswers() const {
        QTRY_VERIFY_WITH_TIMEOUT(!state().isAsking() && !page().comparisonState().isAsking(), 60000);
    }
    void openModel() const {
        page().open(model("llama"));
        page().readText(kText);
        waitForAnswers();
        QVERIFY2(state().answer(answers::predictions) != nullptr, qPrintable(state().message()));
    }
    /// What the page says below its panels after moving the pointer to a position in a map.
    QString pageReadoutAt(HeatMapView& map, const QPoint& at) const {
        readoutAt(&map, at);
        return page().findChild<QLabel*>("readout")->text();
    }
    /// Chooses a panel in the list with the mouse.
    void choosePanel(const QString& title) const {
        QListWidget& list = page().chooser();
        const QList<QListWidgetItem*> found = list.findItems(title, Qt::MatchExactly);
        QCOMPARE(found.size(), 1);
        QTest::mouseClick(list.viewport(), Qt::LeftButton, {}, list.visualItemRect(found.front()).center());
        QCOMPARE(list.currentItem(), found.front());
    }
    void typeText(const QString& text) const {
        page().text().selectAll();
        QTest::keyClicks(&page().text(), text);
    }
    static void click(QWidget& view, const QPointF& at) {
        QTest::mouseClick(&view, Qt::LeftButton, {}, at.toPoint());
    }

    void train(const QString& trainer, const QString& method) {
        QProcess process;
        QStringList arguments{"run",       "addition-small",
                              "--runs",    folder_.path(),
                              "--name",    method == "rope" ? "twin" : "run",
                              "--threads", "1",
                              "-q"};
        for (const char* setting :
             {"model.width=32", "model.layers=2", "model.heads=2", "model.feed_forward=32",
              "training.steps=4", "training.warmup_steps=1", "snapshots.every=0", "evaluation.every=4",
              "training.batch=4", "evaluation.problems=4", "checkpoints.every=1", "checkpoints.keep=10"})
            arguments << "--set" << setting;
        arguments << "--set"
                  << "model.position=" + method;
        process.start(trainer, arguments);
        QVERIFY(process.waitForFinished(120000));
        QVERIFY2(process.exitCode() == 0, process.readAllStandardError());
    }

    QTemporaryDir models_;
};

ROPER_GUI_TEST(InspectAnswersTest, "inspect_answers_test")
#include "inspect_answers_test.moc"
