// roper-lab: the window, and figures without a window.

#include <CLI/CLI.hpp>
#include <QApplication>
#include <QRegularExpression>
#include <QTimer>
#include <algorithm>
#include <iostream>
#include <memory>

#include "app/command_help/command_texts.h"
#include "app/command_help/number_checks.h"
#include "app/roper_lab/display.h"
#include "app/roper_lab/figures.h"
#include "app/roper_lab/pictures.h"
#include "commit.h"
#include "core/base/console.h"
#include "core/base/error.h"
#include "core/base/this_process.h"
#include "core/runs/run_folder.h"
#include "ui/theme/appearance.h"
#include "ui/theme/lab_style.h"
#include "ui/window/main_window.h"

namespace {

struct Arguments {
    std::string runs = roper::defaultRunsFolder().string();
    std::string page, tour;
    std::string out, shell;
    roper::FigureOptions options;
    int scale = 1, width = 1360, height = 860;
    bool figure = false, screenshots = false, gallery = false, thumbnails = false, first_frame = false;
};

/// Drops irrelevant messages of Qt's offscreen platform; real problems are still shown.
void dropQtMessages(QtMsgType type, const QMessageLogContext&, const QString& message) {
    if (type == QtCriticalMsg || type == QtFatalMsg) std::cerr << message.toStdString() << "\n";
}

/// Figures need no display; this makes them work without one.
void useOffscreenPlatform() {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    qInstallMessageHandler(dropQtMessages);
}

/// @returns an exit code if the program should end at once
std::optional<int> parse(Arguments& arguments, int argc, char** argv) {
    CLI::App app{"A laboratory for rotary position embeddings.", "roper-lab"};
    app.set_version_flag("--version", roper::versionLine("roper-lab"));
    app.add_option("--runs", arguments.runs, "Folder of the runs (default: $ROPER_LAB_RUNS, else ./runs)");
    app.add_option("--page", arguments.page,
                   "Page to show: rotation, spectrum, attention, value-mixing, training, compare or inspect; "
                   "or the guided tour: tour, tour/STOP");
    app.add_option("--tour", arguments.tour, "Open a guided tour of your own (docs/tours.md)");
    app.add_flag("--first-frame", arguments.first_frame,
                 "Exit after the first frame is painted, to measure the startup time");
    CLI::App* figure = app.add_subcommand("figure", "Write one figure without a window");
    figure->add_option("kind", arguments.options.kind, "Name of the figure (see below)");
    figure
        ->add_option("--out", arguments.out,
                     "File: .png, .svg, .pdf or .csv; .tex for a LaTeX figure with its .pdf and .csv; "
                     ".gif with --animate")
        ->required();
    figure->add_option("--set", arguments.options.settings, "Settings (see below): key=value key=value …");
    figure->add_option(
        "--run,--model", arguments.options.run,
        "Run, or published model, to show; explorer pages take q, k and v from its layer and head");
    figure->add_option("--query", arguments.options.query, "Short for --set query=N");
    figure->add_option("--example", arguments.options.example,
                       "Start from an example of the pages Rotation, Spectrum, Attention and Value mixing "
                       "(the explorer pages); docs/gallery shows them");
    figure->add_option("--config", arguments.options.config,
                       "Start from the rotation of a model: its config.json or its folder");
    CLI::Option* animate = figure->add_option(
        "--animate", arguments.options.animate,
        "Write an animation in which a setting changes: blend=0..1, or 0..1..0 there and back");
    figure
        ->add_option("--frames", arguments.options.frames,
                     "Number of frames of --animate (default: about 40, or one for each whole number)")
        ->check(CLI::Range(2, 1000))
        ->needs(animate);
    figure->add_option("--seconds", arguments.options.seconds, "Duration of --animate (default: 4)")
        ->check(CLI::Range(0.1, 600.0))
        ->needs(animate);
    figure->add_flag("--dark", arguments.options.dark, "Draw on a dark background");
    figure->add_option("--runs", arguments.runs,
                       "Folder of the runs (default: $ROPER_LAB_RUNS, else ./runs)");
    figure->footer([&] {
        useOffscreenPlatform();
        const QApplication application(argc, argv);
        return roper::figureHelp();
    });
    CLI::App* screenshots =
        app.add_subcommand("screenshots", "Write a screenshot of every page, without a window");
    screenshots->add_option("--out", arguments.out, "Folder to write")->required();
    screenshots->add_option("--runs", arguments.runs, "Folder of the runs to show");
    screenshots->add_option("--width", arguments.width, "Width of the window")->check(CLI::Range(400, 8000));
    screenshots->add_option("--height", arguments.height, "Height of the window")
        ->check(CLI::Range(300, 8000));
    screenshots->add_option("--scale", arguments.scale, "Pixels per device-independent pixel")
        ->check(CLI::Range(1, 4));
    CLI::App* gallery =
        app.add_subcommand("gallery", "Write a figure of every example, and a page with all of them");
    gallery->add_option("--out", arguments.out, "Folder to write")->required();
    gallery->add_flag("--thumbnails", arguments.thumbnails,
                      "Instead write thumbnails.png, the small pictures of the examples in the window "
                      "(resources/examples)");
    CLI::App* completion =
        app.add_subcommand("completion", "Print a script that completes commands, options and names");
    completion->add_option("shell", arguments.shell, "Shell that runs the script")
        ->required()
        ->check(CLI::IsMember(roper::completionShells()));
    CLI::App* man = app.add_subcommand("man", "Print the manual page, for man(1)");
    app.failure_message(roper::explainParseError);
    roper::requireWholeNumbers(app);
    roper::setValuePlaceholders(
        app, {{"--runs", "FOLDER"}, {"--run", "RUN"}, {"--tour", "FILE"}, {"--out", "FOLDER"}});
    figure->get_option("--out")->type_name("FILE");
    // `--set` consumes all following words; one without "=" is the figure's kind.
    figure->final_callback([&options = arguments.options] {
        const auto word = std::ranges::find_if(options.settings, [](const std::string& setting) {
            return setting.find('=') == std::string::npos;
        });
        if (options.kind.empty() && word != options.settings.end()) {
            options.kind = *word;
            options.settings.erase(word);
        }
        if (options.kind.empty()) throw CLI::RequiredError("kind");
    });
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : static_cast<int>(roper::ErrorKind::usage);
    }
    if (completion->parsed() || man->parsed()) {
        const roper::CommandDescription program = roper::describeCommands(app);
        std::cout << (man->parsed() ? roper::manPage(program, roper::programVersion())
                                    : roper::completionScript(program, arguments.shell));
        return 0;
    }
    arguments.figure = figure->parsed();
    arguments.screenshots = screenshots->parsed();
    arguments.gallery = gallery->parsed();
    return std::nullopt;
}

