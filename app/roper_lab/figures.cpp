#include "app/roper_lab/figures.h"

#include <QApplication>
#include <cmath>
#include <set>

#include "core/base/console.h"
#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"
#include "core/explorer/examples.h"
#include "core/explorer/hugging_face.h"
#include "ui/charts/figure_export.h"
#include "ui/live/published_models.h"
#include "ui/window/page_set.h"

namespace roper {
namespace {

/// How a figure is drawn, independent of its content.
struct Canvas {
    QSize size;
    ExportOptions options;
};

const std::vector<Field<Canvas>>& canvasFields() {
    using C = Canvas;
    static const std::vector<Field<C>> fields = {
        field<C>({"", "width", "pixels", "Width", IntegerRange{100, 10000}},
                 [](C& c) -> int& { return c.size.rwidth(); }),
        field<C>({"", "height", "pixels", "Height", IntegerRange{60, 10000}},
                 [](C& c) -> int& { return c.size.rheight(); }),
        field<C>({"", "width_mm", "mm", "Width on paper; 0: laid out as on the screen", RealRange{0, 2000}},
                 &C::options, &ExportOptions::width_mm),
        field<C>({"", "text_pt", "pt", "Text size on paper, if width_mm is set", RealRange{4, 100}},
                 &C::options, &ExportOptions::text_pt),
        field<C>({"", "scale", "", "PNG pixels per pixel of the figure", IntegerRange{1, 8}}, &C::options,
                 &ExportOptions::scale),
        field<C>({"", "caption", "", "1: draw the caption below the figure", Flag()}, &C::options,
                 &ExportOptions::caption),
        field<C>({"", "legend", "", "0: omit the legend", Flag()}, &C::options, &ExportOptions::legend),
    };
    return fields;
}

/// The page that draws figures of this kind. @throws Error (usage) naming the nearest known kind
Page& pageOf(const PageSet& page_set, const std::string& kind) {
    std::vector<std::string> all;
    for (Page* page : page_set.pages) {
        const std::vector<std::string> kinds = page->pageFigures().kinds();
        if (hasElement(kinds, kind)) return *page;
        all.insert(all.end(), kinds.begin(), kinds.end());
    }
    const auto nearest = closestName(kind, all);
    throw Error(ErrorKind::usage, "unknown figure \"" + kind + "\"; " +
                                      (nearest ? "did you mean \"" + *nearest + "\"?"
                                               : "`roper-lab figure --help` lists them"));
}

QSize defaultSize(const Page& page, const std::string& kind) {
    for (const Figure* figure : page.figures())
        if (figure->figureName().toStdString() == kind) return figure->defaultSize();
    return page.figures().front()->defaultSize();  // not there yet, or a former name of a kind
}

/// Adds the settings in `setup`, except those given on the command line.
void addSetup(const Setup& setup, FigureRequest& request) {
    std::vector<std::pair<std::string, std::string>> settings = changedSettings(setup);
    settings.emplace_back("head_dim", std::to_string(setup.head_dim));  // if the page's default differs
    for (const auto& [key, value] : settings)
        if (!request.hasSetting(key)) request.settings.emplace_back(key, value);
}

/// Adds the settings of an example, except those given on the command line.
/// @throws Error (usage) if the example belongs to another page
void addExample(const Example& example, const Page& page, FigureRequest& request) {
    if (page.name().toLower().replace(' ', '-').toStdString() != example.page)
        throw Error(ErrorKind::usage, "the example \"" + example.name + "\" belongs to the page " +
                                          example.page + ", which does not draw \"" + request.kind + "\"");
    addSetup(example.setup, request);
}

/// Adds the rotation described by a config.json. @throws Error (usage) if the figure is not one of the
/// explorer pages; other errors name the file
void addConfig(const std::filesystem::path& named, const Page& page, FigureRequest& request) {
    const std::vector<const FieldInfo*> fields = page.pageFigures().settings();
    if (std::ranges::none_of(fields, [](const FieldInfo* field) { return field->name == "head_dim"; }))
        throw Error(ErrorKind::usage, "--config works only for figures of the explorer pages; \"" +
                                          request.kind + "\" belongs to the page " +
                                          page.name().toStdString());
    constexpr std::uint64_t kMaxBytes = 1U << 20U;
    const std::filesystem::path path = std::filesystem::is_directory(named) ? named / "config.json" : named;
    try {
        const ParsedConfig reading = readHuggingFaceConfig(readFile(path, kMaxBytes), Setup{});
        for (const std::string& note : reading.notes)
            reportToUser("roper-lab: " + path.filename().string() + ": " + note);
        addSetup(reading.setup, request);
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::usage) throw;
        throw Error(ErrorKind::usage, path.string() + ": " + error.what());
    }
}

/// Sets width, height and export options in `canvas`; the other settings are in the returned request.
/// @throws Error (usage) for an unknown setting
FigureRequest parse(const FigureOptions& options, const Page& page, Canvas& canvas) {
    FigureRequest request{.kind = options.kind, .run = options.run};
    const std::vector<const FieldInfo*> of_page = page.pageFigures().settings();
    const std::vector<std::string> canvas_keys = mapped(canvasFields(), &Field<Canvas>::name);
    std::set<std::size_t> given;
    canvas.size = defaultSize(page, options.kind);
    std::vector<std::string> settings = options.settings;
    if (options.query) settings.push_back("query=" + std::to_string(*options.query));
    for (const std::string& setting : settings) {
        const auto [key, value] = splitSetting(setting);
        if (hasElement(canvas_keys, key)) {
            findField(canvasFields(), key).set(canvas, value);
            request.has_width = request.has_width || key == "width";
            request.has_height = request.has_height || key == "height";
            continue;
        }
        if (!given.insert(findKey(of_page, key, canvas_keys)).second)
            throw Error(ErrorKind::usage, "\"" + key + "\" is given twice");
        request.settings.emplace_back(key, value);
        // A run among the settings, as in a copied setup, is treated like one of --run.
        if (key == "run" && request.run.empty()) request.run = value;
    }
    if (!options.config.empty()) addConfig(options.config, page, request);
    if (!options.example.empty()) addExample(findExample(options.example), page, request);
    request.size = canvas.size;
    return request;
}

/// Splits the path of a run into its folder's name and the runs folder. A published model keeps its path.
void splitRunPath(FigureOptions& options) {
    const std::filesystem::path path(options.run);
    if (isPublishedModel(QString::fromStdString(options.run))) {
        options.run = std::filesystem::absolute(path).lexically_normal().string();
        return;
    }
    if (options.run.find('/') == std::string::npos) return;
    const std::filesystem::path folder = std::filesystem::absolute(path).lexically_normal();
    const bool trailing = folder.filename().empty();
    options.run = (trailing ? folder.parent_path() : folder).filename().string();
    options.runs = (trailing ? folder.parent_path() : folder).parent_path();
}

/// The setting that changes in an animation, and its value in each frame.
struct AnimatedSetting {
    std::string key;
    std::vector<std::string> values;
};

/// Parses the option --animate.
/// @param text    KEY=FROM..TO, or with more points: KEY=A..B..C; the way from one to the next always takes
///                equally long
/// @param fields  the settings of the page
/// @param frames  number of values; nullopt: about 40, or one for each whole number
/// @throws Error (usage)
AnimatedSetting parseAnimation(const std::string& text, const std::vector<const FieldInfo*>& fields,
                               std::optional<int> frames) {
    const auto [key, range] = splitSetting(text);
    const FieldInfo& field = *fields[findKey(fields, key)];
    const bool is_whole = std::holds_alternative<IntegerRange>(field.accepts);
    if (!is_whole && !field.isReal())
        throw Error(ErrorKind::usage, "--animate: " + field.name + " is not a number");
    std::vector<double> points;
    for (std::size_t from = 0; from <= range.size();) {
        const std::size_t to = std::min(range.find("..", from), range.size());
        const std::string point = range.substr(from, to - from);
        points.push_back(is_whole ? static_cast<double>(readInteger(field, point)) : readReal(field, point));
        from = to + 2;
    }
    if (points.size() < 2)
        throw Error(ErrorKind::usage,
                    "--animate must be KEY=FROM..TO, such as blend=0..1, not \"" + text + "\"");
    double length = 0;
    for (std::size_t i = 1; i < points.size(); ++i)
        length += std::abs(points[i] - points[i - 1]);
    constexpr int kUsualFrames = 40, kMostFrames = 1000;
    const int sections = static_cast<int>(points.size()) - 1;
    const int usual = is_whole ? static_cast<int>(std::min<double>(length, kMostFrames - 1))
                               : std::max(1, kUsualFrames / sections) * sections;
    const int count = frames.value_or(std::max(1, usual) + 1);
    AnimatedSetting animated{field.name, {}};
    for (int i = 0; i < count; ++i) {
        const double at = static_cast<double>(i) / (count - 1) * sections;
        const auto section = std::min(static_cast<std::size_t>(at), points.size() - 2);
        const double value =
            std::lerp(points[section], points[section + 1], at - static_cast<double>(section));
        animated.values.push_back(is_whole ? std::to_string(std::llround(value)) : formatNumber(value));
    }
    return animated;
}

/// Prepares the requested figure in the requested size; its default for a side that is not given. @throws
/// Error
Figure& drawn(Page& page, const FigureRequest& request) {
    Figure& figure = page.prepareFigure(request);
    QSize size = request.size;
    if (!request.has_width) size.setWidth(figure.defaultSize().width());
    if (!request.has_height) size.setHeight(figure.defaultSize().height());
    dynamic_cast<QWidget&>(figure).resize(size);
    return figure;
}

/// Writes the figure as an animation. @throws Error
void animate(const FigureOptions& options, Page& page, const ExportOptions& canvas, const Theme& theme,
             const FigureRequest& request) {
    const auto [key, values] = parseAnimation(options.animate, page.pageFigures().settings(), options.frames);
    if (request.hasSetting(key))
        throw Error(ErrorKind::usage, "\"" + key + "\" is given twice, by --animate and by --set");
    constexpr qsizetype kMostBytes = qsizetype{1} << 30U;
    constexpr int kMostPixels = 65535;  // of width and height, in a GIF
    std::vector<QImage> frames;
    for (const std::string& value : values) {
        FigureRequest next = request;
        next.settings.emplace_back(key, value);
        const QImage& frame = frames.emplace_back(figureImage(drawn(page, next), canvas, theme));
        if (frame.isNull() || frame.sizeInBytes() > kMostBytes / std::ssize(values) ||
            std::max(frame.width(), frame.height()) > kMostPixels)
            throw Error(ErrorKind::usage,
                        std::to_string(values.size()) +
                            " frames of this size take more than 1 GiB of memory: choose a smaller width, "
                            "height or scale, or fewer --frames");
    }
    exportAnimation(frames, options.seconds, options.out);
}

}  // namespace

