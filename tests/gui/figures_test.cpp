#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDialog>
#include <QFileDialog>
#include <QFontDatabase>
#include <QFontInfo>
#include <QLineEdit>
#include <QMessageBox>
#include <QMimeData>
#include <QPainter>
#include <QProcess>
#include <QTest>
#include <QTimer>

#include "core/base/error.h"
#include "core/runs/run_recorder.h"
#include "tests/support/gui_test.h"
#include "tests/support/label_problems.h"
#include "tests/support/small_model.h"
#include "ui/charts/export_dialog.h"
#include "ui/charts/figure_export.h"
#include "ui/charts/latex.h"
#include "ui/page/page_figure.h"
#include "ui/theme/zoom.h"
#include "ui/window/main_window.h"

using namespace roper;

/// Every figure of every page in every format, also without a window.
class FiguresTest : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        QStandardPaths::setTestModeEnabled(true);
        QCoreApplication::setOrganizationName("RoPER Lab tests");
        QCoreApplication::setApplicationName("figures_test");
        QSettings().clear();
        makeRun();
        window_ = std::make_unique<MainWindow>(runs_.path().toStdString());
        window_->show();
        QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
        askModel();
    }

    void everyPictureInEveryFormat() {
        Setup narrow;
        narrow.head_dim = 16;  // cells of larger maps may be exported as pixels
        window_->selection().set(narrow, "test");
        for (Page* page : window_->pages()) {
            window_->showPage(page);
            QTest::qWait(100);
            page->refreshNow();
            for (const Figure* figure : page->figures()) {
                const QString base = out_.filePath(figure->figureName());
                for (const char* suffix : {".png", ".svg", ".pdf", ".csv"})
                    exportFigure(*figure, base + suffix, {}, Theme::light());
                const QImage image(base + ".png");
                QCOMPARE(image.size(), figure->figureSize() * 2);
                QVERIFY2(isMoreThanOneColour(image), qPrintable(base));
                const QByteArray svg = read(base + ".svg");
                QVERIFY2(svg.contains("<text"), qPrintable(base));
                QVERIFY2(!svg.contains("<image"), qPrintable(base + ": an SVG must hold lines, not pixels"));
                const QByteArray pdf = read(base + ".pdf");
                QVERIFY(pdf.startsWith("%PDF"));
                QVERIFY2(pdf.contains("/FontFile"), "fonts must be embedded");
                QVERIFY2(!pdf.contains("/Subtype /Image"), "a PDF must hold lines, not pixels");
                const QByteArray csv = read(base + ".csv");
                const auto columns = csv.left(csv.indexOf('\n')).count(',');
                QVERIFY(columns > 1);
                static const QRegularExpression quoted("\"[^\"]*\"");
                for (const QString& line : QString::fromUtf8(csv).trimmed().split('\n'))
                    QCOMPARE(QString(line).remove(quoted).count(','), columns);
            }
        }
    }

    // For a column of 85 mm, or two columns for wide tables, text has 7 to 8 pt whatever the figure's size on
    // the screen, in a file that is valid XML. The size is the font's size times the scale of the enclosing
    // group.
    void textOnPaperCanBeRead() {
        for (Page* page : window_->pages()) {
            window_->showPage(page);
            page->refreshNow();
            for (const Figure* figure : page->figures()) {
                ExportOptions options;
                options.width_mm =
                    figure->minFigureSize().width() < 350 ? 85 : 174;  // a wide table needs two columns
                const QByteArray svg = figureSvg(*figure, options, Theme::light());
                double smallest = 1e9, font = 0, scale = 1;
                QXmlStreamReader reader(svg);
                while (!reader.atEnd()) {
                    if (reader.readNext() != QXmlStreamReader::StartElement) continue;
                    const QXmlStreamAttributes attributes = reader.attributes();
                    const QStringList matrix =
                        attributes.value("transform").toString().remove("matrix(").remove(')').split(',');
                    if (reader.name() == QLatin1String("g") && matrix.size() == 6)
                        scale = std::hypot(matrix[0].toDouble(), matrix[1].toDouble());
                    if (attributes.hasAttribute("font-size")) font = attributes.value("font-size").toDouble();
                    if (reader.name() != QLatin1String("text")) continue;
                    // Exponents and subscripts, as in −2i/r, are smaller.
                    if (reader.readElementText().trimmed().size() > 5)
                        smallest = std::min(smallest, font * scale);
                }
                QVERIFY2(!reader.hasError(), qPrintable(figure->figureName() + ": " + reader.errorString()));
                constexpr double kPointsPerPixel = 0.75;
                QVERIFY2(smallest * kPointsPerPixel > 6.7, qPrintable(QStringLiteral("%1: %2 pt")
                                                                          .arg(figure->figureName())
                                                                          .arg(smallest * kPointsPerPixel)));
            }
        }
    }

    /// Like labels_test, for the pages that show runs.
    void noLabelOfARunIsCutOrLaidOverAnother() {
        QStringList wrong;
        for (Page* page : {window_->pages()[4], window_->pages()[5], window_->pages()[6]}) {
            window_->showPage(page);
            QTest::qWait(100);
            page->refreshNow();
            for (const Figure* figure : page->figures())
                for (const QSize& size :
                     {QSize(330, 300), QSize(440, 330), QSize(560, 420), QSize(720, 480), QSize(1280, 800)})
                    if (size.width() >= figure->minFigureSize().width() &&
                        size.height() >= figure->minFigureSize().height())
                        wrong += labelProblems(*figure, size);
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join('\n')));
    }

    /// All text of a figure contrasts with its background, in both themes.
    void everyTextStandsOut() {
        QStringList wrong;
        for (Page* page : window_->pages()) {
            window_->showPage(page);
            QTest::qWait(100);
            page->refreshNow();
            for (const Figure* figure : page->figures())
                wrong += contrastProblems(*figure, QSize(900, 600));
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join('\n')));
    }

    /// All figures of a page in one: each is present with its letter, text and numbers.
    void theWholePageIsOnePicture() {
        for (Page* page : window_->pages()) {
            window_->showPage(page);
            QTest::qWait(50);
            const PageFigure whole(*page);
            QVERIFY(whole.parts() > 0);
            const QString base = out_.filePath(whole.figureName());
            for (const char* suffix : {".png", ".svg", ".pdf", ".csv"})
                exportFigure(whole, base + suffix, {}, Theme::light());
            QCOMPARE(QImage(base + ".png").size(), whole.figureSize() * 2);
            QVERIFY(isMoreThanOneColour(QImage(base + ".png")));
            QVERIFY(!read(base + ".svg").contains("<image"));
            QCOMPARE(read(base + ".csv").count("\n# ") + 1, static_cast<qsizetype>(whole.parts()));
            QCOMPARE(whole.figureCaption().count('('), whole.figureCaption().count(')'));
            QVERIFY(whole.figureCaption().startsWith("(a) "));
            const QStringList wrong = labelProblems(whole, whole.figureSize());
            QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join('\n')));
        }
    }

    void aLegendIsLeftOutIfWished() {
        window_->showPage("Spectrum");
        QTest::qWait(50);
        int legends = 0;
        for (Page* page : window_->pages()) {
            for (const Figure* figure : page->figures()) {
                ExportOptions without;
                without.legend = false;
                const QByteArray with = figureSvg(*figure, {}, Theme::light());
                const QByteArray bare = figureSvg(*figure, without, Theme::light());
                legends += bare.count("<text") < with.count("<text");
                if (!figure->hasLegend())
                    QCOMPARE(bare, with);
                else  // where a legend of one line went, there may be room for another tick
                    QVERIFY2(bare != with, qPrintable(figure->figureName()));
                QCOMPARE(figureSvg(*figure, {}, Theme::light()), with);  // and it is restored
            }
        }
        QVERIFY2(legends >= 4, qPrintable(QString::number(legends)));
    }

    /// A copied figure is available as pixels and as vector graphics, so that an editor can choose.
    void aCopyIsPixelsAndShapes() {
        window_->showPage("Spectrum");
        auto& chart = window_->spectrumPage().cosineMapView();
        QTimer::singleShot(0, &chart, [] {
            auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
            QVERIFY(menu != nullptr);
            for (QAction* action : menu->actions())
                if (action->text() == "Copy figure") action->trigger();
            menu->close();
        });
        showExportMenu(chart, chart.mapToGlobal(QPoint(9, 9)), &chart);
        const QMimeData* data = QApplication::clipboard()->mimeData();
        QVERIFY(data->hasImage());
        const QByteArray svg = data->data("image/svg+xml");
        QXmlStreamReader reader(svg);
        while (!reader.atEnd())
            reader.readNext();
        QVERIFY2(!reader.hasError(), qPrintable(reader.errorString()));
        QVERIFY(svg.contains("<text") && !svg.contains("<image"));
    }

    /// Regression: a form feed from pdftotext and escape codes of a terminal made the SVG invalid XML.
    void anSvgWithControlCharactersIsStillXml() {
        class Texts : public Figure {
          public:
            QString figureName() const override { return "texts"; }
            QString figureTitle() const override { return "a\f<b>"; }
            QString figureCaption() const override { return "c\x1b[31m & d"; }
            QString figureCsv() const override { return {}; }
            QSize figureSize() const override { return {400, 300}; }
            void paintFigure(QPainter& painter, const QRectF& area, const Theme&) const override {
                for (int c = 0; c < 0x20; ++c)
                    painter.drawText(area.topLeft() + QPointF(0, 9.0 * c), QString("x") + QChar(c) + "y");
                for (const int c : {0x7F, 0x85, 0xD800, 0xDC00, 0xFFFE, 0xFFFF})
                    painter.drawText(area.center(), QString("x") + QChar(c) + "y");
            }
        };
        ExportOptions options;
        options.caption = true;
        const QByteArray svg = figureSvg(Texts(), options, Theme::light());
        QXmlStreamReader reader(svg);
        QString all;
        while (!reader.atEnd()) {
            reader.readNext();
            if (reader.isCharacters()) all += reader.text();
        }
        QVERIFY2(!reader.hasError(), qPrintable(reader.errorString()));
        for (const char* text :
             {"a\u240c<b>", "c\u241b[31m & d", "x\u240cy", "x\u241by", "x\u2400y", "x\ufffdy"})
            QVERIFY2(all.contains(QString::fromUtf8(text)), text);
        for (const char c : svg)
            QVERIFY(static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\t' || c == '\r');
    }

    /// Qt may name a font that no machine has ("Sans Serif"), for which renderers draw no text.
    void anSvgNamesTheFontsThatWereUsedAndAGenericOne() {
        const QString family = QFontInfo(Zoom::instance().figureFont()).family();
        QVERIFY(QFontDatabase::families().contains(family));
        const QByteArray svg = figureSvg(*window_->rotationPage().figures().front(), {}, Theme::light());
        static const QRegularExpression attribute("font-family=\"([^\"]*)\"");
        QSet<QString> named;
        for (auto found = attribute.globalMatch(svg); found.hasNext();)
            named << found.next().captured(1);
        QCOMPARE(named, QSet<QString>{family + ", sans-serif"});
        const QByteArray mono = "<text font-family=\"" +
                                QFontDatabase::systemFont(QFontDatabase::FixedFont).family().toUtf8() +
                                "\">font-family=&quot;a&quot;</text>";
        QVERIFY2(readableSvg(mono).contains(", monospace\">font-family=&quot;a&quot;"),
                 readableSvg(mono).constData());
    }

    void aFigureInMillimetresAndWithCaption() {
        const Figure* circle = window_->rotationPage().figures().front();
        ExportOptions options;
        options.width_mm = 84;
        options.caption = true;
        exportFigure(*circle, out_.filePath("column.svg"), options, Theme::light());
        const QByteArray svg = read(out_.filePath("column.svg"));
        const QRegularExpressionMatch width = QRegularExpression("width=\"([0-9.]+)mm").match(svg);
        QVERIFY2(std::abs(width.captured(1).toDouble() - 84) < 0.2,
                 svg.left(300).constData());  // integer pixels
        QVERIFY(svg.contains("Rotation of pair"));
    }

    /// Figures behind another tab are not redrawn on every change, but exported in their current state.
    void whatIsBehindAnotherTabIsExportedAsItIs() {
        const auto toCsv = [](const Page& page, const QString& name) {
            for (const Figure* figure : page.figures())
                if (figure->figureName() == name) return figure->figureCsv();
            return QString();
        };
        for (const auto& [page, name, tab] :
             {std::tuple<Page*, QString, QString>{&window_->rotationPage(), "four-ways", "view.rotation"},
              {&window_->mixingPage(), "shift-test", "view.mixing_below"},
              {&window_->mixingPage(), "distance-shares", "view.mixing_below"}}) {
            window_->showPage(page);
            page->setViewSettings({{tab.toStdString(), name == "distance-shares" ? "1" : "0"}});
            const QString before = toCsv(*page, name);
            Setup other = window_->selection().setup();
            other.head_dim = other.head_dim == 8 ? 12 : 8;
            other.query = 5;
            other.mixed_tokens = MixedTokens::all;
            other.value_rotation_strength = other.value_rotation_strength == 0.5 ? 0.25 : 0.5;
            window_->selection().set(other, "test");
            page->refreshNow();
            const QString exported = toCsv(*page, name);
            QVERIFY2(exported != before, qPrintable(name));
            page->setViewSettings(
                {{tab.toStdString(), name == "shift-test" || name == "four-ways" ? "2" : "0"}});
            QTest::qWait(50);
            QCOMPARE(toCsv(*page, name), exported);
        }
    }

    void aPngIsTheSamePictureAtEveryScale() {
        // Cells of a map that are only a little larger than a pixel cannot be compared by pixel.
        Setup coarse = window_->selection().setup();
        coarse.head_dim = 16;
        coarse.distances = 17;
        coarse.heads = 2;
        window_->selection().set(coarse, "test");
        for (Page* page : window_->pages()) {
            window_->showPage(page);
            for (const Figure* figure : page->figures()) {
                ExportOptions options;
                const auto at_scale = [&](int scale) {
                    options.scale = scale;
                    return meansOfBlocks(figureImage(*figure, options, Theme::light()), 16 * scale);
                };
                const std::vector<double> once = at_scale(1), thrice = at_scale(3);
                QCOMPARE(once.size(), thrice.size());
                double worst = 0;
                for (std::size_t block = 0; block < once.size(); ++block)
                    worst = std::max(worst, std::abs(once[block] - thrice[block]));
                QVERIFY2(worst < 12, qPrintable(figure->figureName() + " " + QString::number(worst)));
            }
        }
    }

    void theCsvHoldsTheNumbersOnTheScreen() {
        window_->rotationPage().state().loadWorkedExample();
        const QString csv = window_->rotationPage().figures()[5]->figureCsv();
        QVERIFY2(csv.contains("0,0,0.5,-0.353876"), qPrintable(csv));
    }

    void aFigureForLatex() {
        const Figure& figure = *window_->pages().front()->figures().front();
        const QString path = out_.filePath("for latex_1.tex");
        exportFigure(
            figure, path,
            {.width_mm = 84, .caption = true, .made_by = "roper-lab figure rotation\nand a second line"},
            Theme::light());
        const QString latex = QString::fromUtf8(read(path));
        QVERIFY2(latex.startsWith("% roper-lab figure rotation\n% and a second line\n\\begin{figure}\n"),
                 qPrintable(latex));
        QVERIFY(latex.contains("\\includegraphics[width=84mm]{for latex_1.pdf}\n"));
        QVERIFY(latex.contains("  \\caption{" + latexText(figure.figureCaption()) + "}\n"));
        QVERIFY(latex.endsWith("  \\label{fig:for latex_1}\n\\end{figure}\n"));
        QVERIFY(read(out_.filePath("for latex_1.pdf")).startsWith("%PDF"));
        QCOMPARE(QString::fromUtf8(read(out_.filePath("for latex_1.csv"))), figure.figureCsv());
        // The caption is text of the document and not part of the picture.
        exportFigure(figure, out_.filePath("plain.pdf"), {.width_mm = 84}, Theme::light());
        QCOMPARE(read(out_.filePath("for latex_1.pdf")).size(), read(out_.filePath("plain.pdf")).size());
        QVERIFY_THROWS_EXCEPTION(Error, exportFigure(figure, out_.filePath("50%.tex"), {}, Theme::light()));
        QVERIFY(!QFile::exists(out_.filePath("50%.pdf")));
    }

    /// The dialog writes all three files, says which setup made them, and asks before it replaces the other
    /// two.
    void latexFromTheDialog() {
        window_->showPage("Rotation");
        const Figure& figure = *window_->pages().front()->figures().front();
        const QString path = out_.filePath("dialog.tex");
        int questions = 0;
        QTimer person;
        connect(&person, &QTimer::timeout, &person, [&] {
            QWidget* shown = QApplication::activeModalWidget();
            if (auto* chooser = qobject_cast<QFileDialog*>(shown)) {
                chooser->findChild<QLineEdit*>()->setText(path);
                QMetaObject::invokeMethod(chooser, "accept");
            } else if (auto* message = qobject_cast<QMessageBox*>(shown)) {
                ++questions;
                QVERIFY2(message->text().startsWith("dialog.pdf and dialog.csv already exist"),
                         qPrintable(message->text()));
                message->button(QMessageBox::No)->click();
            } else if (auto* dialog = qobject_cast<QDialog*>(shown)) {
                for (auto* box : dialog->findChildren<QComboBox*>())
                    if (const int latex = box->findData("tex"); latex >= 0) box->setCurrentIndex(latex);
                for (auto* box : dialog->findChildren<QCheckBox*>())
                    if (box->text().startsWith("Caption")) QVERIFY(!box->isEnabled());
                dialog->accept();
            }
        });
        person.start(20);
        exportByDialog(figure, window_.get());
        QVERIFY(QString::fromUtf8(read(path)).contains("\n% roper-lab:setup?"));
        QVERIFY(read(out_.filePath("dialog.pdf")).startsWith("%PDF"));
        QCOMPARE(questions, 0);
        QVERIFY(QFile::remove(path));
        exportByDialog(figure, window_.get());
        QCOMPARE(questions, 1);
        QVERIFY(!QFile::exists(path));
    }

    void textForLatex() {
        QCOMPARE(latexText("θᵢ = b^(−2i/d), R(−n)·Σⱼ aₙⱼ"),
                 "$\\theta_{i}$ = b\\textasciicircum{}($-$2i/d), R($-$n)$\\cdot\\Sigma_{j}$ a$_{nj}$");
        QCOMPARE(latexText("50 % of {a_b} & $c #1 \\ <x>"),
                 "50 \\% of \\{a\\_b\\} \\& \\$c \\#1 \\textbackslash{} \\textless{}x\\textgreater{}");
        QCOMPARE(latexText("2·10⁻⁵, x² ± ½"), "2$\\cdot$10$^{-5}$, x$^{2}$ $\\pm$ $\\frac{1}{2}$");
        QCOMPARE(latexText("日本, é – “a”"), "日本, é – “a”");
    }

    void anotherSuffixIsRefused() {
        const Figure* circle = window_->rotationPage().figures().front();
        QVERIFY_THROWS_EXCEPTION(Error, exportFigure(*circle, out_.filePath("a.bmp"), {}, Theme::light()));
        QVERIFY_THROWS_EXCEPTION(Error, exportFigure(*circle, "/nowhere/at/all.png", {}, Theme::light()));
        QVERIFY(!QFile::exists(out_.filePath("a.bmp")));
    }

    void figuresWithoutAWindow() {
        const auto run = [&](const QStringList& arguments) {
            QProcess process;
            process.start(QString::fromLocal8Bit(qgetenv("ROPER_LAB")), arguments);
            process.waitForFinished(60000);
            return std::pair{process.exitCode(), QString::fromUtf8(process.readAllStandardError())};
        };
        const QString file = out_.filePath("figure.csv");
        QCOMPARE(run({"figure", "worked-example", "--out", file}).first, 0);
        QVERIFY(read(file).contains("-0.353876"));
        QCOMPARE(run({"figure", "vector", "--out", file, "--set", "head_dim=4", "--set", "position=3",
                      "--set", "schedule=intro", "--set", "pairing=interleaved", "--set", "x=0.5,-1,1.5,2"})
                     .first,
                 0);
        QVERIFY(read(file).contains("-0.353876"));
        QCOMPARE(run({"figure", "loss", "--out", out_.filePath("curves.pdf"), "--runs", runs_.path()}).first,
                 0);
        QCOMPARE(run({"figure", "loss", "--out", file, "--runs", runs_.path()}).first, 0);
        QCOMPARE(read(file).count('\n'), 401);  // 400 steps and a header
        // tests/process/figure_test.py makes every kind.
        QCOMPARE(run({"figure", "decay", "--out", file}).first, 0);
        QVERIFY(read(file).contains("unscaled,256,6.5430973229"));  // d = 128 by default, as in Su et al.
        QCOMPARE(run({"figure", "position-table", "--out", file, "--set", "head_dim=4"}).first, 0);
        QVERIFY(read(file).contains("\n3,0,0.14112000805"));  // sin 3
        QCOMPARE(run({"figure", "mistake", "--out", file, "--set", "mistake=values_twice"}).first, 0);
        QVERIFY(read(file).startsWith("query,feature_of_the_output,difference"));
        QVERIFY(run({"figure", "scores", "--out", file, "--run", "missing", "--runs", runs_.path()})
                    .second.contains("No run"));
        QVERIFY(run({"figure", "scores", "--out", file, "--run", runs_.path() + "/missing"})
                    .second.contains("No run"));
        QVERIFY(
            run({"figure", "scores", "--out", file, "--set", "source=run"}).second.contains("needs a run"));
        QVERIFY(run({"figure", "mixing", "--out", file, "--set", "run=nope"}).second.contains("No run"));
        QVERIFY(run({"figure", "scores", "--out", file, "--set", "tokens=9999"})
                    .second.contains("from 1 to 4096"));
        QVERIFY(
            run({"figure", "scores", "--out", file, "--set", "width=5"}).second.contains("width must be"));
        const auto [code, message] = run({"figure", "rotation", "--out", file, "--set", "positon=3"});
        QCOMPARE(code, 2);
        QVERIFY2(message.contains("did you mean \"position\""), qPrintable(message));
        QCOMPARE(run({"figure", "nothing", "--out", file}).first, 2);
        QCOMPARE(run({"figure", "rotation", "--out", out_.filePath("x.gif")}).first, 2);
    }

    void screenshotsShowEveryPageLightAndDark() {
        // The program beside the trainer has no sanitizers, with which this would take a minute.
        QProcess process;
        process.start(QFileInfo(QString::fromLocal8Bit(qgetenv("ROPER_TRAIN"))).dir().filePath("roper-lab"),
                      {"screenshots", "--out", out_.filePath("shots"), "--runs", runs_.path()});
        QVERIFY(process.waitForFinished(120000));
        QCOMPARE(process.exitCode(), 0);
        const QStringList files =
            QString::fromUtf8(process.readAllStandardOutput()).split('\n', Qt::SkipEmptyParts);
        QVERIFY(files.size() > 10);
        for (const QString& file : files)
            QVERIFY2(QFileInfo(file).size() > 0, qPrintable(file));
        for (const char* name : {"rotation-light", "rotation-dark", "training-light", "training-dark"})
            QVERIFY(QFile::exists(out_.filePath(QString("shots/%1.png").arg(name))));
    }

  private:
    /// Mean grey of every whole block of so many pixels squared: smoothing of edges hardly changes it, a
    /// label at another place does.
    static std::vector<double> meansOfBlocks(const QImage& image, int side) {
        std::vector<double> means;
        for (int top = 0; top + side <= image.height(); top += side)
            for (int left = 0; left + side <= image.width(); left += side) {
                double sum = 0;
                for (int y = top; y < top + side; ++y)
                    for (int x = left; x < left + side; ++x)
                        sum += qGray(image.pixel(x, y));
                means.push_back(sum / (side * side));
            }
        return means;
    }

    /// Asks everything that the Inspect page can ask a model.
    void askModel() {
        const QString trainer = QString::fromLocal8Bit(qgetenv("ROPER_TRAIN"));
        qputenv("PATH", QFileInfo(trainer).absolutePath().toLocal8Bit() + ":" + qgetenv("PATH"));
        makeSmallModel("llama", QDir(models_.path()));
        InspectPage& page = window_->inspectPage();
        window_->showPage(&page);
        page.open(models_.filePath("llama"));
        page.readText("5>E5>33W5>E:M5>E5>33W5>E:M");
        const auto request = [&](const AnswerSpec& what) {
            Question question;
            question.count = 2;
            question.needle = "ABC";
            question.question = "XY";
            question.answer = "C";
            question.other = "A>E5>33W5>E:M5>E5>33W5>E:Z";
            question.positions = &what == &answers::patch_positions;
            page.state().request(what, question);
            QTRY_VERIFY_WITH_TIMEOUT(!page.state().isAsking(), 60000);
            QVERIFY2(page.state().message().isEmpty(), qPrintable(page.state().message()));
        };
        for (int row = page.chooser().count() - 1; row >= 0; --row) {
            page.chooser().setCurrentRow(row);
            QTRY_VERIFY_WITH_TIMEOUT(!page.state().isAsking(), 60000);
        }
        request(answers::subsets);
        request(answers::lengths);
        request(answers::needle);
        request(answers::patch);
        request(answers::patch_positions);
    }

    void makeRun() {
        Specification specification;
        const RunFolder run = createRun(runs_.path().toStdString(), "example", specification);
        RunRecorder recorder(run);
        for (int step = 1; step <= 400; ++step) {
            MetricsRow row;
            row.step = step;
            row.time_s = step * 0.1;
            row.tokens = step * 1000;
            row.loss = 3.0 / step + 0.2;
            recorder.record(row);
        }
        for (int step = 100; step <= 400; step += 100) {
            EvaluationRow row;
            row.step = step;
            row.correct = step / 4;
            row.total = 128;
            row.loss = 3.0 / step + 0.3;
            row.loss_lower_bound = 0.15;
            recorder.record(row);
        }
    }

    static QByteArray read(const QString& path) {
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

    static bool isMoreThanOneColour(const QImage& image) {
        const QRgb first = image.pixel(0, 0);
        for (int y = 0; y < image.height(); y += 3)
            for (int x = 0; x < image.width(); x += 3)
                if (image.pixel(x, y) != first) return true;
        return false;
    }

    QTemporaryDir runs_, out_;
    QTemporaryDir models_;
    std::unique_ptr<MainWindow> window_;
};

ROPER_GUI_TEST(FiguresTest, "figures_test")
#include "figures_test.moc"
