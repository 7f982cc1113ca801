#include "app/roper_lab/figures.h"

#include <QApplication>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <set>

#include "app/roper_lab/inspect_figures.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/explorer/setup_fields.h"
#include "core/explorer/setup_text.h"
#include "ui/charts/figure_export.h"
#include "ui/pages/compare/compare_fields.h"
#include "ui/window/main_window.h"

namespace roper {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

/// How a picture is drawn, apart from what it shows.
struct Canvas {
    QSize size{720, 480};
    int step = WorkedExampleView::kSteps;  ///< lines of the worked example
    ExportOptions options;
};

struct FigureRequest {
    Canvas canvas;
    Settings settings;  ///< of the setup

    bool has(const std::string& key, const std::string& value) const {
        return std::find(settings.begin(), settings.end(), std::pair(key, value)) != settings.end();
    }
    bool sets(const std::string& key) const {
        return std::any_of(settings.begin(), settings.end(),
                           [&](const auto& one) { return one.first == key; });
    }
};

const std::vector<Field<Canvas>>& canvasFields() {
    using C = Canvas;
    const auto of_options = [](FieldInfo info, auto member) {
        return field<C>(
            std::move(info), [member](C & canvas) -> auto& { return canvas.options.*member; });
    };
    static const std::vector<Field<C>> fields = {
        field<C>({"", "width", "pixels", "Width", IntegerRange{100, 10000}},
                 [](C& c) -> int& { return c.size.rwidth(); }),
        field<C>({"", "height", "pixels", "Height", IntegerRange{60, 10000}},
                 [](C& c) -> int& { return c.size.rheight(); }),
        of_options({"", "width_mm", "mm", "Width on paper", RealRange{0, 2000}}, &ExportOptions::width_mm),
        of_options({"", "scale", "", "Pixels of a PNG per pixel", IntegerRange{1, 8}}, &ExportOptions::scale),
        of_options({"", "caption", "", "1: the caption is drawn below", Flag()}, &ExportOptions::caption),
        field<C>({"", "step", "", "Lines of the worked example", IntegerRange{1, WorkedExampleView::kSteps}},
                 [](C& c) -> int& { return c.step; }),
    };
    return fields;
}

/// Whether a kind of picture follows from a setup; the others follow from runs, with settings of their own.
bool isOfSetup(const std::string& kind) {
    static const std::set<std::string> of_runs = {
        "compare-curves", "outcomes",       "paired-difference", "board",      "heads",           "head",
        "continuation",   "solved-by-size", "learned-positions", "length-map", "loss-by-position"};
    return of_runs.count(kind) == 0;
}

FigureRequest parse(const FigureOrder& order) {
    FigureRequest request;
    std::vector<std::string> canvas_keys;
    for (const auto& one : canvasFields())
        canvas_keys.push_back(one.name);
    if (order.kind == "rotation") request.canvas.size = {520, 520};
    if (order.kind == "mixing" || order.kind == "three-steps") request.canvas.size = {900, 440};
    std::vector<std::string> settings = order.settings;
    if (order.query) settings.push_back("query=" + std::to_string(*order.query));
    for (const std::string& setting : settings) {
        const auto [key, value] = splitSetting(setting);
        if (std::find(canvas_keys.begin(), canvas_keys.end(), key) != canvas_keys.end()) {
            findField(canvasFields(), key).set(request.canvas, value);
        } else {
            if (isOfSetup(order.kind)) findSetupField(key, canvas_keys);
            request.settings.emplace_back(key, value);
        }
    }
    return request;
}

void write(Figure& figure, const FigureOrder& order, const Canvas& canvas) {
    auto& widget = dynamic_cast<QWidget&>(figure);
    widget.resize(canvas.size);
    ExportOptions options = canvas.options;
    options.light_background = !order.dark;
    exportFigure(figure, order.out, options, Theme::of(fixedPalette(order.dark)));
}

/// Writes the figure of a page that has the name of the kind. @throws Error (other) if the page has none
void writeOf(const Page& page, const FigureOrder& order, const Canvas& canvas) {
    for (const Figure* figure : page.figures())
        if (figure->figureName().toStdString() == order.kind)
            return write(const_cast<Figure&>(*figure), order, canvas);
    throw Error(ErrorKind::other,
                "the page " + page.name().toStdString() + " draws no \"" + order.kind + "\"");
}

void writeRotation(const FigureOrder& order, const FigureRequest& request) {
    Selection selection;
    const Setup start =
        order.kind == "worked-example" && request.settings.empty() ? withWorkedExample(Setup{}) : Setup{};
    selection.replace(withSettings(start, request.settings));
    RotationPage page(selection, nullptr);
    page.refreshNow();
    page.showWorkedExample(request.canvas.step);
    writeOf(page, order, request.canvas);
}

void writeSpectrum(const FigureOrder& order, const FigureRequest& request) {
    Selection selection;
    Setup start;
    // The source's figures, unless told otherwise.
    start.head_dim = 128;
    selection.replace(withSettings(start, request.settings));
    SpectrumPage page(selection, nullptr);
    page.refreshNow();
    writeOf(page, order, request.canvas);
}

/// The setup of a picture of attention: the map that the kind asks for, and a mistake where one is shown.
Setup attentionSetup(const FigureOrder& order, const FigureRequest& request, const Setup& start) {
    Setup setup = withSettings(start, request.settings);
    if (order.kind == "position-bias" && !request.sets("method")) setup.method = "t5";
    if (order.kind == "scores") setup.map = MapKind::scores;
    if (order.kind == "weights") setup.map = MapKind::weights;
    const bool shows_difference = order.kind == "mistake" || order.kind == "shift-difference";
    if (!shows_difference) return setup;
    if (setup.shift == 0 && !request.sets("shift")) setup.shift = 7;
    setup.map = MapKind::shift_difference;
    if (order.kind == "mistake") {
        if (!request.sets("mistake")) {
            setup.mistake = Mistake::wrong_direction;
            std::cerr << "roper-lab: no mistake is named; wrong_direction is shown (--set mistake=…)\n";
        }
        if (!isSeenByShift(setup.mistake)) setup.map = MapKind::form_difference;
    }
    return setup;
}

/// Asks the run, and asks again for what the settings want of it.
void useRun(AttentionState& state, Selection& selection, const FigureOrder& order,
            const FigureRequest& request) {
    state.useRun(QString::fromStdString(order.run));
    state.waitForRun();
    selection.replace(attentionSetup(order, request, selection.setup()));
    state.waitForRun();
    if (state.isAsking())
        throw Error(ErrorKind::other, "the run \"" + order.run + "\" has not answered within a minute");
    if (!state.isReady()) throw Error(ErrorKind::usage, state.message().toStdString());
}

void writeAttention(const FigureOrder& order, const FigureRequest& request) {
    Selection selection;
    RunStore store(order.runs, nullptr);
    if (order.run.empty()) selection.replace(attentionSetup(order, request, Setup{}));
    AttentionState state(selection, store, nullptr);
    if (!order.run.empty()) {
        store.readAll();
        useRun(state, selection, order, request);
    }
    AttentionPage attention(state, nullptr);
    MixingPage mixing(state, nullptr);
    attention.refreshNow();
    mixing.refreshNow();
    while (attention.isComputing())
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    QCoreApplication::processEvents();
    const bool is_map = order.kind == "scores" || order.kind == "weights" || order.kind == "mistake" ||
                        order.kind == "shift-difference";
    if (is_map) return write(attention.map(), order, request.canvas);
    if (order.kind == "logit-by-pair") return write(attention.bars(), order, request.canvas);
    if (order.kind == "position-bias") return write(attention.biasChart(), order, request.canvas);
    if (order.kind == "position-table") return write(attention.table(), order, request.canvas);
    writeOf(mixing, order, request.canvas);
}

void writeCurves(const FigureOrder& order, const FigureRequest& request) {
    if (!request.settings.empty())
        throw Error(ErrorKind::usage,
                    "curves of runs have no setting \"" + request.settings.front().first + "\"");
    RunStore store(order.runs, nullptr);
    TrainerLauncher launcher(order.runs, nullptr);
    QueueKeeper queue(order.runs, QueueKeeper::Duty::watch, nullptr);
    TrainingPage page(store, launcher, queue, nullptr);
    store.readAll();
    if (store.runs().empty()) throw Error(ErrorKind::usage, "there are no runs in " + order.runs.string());
    MetricChart& chart = order.kind == "loss" ? page.lossChart() : page.accuracyChart();
    chart.resize(request.canvas.size);
    chart.redrawNow();
    write(chart, order, request.canvas);
}

void writeCompare(const FigureOrder& order, const FigureRequest& request) {
    RunStore store(order.runs, nullptr);
    store.readAll();
    if (store.runs().empty() && order.kind != "board")
        throw Error(ErrorKind::usage, "there are no runs in " + order.runs.string());
    ComparePage page(
        store, [] { return Specification(); }, nullptr);
    page.state().change(
        [&](CompareQuestion& question) { applySettings(compareFields(), question, request.settings); });
    if (!page.state().filterProblem().isEmpty())
        throw Error(ErrorKind::usage, page.state().filterProblem().toStdString());
    if (order.kind == "loss-by-position") page.lengths().what().setCurrentIndex(1);
    page.readEverything();
    writeOf(page, order, request.canvas);
}

void writeInspection(const FigureOrder& order, const FigureRequest& request) {
    RunStore store(order.runs, nullptr);
    store.readAll();
    InspectPage page(store, nullptr);
    prepareInspection(page, order.kind, order.run, request.settings);
    writeOf(page, order, request.canvas);
}

using Writer = void (*)(const FigureOrder&, const FigureRequest&);

const std::vector<std::pair<std::string, Writer>>& writers() {
    static const std::vector<std::pair<std::string, Writer>> all = {{"rotation", writeRotation},
                                                                    {"two-vectors", writeRotation},
                                                                    {"four-ways", writeRotation},
                                                                    {"dials", writeRotation},
                                                                    {"tokens", writeRotation},
                                                                    {"vector", writeRotation},
                                                                    {"worked-example", writeRotation},
                                                                    {"spectrum", writeSpectrum},
                                                                    {"cosine-map", writeSpectrum},
                                                                    {"decay", writeSpectrum},
                                                                    {"base-bound", writeSpectrum},
                                                                    {"scores", writeAttention},
                                                                    {"weights", writeAttention},
                                                                    {"shift-difference", writeAttention},
                                                                    {"mistake", writeAttention},
                                                                    {"logit-by-pair", writeAttention},
                                                                    {"position-bias", writeAttention},
                                                                    {"position-table", writeAttention},
                                                                    {"mixing", writeAttention},
                                                                    {"distance-shares", writeAttention},
                                                                    {"three-steps", writeAttention},
                                                                    {"shift-test", writeAttention},
                                                                    {"all-pairs", writeAttention},
                                                                    {"loss", writeCurves},
                                                                    {"accuracy", writeCurves},
                                                                    {"compare-curves", writeCompare},
                                                                    {"outcomes", writeCompare},
                                                                    {"paired-difference", writeCompare},
                                                                    {"board", writeCompare},
                                                                    {"length-map", writeCompare},
                                                                    {"loss-by-position", writeCompare},
                                                                    {"heads", writeInspection},
                                                                    {"head", writeInspection},
                                                                    {"continuation", writeInspection},
                                                                    {"solved-by-size", writeInspection},
                                                                    {"learned-positions", writeInspection}};
    return all;
}

/// A run by its path: its folder's name, and the folder around it.
void takeRunApart(FigureOrder& order) {
    const std::filesystem::path path(order.run);
    if (order.run.find('/') == std::string::npos) return;
    const std::filesystem::path folder = std::filesystem::absolute(path).lexically_normal();
    const bool trailing = folder.filename().empty();
    order.run = (trailing ? folder.parent_path() : folder).filename().string();
    order.runs = (trailing ? folder.parent_path() : folder).parent_path();
}

}  // namespace

