#include "core/tour/tour.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"
#include "core/specification/presets.h"
#include "core/tour/toml_section.h"

namespace roper {
namespace {

constexpr std::uint64_t kMaxTourBytes = 1 << 20;
constexpr std::size_t kMaxNext = 6, kMaxStops = 100, kMinChoices = 2, kMaxChoices = 4;

bool isLinkName(const std::string& name) {
    return std::ranges::all_of(
        name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

TourStop readStop(TomlSection section) {
    TourStop stop;
    stop.name = section.text("name");
    if (!isLinkName(stop.name))
        section.fail(section.place(),
                     "the name \"" + stop.name +
                         "\" may contain only lowercase letters, digits and hyphens, because links use it");
    stop.title = section.text("title");
    stop.page = section.text("page");
    stop.settings = section.entries("setup");
    for (const auto& [key, value] : section.entries("view"))
        stop.view["view." + key] = value;
    stop.covered = section.flag("covered");
    stop.question = section.text("predict");
    stop.choices = section.texts("choices", kMinChoices, kMaxChoices);
    stop.answer =
        static_cast<std::size_t>(section.whole("answer", 1, static_cast<int>(stop.choices.size()))) - 1;
    stop.task = section.text("try");
    stop.control = section.optionalText("control").value_or("");
    stop.reveal = section.text("reveal");
    stop.reveal_control = section.optionalText("reveal_control").value_or("");
    stop.takeaway = section.text("takeaway");
    section.finish();
    try {
        stop.setup();
    } catch (const Error& error) {
        section.fail(section.place(), "stop \"" + stop.name + "\": " + error.what());
    }
    return stop;
}

TourEnd readEnd(TomlSection section, const std::string& origin) {
    TourEnd end;
    end.text = section.text("text");
    for (const toml::table* table : section.tables("next", kMaxNext)) {
        TomlSection next(*table, origin);
        end.next.push_back({next.text("text"), next.text("page")});
        next.finish();
    }
    section.finish();
    return end;
}

}  // namespace

Tour parseTour(std::string_view text, const std::string& origin) {
    const toml::table document = parseToml(text, origin);
    TomlSection section(document, origin);
    Tour tour;
    tour.name = std::filesystem::path(origin).stem().string();
    tour.title = section.text("title");
    tour.about = section.text("about");
    tour.minutes = section.whole("minutes", 1, 600);
    tour.model = section.optionalText("model").value_or("");
    for (const toml::table* table : section.tables("stop", kMaxStops)) {
        TourStop stop = readStop(TomlSection(*table, origin));
        const auto same = [&](const TourStop& other) { return other.name == stop.name; };
        if (std::ranges::any_of(tour.stops, same))
            section.fail(table->source(), "two stops are named \"" + stop.name + "\"");
        tour.stops.push_back(std::move(stop));
    }
    if (const auto end = section.section("end")) tour.end = readEnd(*end, origin);
    section.finish();
    return tour;
}

Tour readTour(const std::filesystem::path& path) {
    return parseTour(readFile(FilePath::regular(path), kMaxTourBytes), path.string());
}

Tour bundledTour(const std::string& name) {
    return readTour(resourceFolder("tour") / (name + ".toml"));
}

}  // namespace roper