std::string figureHelp() {
    std::string help;
    const auto lineOf = [&](const FieldInfo& field) {
        const std::string gap(field.name.size() < 22 ? 24 - field.name.size() : 2, ' ');
        const std::string unit = field.unit.empty() ? "" : " " + field.unit;
        help += "  " + field.name + gap + field.help + " (" + acceptsText(field) + unit + ")\n";
    };
    const PageSet page_set({}, QueueLauncher::WorkerMode::no_worker);
    help += "Figures:\n";
    for (const Page* page : page_set.pages) {
        const std::string name = page->name().toStdString();
        help += "  " + name + std::string(name.size() < 14 ? 16 - name.size() : 2, ' ') +
                join(page->pageFigures().kinds(), ", ") + "\n";
    }
    help += "Settings of all figures (--set key=value):\n";
    for (const auto& one : canvasFields())
        lineOf(one);
    // Pages with the same settings, such as those of the setup, share one list.
    std::vector<std::pair<const FieldInfo*, QStringList>> fields;
    for (const Page* page : page_set.pages) {
        for (const FieldInfo* field : page->pageFigures().settings()) {
            auto known = std::ranges::find_if(fields, [&](const auto& one) { return one.first == field; });
            if (known == fields.end()) known = fields.insert(fields.end(), {field, {}});
            known->second << page->name();
        }
    }
    QStringList heading;
    for (const auto& [field, of] : fields) {
        if (of != heading) help += "Settings of " + of.join(", ").toStdString() + ":\n";
        heading = of;
        lineOf(*field);
    }
    return help;
}

int makeFigure(const FigureOptions& given) {
    FigureOptions options = given;
    if (options.kind == "value-mixing") options.kind = "mixing";  // the page's name as an alias
    splitRunPath(options);
    QApplication::setPalette(fixedPalette(options.dark));
    const PageSet page_set(options.runs, QueueLauncher::WorkerMode::no_worker);
    Page& page = pageOf(page_set, options.kind);
    Canvas canvas;
    canvas.options.light_background = !options.dark;
    canvas.options.made_by = options.command;
    if (!options.animate.empty()) canvas.options.scale = 1;  // a still picture has 2, for print
    const FigureRequest request = parse(options, page, canvas);
    const Theme theme = options.dark ? Theme::of(fixedPalette(true)) : Theme::light();
    if (options.animate.empty())
        exportFigure(drawn(page, request), options.out, canvas.options, theme);
    else
        animate(options, page, canvas.options, theme, request);
    return 0;
}

}  // namespace roper