std::vector<std::string> figureKinds() {
    std::vector<std::string> kinds;
    for (const auto& [kind, writer] : writers())
        kinds.push_back(kind);
    return kinds;
}

std::string figureSettingsHelp() {
    std::string help = "Settings (--set key=value):\n";
    const auto lineOf = [&](const FieldInfo& field) {
        const std::string gap(field.name.size() < 22 ? 24 - field.name.size() : 2, ' ');
        const std::string unit = field.unit.empty() ? "" : " " + field.unit;
        help += "  " + field.name + gap + field.help + " (" + acceptsText(field) + unit + ")\n";
    };
    for (const auto& one : canvasFields())
        lineOf(one);
    for (const SetupField& one : setupFields())
        lineOf(one);
    help += "Settings of compare-curves, outcomes and paired-difference:\n";
    for (const auto& one : compareFields())
        lineOf(one);
    help += "Settings of heads, head, continuation and solved-by-size (with --run):\n";
    for (const FieldInfo* one : inspectFieldInfos())
        lineOf(*one);
    return help;
}

int makeFigure(const FigureOrder& asked) {
    FigureOrder order = asked;
    if (order.kind == "value-mixing") order.kind = "mixing";
    FigureRequest request = parse(order);
    // A run named among the settings, as in a copied setup, is asked like one of --run.
    for (const auto& [key, value] : request.settings)
        if (key == "run" && order.run.empty()) order.run = value;
    if (order.run.empty() && request.has("source", "run"))
        throw Error(ErrorKind::usage, "source=run needs a run: --run NAME");
    takeRunApart(order);
    QApplication::setPalette(fixedPalette(order.dark));
    for (const auto& [kind, writer] : writers()) {
        if (kind != order.kind) continue;
        writer(order, request);
        return 0;
    }
    throw Error(ErrorKind::usage,
                "there is no picture \"" + order.kind + "\"; `roper-lab figure --help` lists them");
}

}  // namespace roper