/// Opens the tour stop or page given on the command line; at the first start, offers the guided tour.
void open(roper::MainWindow& window, const Arguments& arguments) {
    const QString page = QString::fromStdString(arguments.page);
    if (!arguments.tour.empty()) window.setTour(roper::readTour(arguments.tour));
    if (page == "tour" || page.startsWith("tour/") || (page.isEmpty() && !arguments.tour.empty()))
        return window.startTour(page.section('/', 1));
    if (!page.isEmpty() && !window.showPage(page))
        throw roper::Error(roper::ErrorKind::usage, "unknown page \"" + arguments.page + "\"");
    window.offerTour();
}

/// The arguments as a line for a shell.
QString commandLine(QStringList arguments) {
    static const QRegularExpression kPlain("^[A-Za-z0-9_@%+=:,./-]+$");
    arguments.front() = QStringLiteral("roper-lab");
    for (QString& argument : arguments)
        if (!kPlain.match(argument).hasMatch())
            argument = QString::fromStdString(roper::shellQuoted(argument.toStdString()));
    return arguments.join(' ');
}

int runProgram(QApplication& application, const Arguments& arguments) {
    const QString out = QString::fromStdString(arguments.out);
    if (arguments.figure) {
        roper::FigureOptions options = arguments.options;
        options.out = out;
        options.command = commandLine(QApplication::arguments());
        options.runs = arguments.runs;
        return roper::makeFigure(options);
    }
    if (arguments.screenshots)
        return roper::makeScreenshots(out, arguments.runs, {arguments.width, arguments.height},
                                      arguments.scale);
    if (arguments.gallery) return arguments.thumbnails ? roper::makeThumbnails(out) : roper::makeGallery(out);
    roper::MainWindow window{std::filesystem::path(arguments.runs)};
    open(window, arguments);
    window.show();
    if (arguments.first_frame) {
        // Show and expose are events; the timer fires after them and after the resulting painting.
        QTimer::singleShot(0, &window, [&window] {
            window.repaint();
            QCoreApplication::exit(0);
        });
    }
    return application.exec();
}

}  // namespace

int main(int argc, char** argv) {
    roper::setProgramCommit(ROPER_LAB_COMMIT);
    const roper::TerminalOutputFilter clean_output;
    return roper::runReportingErrors("roper-lab", [&] {
        Arguments arguments;
        if (const auto code = parse(arguments, argc, argv)) return *code;
        const bool draws = arguments.figure || arguments.screenshots || arguments.gallery;
        if (draws) useOffscreenPlatform();
        roper::limitOpenMpSpinning();  // for trainers, which restart themselves if it is not set
        const auto application =
            draws ? std::make_unique<QApplication>(argc, argv) : roper::createApplication(argc, argv);
        QGuiApplication::setWindowIcon(QIcon(QStringLiteral(":/desktop/roper-lab.svg")));
        QGuiApplication::setDesktopFileName(QStringLiteral("roper-lab"));
        roper::requireFonts();
        QApplication::setOrganizationName("RoPER Lab");
        // Figures are the same for everyone: they neither read nor change the user's settings.
        QApplication::setApplicationName(draws ? "roper-lab-pictures" : "roper-lab");
        if (draws)
            QApplication::setStyle(new roper::LabStyle);
        else
            roper::applyApplicationStyle();
        return runProgram(*application, arguments);
    });
}
