#include "app/roper_lab/figures.h"

#include <QApplication>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <set>

#include "app/roper_lab/compare_settings.h"
#include "app/roper_lab/inspect_figures.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/explorer/setup_fields.h"
#include "core/explorer/setup_text.h"
#include "ui/charts/figure_export.h"
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

/// A whole number between `low` and `high`. @throws Error (usage)
int wholeOf(const std::string& key, const std::string& text, int low, int high) {
    const auto value = parseInteger(text);
    if (!value || *value < low || *value > high)
        throw Error(ErrorKind::usage, key + " must be a whole number from " + std::to_string(low) + " to " +
                                          std::to_string(high) + ", not \"" + text + "\"");
    return static_cast<int>(*value);
}

struct CanvasField {
    std::string key, help;
    std::function<void(Canvas&, const std::string&)> set;
};

const std::vector<CanvasField>& canvasFields() {
    static const std::vector<CanvasField> fields = {
        {"width", "Width in pixels, 100 to 10000",
         [](Canvas& c, const std::string& text) { c.size.setWidth(wholeOf("width", text, 100, 10000)); }},
        {"height", "Height in pixels, 60 to 10000",
         [](Canvas& c, const std::string& text) { c.size.setHeight(wholeOf("height", text, 60, 10000)); }},
        {"width_mm", "Width on paper, at most 2000 mm",
         [](Canvas& c, const std::string& text) {
             const auto value = parseNumber(text);
             if (!value || !(*value >= 0 && *value <= 2000))
                 throw Error(ErrorKind::usage,
                             "width_mm must be a number from 0 to 2000, not \"" + text + "\"");
             c.options.width_mm = *value;
         }},
        {"scale", "Pixels of a PNG per pixel, 1 to 8",
         [](Canvas& c, const std::string& text) { c.options.scale = wholeOf("scale", text, 1, 8); }},
        {"caption", "1: the caption is drawn below",
         [](Canvas& c, const std::string& text) { c.options.caption = wholeOf("caption", text, 0, 1) == 1; }},
        {"step", "Lines of the worked example, 1 to 7",
         [](Canvas& c, const std::string& text) {
             c.step = wholeOf("step", text, 1, WorkedExampleView::kSteps);
         }},
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
    for (const CanvasField& field : canvasFields())
        canvas_keys.push_back(field.key);
    if (order.kind == "rotation") request.canvas.size = {520, 520};
    if (order.kind == "mixing" || order.kind == "three-steps") request.canvas.size = {900, 440};
    std::vector<std::string> settings = order.settings;
    if (order.query) settings.push_back("query=" + std::to_string(*order.query));
    for (const std::string& setting : settings) {
        const std::size_t equals = setting.find('=');
        if (equals == std::string::npos)
            throw Error(ErrorKind::usage, "a setting is written key=value, not \"" + setting + "\"");
        const std::string key = setting.substr(0, equals), value = setting.substr(equals + 1);
        const auto field = std::find_if(canvasFields().begin(), canvasFields().end(),
                                        [&](const CanvasField& one) { return one.key == key; });
        if (field != canvasFields().end()) {
            field->set(request.canvas, value);
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

void writeRotation(const FigureOrder& order, const FigureRequest& request) {
    Selection selection;
    const Setup start =
        order.kind == "worked-example" && request.settings.empty() ? withIntroExample(Setup{}) : Setup{};
    selection.replace(withSettings(start, request.settings));
    RotationPage page(selection, nullptr);
    page.refreshNow();
    page.showWorkedExample(request.canvas.step);
    for (const Figure* figure : page.figures())
        if (figure->figureName().toStdString() == order.kind)
            write(const_cast<Figure&>(*figure), order, request.canvas);
}

void writeSpectrum(const FigureOrder& order, const FigureRequest& request) {
    Selection selection;
    Setup start;
    // The source's figures, unless told otherwise.
    start.head_dim = 128;
    selection.replace(withSettings(start, request.settings));
    SpectrumPage page(selection, nullptr);
    page.refreshNow();
    for (const Figure* figure : page.figures())
        if (figure->figureName().toStdString() == order.kind)
            write(const_cast<Figure&>(*figure), order, request.canvas);
}

/// The setup of a picture of attention: the map that the kind asks for, and a mistake where one is shown.
Setup attentionSetup(const FigureOrder& order, const FigureRequest& request, const Setup& start) {
    Setup setup = withSettings(start, request.settings);
    if (order.kind == "position-bias" && !request.sets("method")) setup.method = Method::t5;
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
    for (const Figure* figure : mixing.figures())
        if (figure->figureName().toStdString() == order.kind)
            write(const_cast<Figure&>(*figure), order, request.canvas);
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
    page.state().change([&](CompareQuestion& question) { setCompareQuestion(question, request.settings); });
    if (!page.state().filterProblem().isEmpty())
        throw Error(ErrorKind::usage, page.state().filterProblem().toStdString());
    if (order.kind == "loss-by-position") page.lengths().what().setCurrentIndex(1);
    page.readEverything();
    for (const Figure* figure : page.figures())
        if (figure->figureName().toStdString() == order.kind)
            write(const_cast<Figure&>(*figure), order, request.canvas);
}

void writeInspection(const FigureOrder& order, const FigureRequest& request) {
    RunStore store(order.runs, nullptr);
    store.readAll();
    InspectPage page(store, nullptr);
    prepareInspection(page, order.kind, order.run, request.settings);
    for (const Figure* figure : page.figures())
        if (figure->figureName().toStdString() == order.kind)
            write(const_cast<Figure&>(*figure), order, request.canvas);
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
    const auto line = [&](const std::string& key, const std::string& what) {
        help += "  " + key + std::string(key.size() < 22 ? 24 - key.size() : 2, ' ') + what + "\n";
    };
    for (const CanvasField& field : canvasFields())
        line(field.key, field.help);
    for (const SetupField& field : setupFields())
        line(field.key, field.help);
    help += "Settings of compare-curves, outcomes and paired-difference:\n";
    for (const auto& [key, what] : compareSettingsHelp())
        line(key, what);
    help += "Settings of heads, head, continuation and solved-by-size (with --run):\n";
    for (const auto& [key, what] : inspectSettingsHelp())
        line(key, what);
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
    for (const auto& [kind, writer] : writers())
        if (kind == order.kind) writer(order, request);
    return 0;
}

}  // namespace roper
