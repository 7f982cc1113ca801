#include "app/roper_lab/figures.h"

#include <QApplication>
#include <cmath>
#include <functional>
#include <map>

#include "core/runs/error.h"
#include "core/runs/text.h"
#include "ui/charts/figure_export.h"
#include "ui/shell/main_window.h"

namespace roper {
namespace {

struct FigureRequest {
    Setup setup;
    std::optional<Eigen::VectorXd> x;
    bool has_settings = false;
    int step = WorkedExampleView::kSteps;
    QSize size{720, 480};
    ExportOptions options;
};

double numberOf(const std::string& key, const std::string& text) {
    const auto value = parseNumber(text);
    if (!value || !std::isfinite(*value))
        throw Error(ErrorKind::usage, key + " must be a number, not \"" + text + "\"");
    return *value;
}

template <class Choice>
Choice choiceOf(const std::string& key, const std::string& text, const std::map<std::string, Choice>& known) {
    const auto found = known.find(text);
    if (found != known.end()) return found->second;
    std::vector<std::string> names;
    for (const auto& [name, value] : known)
        names.push_back(name);
    throw Error(ErrorKind::usage, key + " must be one of " + join(names, ", ") + ", not \"" + text + "\"");
}

Eigen::VectorXd vectorOf(const std::string& text) {
    const std::vector<std::string> cells = split(text, ',');
    Eigen::VectorXd x(static_cast<Eigen::Index>(cells.size()));
    for (std::size_t i = 0; i < cells.size(); ++i)
        x[static_cast<Eigen::Index>(i)] = numberOf("x", trimmed(cells[i]));
    return x;
}

void apply(FigureRequest& request, const std::string& setting) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos)
        throw Error(ErrorKind::usage, "a setting is written key=value, not \"" + setting + "\"");
    const std::string key = setting.substr(0, equals), text = setting.substr(equals + 1);
    const auto number = [&] { return numberOf(key, text); };
    const auto whole = [&] { return static_cast<int>(number()); };
    const std::map<std::string, std::function<void()>> known = {
        {"head_dim", [&] { request.setup.head_dim = whole(); }},
        {"base", [&] { request.setup.base = number(); }},
        {"schedule",
         [&] {
             request.setup.schedule = choiceOf<Schedule>(
                 key, text, {{"standard", Schedule::standard}, {"intro", Schedule::intro}});
         }},
        {"pairing",
         [&] {
             request.setup.pairing = choiceOf<Pairing>(
                 key, text, {{"half", Pairing::half}, {"interleaved", Pairing::interleaved}});
         }},
        {"position", [&] { request.setup.position = number(); }},
        {"pair", [&] { request.setup.pair = whole(); }},
        {"x", [&] { request.x = vectorOf(text); }},
        {"step", [&] { request.step = whole(); }},
        {"width", [&] { request.size.setWidth(whole()); }},
        {"height", [&] { request.size.setHeight(whole()); }},
        {"width_mm", [&] { request.options.width_mm = number(); }},
        {"scale", [&] { request.options.scale = whole(); }},
    };
    const auto found = known.find(key);
    if (found == known.end()) {
        std::vector<std::string> names;
        for (const auto& [name, set] : known)
            names.push_back(name);
        const auto nearest = nearestName(key, names);
        throw Error(ErrorKind::usage,
                    "unknown key \"" + key + "\"; " +
                        (nearest ? "did you mean \"" + *nearest + "\"?" : "known are " + join(names, ", ")));
    }
    found->second();
}

FigureRequest parse(const std::string& kind, const std::vector<std::string>& settings) {
    FigureRequest request;
    request.setup.head_dim = 16;
    request.setup.position = 3;
    if (kind == "rotation") request.size = {520, 520};
    for (const std::string& setting : settings)
        apply(request, setting);
    if (request.size.width() < 100 || request.size.height() < 60 || request.size.width() > 10000 ||
        request.size.height() > 10000)
        throw Error(ErrorKind::usage, "a picture is 100 to 10000 wide and 60 to 10000 high");
    if (request.options.scale < 1 || request.options.scale > 8)
        throw Error(ErrorKind::usage, "scale must be 1 to 8");
    if (request.options.width_mm < 0 || request.options.width_mm > 2000)
        throw Error(ErrorKind::usage, "width_mm must be at most 2000");
    Selection selection;
    selection.set(request.setup);
    if (selection.setup() != request.setup)
        throw Error(ErrorKind::usage,
                    "head_dim must be even, 2 to 256, base 1.01 to 1e9, position within 100000, pair one of "
                    "the head");
    request.has_settings = !settings.empty();
    if (request.x && request.x->size() != request.setup.head_dim)
        throw Error(ErrorKind::usage, "x has " + std::to_string(request.x->size()) +
                                          " numbers, head_dim is " + std::to_string(request.setup.head_dim));
    return request;
}

int writeExplorer(const std::string& kind, const FigureRequest& request, const QString& out) {
    Selection selection;
    RotationState state(selection, nullptr);
    if (kind == "worked-example" && !request.has_settings)
        state.loadIntroExample();
    else
        selection.set(request.setup);
    if (request.x) state.setX(*request.x);
    CircleView circle(state, nullptr);
    DialsView dials(state, nullptr);
    BarsView bars(state, nullptr);
    WorkedExampleView worked(state, nullptr);
    worked.setStep(request.step);
    for (FigureView* view : {static_cast<FigureView*>(&circle), static_cast<FigureView*>(&dials),
                             static_cast<FigureView*>(&bars), static_cast<FigureView*>(&worked)}) {
        if (view->figureName().toStdString() != kind) continue;
        view->resize(request.size);
        exportFigure(*view, out, request.options, Theme::light());
    }
    return 0;
}

int writeCurves(const std::string& kind, const FigureRequest& request, const QString& out,
                const std::filesystem::path& runs) {
    RunStore store(runs, nullptr);
    TrainerLauncher launcher(runs, nullptr);
    TrainingPage page(store, launcher, nullptr);
    store.readAll();
    if (store.runs().empty()) throw Error(ErrorKind::usage, "there are no runs in " + runs.string());
    MetricChart& chart = kind == "loss" ? page.lossChart() : page.accuracyChart();
    chart.resize(request.size);
    chart.redrawNow();
    exportFigure(chart, out, request.options, Theme::light());
    return 0;
}

}  // namespace

std::vector<std::string> figureKinds() {
    return {"rotation", "dials", "vector", "worked-example", "loss", "accuracy"};
}

int makeFigure(const std::string& kind, const QString& out, const std::vector<std::string>& settings,
               const std::filesystem::path& runs) {
    const FigureRequest request = parse(kind, settings);
    QApplication::setPalette(fixedPalette(false));
    return kind == "loss" || kind == "accuracy" ? writeCurves(kind, request, out, runs)
                                                : writeExplorer(kind, request, out);
}

}  // namespace roper
