#include "app/roper_lab/pictures.h"

#include <QApplication>
#include <QDir>
#include <QEventLoop>
#include <QPainter>
#include <QTemporaryDir>
#include <QTimer>
#include <functional>
#include <iostream>

#include "app/roper_lab/figures.h"
#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "ui/charts/figure_export.h"
#include "ui/explorer/example_list.h"
#include "ui/live/published_models.h"
#include "ui/live/run_texts.h"
#include "ui/window/main_window.h"

namespace roper {
namespace {

constexpr int kRenderScale = 3;  // drawn this much larger, then reduced: else labels would fill the picture

QDir folderFor(const QString& out) {
    if (!QDir().mkpath(out)) throw Error(ErrorKind::disk, "cannot create the folder " + out.toStdString());
    return QDir(out);
}

FigureOptions optionsOf(const Example& example, const QString& out) {
    FigureOptions options;
    options.kind = example.figure;
    options.example = example.name;
    options.out = out;
    return options;
}

/// The figure of an example, reduced to fit a cell of the thumbnails.
QImage thumbnailOf(const Example& example) {
    const QTemporaryDir folder;
    const QString path = folder.filePath("figure.png");
    FigureOptions options = optionsOf(example, path);
    const QSize drawn = kRenderScale * kThumbnail;
    options.settings = {"width=" + std::to_string(drawn.width()), "height=" + std::to_string(drawn.height()),
                        "scale=1"};
    makeFigure(options);
    return QImage(path).scaled(kThumbnail, Qt::KeepAspectRatio, Qt::SmoothTransformation);
}

/// Runs the event loop until layouts, queued replots and timers are done.
void waitForLayout() {
    constexpr int kSettled_ms = 250;
    QEventLoop loop;
    QTimer::singleShot(kSettled_ms, &loop, &QEventLoop::quit);
    loop.exec();
}

void printPath(const QString& path) {
    std::cout << path.toStdString() << std::endl;
}

void saveScreenshot(QWidget& window, const QString& path, int scale) {
    waitForLayout();
    QImage image(window.size() * scale, QImage::Format_RGB32);
    image.setDevicePixelRatio(scale);
    QPainter painter(&image);
    window.render(&painter);
    painter.end();
    if (!image.save(path)) throw Error(ErrorKind::disk, "cannot write " + path.toStdString());
    printPath(path);
}

/// A prompt of the inspected run's task; "?" if no run is inspected.
QString problemOf(MainWindow& window) {
    const RunWatcher* run = window.runs().find(window.inspectPage().state().model());
    return run == nullptr ? QStringLiteral("?") : examplePrompt(*run);
}

void waitForAnswer(MainWindow& window) {
    waitWhile([&] { return window.inspectPage().state().isAsking(); }, "the answer of the model");
}

/// Opens the last run with snapshots; if none has any, the first run.
void openRunOnInspectPage(MainWindow& window) {
    InspectPage& page = window.inspectPage();
    QString chosen;
    for (const RunWatcher* run : window.runs().runs())
        if (run->specification() && (chosen.isEmpty() || run->hasSnapshots())) chosen = run->name();
    if (!chosen.isEmpty()) page.open(chosen);
    page.showPanel<SnapshotsPanel>();
    waitForAnswer(window);
}

/// Opens the first published model on this machine, otherwise the last run that has a checkpoint.
void openModelOnInspectPage(MainWindow& window) {
    const QStringList published = publishedModels();
    QString model = published.value(0);
    for (const RunWatcher* run : window.runs().runs())
        if (published.isEmpty() && run->specification() && !run->folder().checkpoints().empty())
            model = run->name();
    if (!model.isEmpty()) window.inspectPage().open(model);
    waitForAnswer(window);
}

template <class Panel>
void showModelPanel(MainWindow& window) {
    openModelOnInspectPage(window);
    window.inspectPage().showPanel<Panel>();
    waitForAnswer(window);
}

/// Sets what the page shows: the worked example on the Rotation page, a head of 64 features on the others, a
/// run on the Inspect page.
void prepare(MainWindow& window, const Page& page) {
    Setup setup;
    setup.head_dim = 64;
    setup.pair = 4;
    setup.overlays = {ScalingMethod::linear, ScalingMethod::yarn};
    setup.scaling.original_length = 2048;
    if (&page == &window.inspectPage()) openRunOnInspectPage(window);
    window.selection().replace(&page == &window.rotationPage() ? withWorkedExample(Setup{}) : setup);
}

/// "value-mixing-dark.png" for the view "Value mixing".
QString fileName(const QString& view, const QString& suffix) {
    return QStringLiteral("%1-%2.png").arg(view.toLower().replace(' ', '-'), suffix);
}

/// A further state of a page to be shown on a screenshot.
struct View {
    QString name;  ///< begins with the page's name and "-"
    std::function<void(MainWindow&)> show;
};

std::vector<View> additionalViews() {
    const auto with = [](auto change) {
        return [change](MainWindow& window) {
            Setup setup = window.selection().setup();
            change(setup);
            window.selection().replace(setup);
        };
    };
    const auto rotation_tab = [](const char* tab) {
        return [tab](MainWindow& w) { w.rotationPage().setViewSettings({{"view.rotation", tab}}); };
    };
    return {
        {"rotation-worked-example",
         [](MainWindow& w) { w.rotationPage().showWorkedExample(WorkedExampleView::kSteps); }},
        {"rotation-two-vectors", rotation_tab("1")},
        {"rotation-four-ways", rotation_tab("2")},
        {"attention-weights", with([](Setup& s) { s.map = MapKind::weights; })},
        {"attention-mistake", with([](Setup& s) {
             s.mistake = Mistake::wrong_direction;
             s.shift = 7;
             s.map = MapKind::shift_difference;
         })},
        {"value mixing-without-inverse", with([](Setup& s) {
             s.mistake = Mistake::no_inverse;
             s.shift = 12;
         })},
        {"value mixing-three-steps", [](MainWindow& w) { w.mixingPage().showTab(1); }},
        {"value mixing-moving", [](MainWindow& w) { w.mixingPage().showTab(2); }},
        {"value mixing-all-pairs", [](MainWindow& w) { w.mixingPage().showTab(3); }},
        {"inspect-generate",
         [](MainWindow& w) {
             w.inspectPage().showPanel<GenerationPanel>();
             Question question{"continuation", problemOf(w).toStdString()};
             question.count = 64;
             w.inspectPage().state().request(answers::continuation, question);
             waitForAnswer(w);
             w.inspectPage().panel<GenerationPanel>().continuation().choose(6);
         }},
        {"inspect-sizes",
         [](MainWindow& w) {
             w.inspectPage().showPanel<SizesPanel>();
             w.inspectPage().state().countSizes(8);
             waitWhile([&] { return w.inspectPage().state().sizes().isCounting(); },
                       "the answer of the model");
         }},
        {"inspect-heads", showModelPanel<HeadsPanel>},
        {"inspect-bands", showModelPanel<PairsPanel>},
        {"inspect-values", showModelPanel<ValuesPanel>},
        {"inspect-layers", showModelPanel<LayersPanel>},
        {"compare-outcomes", [](MainWindow& w) { w.comparePage().showTab(ComparePage::Tab::run_by_run); }},
        {"compare-seeds", [](MainWindow& w) { w.comparePage().showTab(ComparePage::Tab::seed_by_seed); }},
        {"compare-all", [](MainWindow& w) { w.comparePage().showTab(ComparePage::Tab::all_outcomes); }},
        {"compare-board", [](MainWindow& w) { w.comparePage().showTab(ComparePage::Tab::board); }},
    };
}

}  // namespace

int makeGallery(const QString& out) {
    const QDir folder = folderFor(out);
    std::string text =
        "# Gallery\n\nThe examples of the explorer pages (Rotation, Spectrum, Attention, Value mixing). In "
        "the window, choose one at\n"
        "the top of the page's controls. In a terminal, the command below a figure writes it (`.png`, "
        "`.svg`, "
        "`.pdf` or,\n"
        "with its numbers, `.csv`). `roper-lab gallery --out docs/gallery` writes all of them and this "
        "page.\n";
    std::string page;
    for (const Example& example : examples()) {
        const QString path = folder.filePath(QString::fromStdString(example.pictureName()));
        makeFigure(optionsOf(example, path));
        printPath(path);
        if (page != example.page)
            text += "\n## " + std::string(1, static_cast<char>(std::toupper(example.page[0]))) +
                    example.page.substr(1) + "\n";
        page = example.page;
        text += "\n### " + example.title + "\n\n" + example.description + "\n\n![" + example.title + "](" +
                example.pictureName() + ")\n\n```\nroper-lab figure " + example.figure + " --example " +
                example.name + " --out " + example.name + ".svg\n```\n";
    }
    const QString index = folder.filePath("index.md");
    writeFileAtomically(index.toStdString(), text);
    printPath(index);
    return 0;
}

int makeThumbnails(const QString& out) {
    const QString path = folderFor(out).filePath("thumbnails.png");
    QImage sheet(kThumbnail.width(), kThumbnail.height() * static_cast<int>(examples().size()),
                 QImage::Format_ARGB32);
    sheet.fill(Qt::transparent);
    QPainter painter(&sheet);
    for (const Example& example : examples()) {
        const QImage picture = thumbnailOf(example);
        QRect place = picture.rect();
        place.moveCenter(thumbnailCell(example).center());
        painter.drawImage(place.topLeft(), picture);
    }
    painter.end();
    if (!sheet.save(path)) throw Error(ErrorKind::disk, "cannot write " + path.toStdString());
    printPath(path);
    return 0;
}

int makeScreenshots(const QString& out, const std::filesystem::path& runs, const QSize& size, int scale) {
    const QDir folder = folderFor(out);
    for (const bool dark : {false, true}) {
        QApplication::setPalette(fixedPalette(dark));
        MainWindow window(runs, QueueLauncher::WorkerMode::no_worker);
        window.resize(size);
        window.show();
        window.runs().readAll();
        const QString suffix = dark ? "dark" : "light";
        for (Page* page : window.pages()) {
            window.showPage(page);
            prepare(window, *page);
            saveScreenshot(window, folder.filePath(fileName(page->name(), suffix)), scale);
        }
        for (const View& view : additionalViews()) {
            window.showPage(view.name.section('-', 0, 0));
            prepare(window, *window.currentPage());
            view.show(window);
            saveScreenshot(window, folder.filePath(fileName(view.name, suffix)), scale);
        }
        if (dark) continue;
        for (Page* page : window.pages()) {
            window.showPage(page);
            prepare(window, *page);
            waitForLayout();
            for (const Figure* figure : page->figures()) {
                for (const char* format : {"png", "svg", "pdf", "csv"}) {
                    const QString path = folder.filePath(figure->figureName() + "." + format);
                    exportFigure(*figure, path, {}, Theme::light());
                    printPath(path);
                }
            }
        }
    }
    return 0;
}

}  // namespace roper
