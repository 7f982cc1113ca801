#include "core/tour/tour.h"

#include <algorithm>
#include <optional>

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"
#include "core/fields/toml_text.h"
#include "core/specification/presets.h"

namespace roper {
namespace {

constexpr std::uint64_t kMaxTourBytes = 1 << 20;
constexpr std::size_t kMaxStops = 100, kMinChoices = 2, kMaxChoices = 4;

/// One table of the file, whose keys are consumed one by one; remaining keys are unknown.
class Section {
  public:
    Section(const toml::table& table, std::string origin) : table_(table), origin_(std::move(origin)) {}

    std::string text(const std::string& key) {
        const auto value = optionalText(key);
        if (!value) fail(table_.source(), "\"" + key + "\" is missing");
        return *value;
    }
    std::optional<std::string> optionalText(const std::string& key) {
        const toml::node* node = take(key);
        if (node == nullptr) return std::nullopt;
        const auto value = node->value_exact<std::string>();
        if (!value || trimmed(*value).empty())
            fail(node->source(), "\"" + key + "\" must be non-empty text in quotes");
        return trimmed(*value);
    }
    int whole(const std::string& key, int low, int high) {
        const toml::node* node = take(key);
        const auto value = node == nullptr ? std::nullopt : node->value_exact<std::int64_t>();
        if (!value || *value < low || *value > high)
            fail(node == nullptr ? table_.source() : node->source(),
                 "\"" + key + "\" must be a whole number from " + std::to_string(low) + " to " +
                     std::to_string(high));
        return static_cast<int>(*value);
    }
    /// False if the key is missing.
    bool flag(const std::string& key) {
        const toml::node* node = take(key);
        if (node == nullptr) return false;
        const auto value = node->value_exact<bool>();
        if (!value) fail(node->source(), "\"" + key + "\" must be true or false");
        return *value;
    }
    std::vector<std::string> texts(const std::string& key, std::size_t min_count, std::size_t max_count) {
        const toml::node* node = take(key);
        const toml::array* array = node == nullptr ? nullptr : node->as_array();
        std::vector<std::string> values;
        if (array != nullptr)
            for (const toml::node& item : *array)
                if (const auto value = item.value_exact<std::string>()) values.push_back(trimmed(*value));
        if (array == nullptr || values.size() != array->size() || values.size() < min_count ||
            values.size() > max_count)
            fail(node == nullptr ? table_.source() : node->source(),
                 "\"" + key + "\" must be a list of " + std::to_string(min_count) + " to " +
                     std::to_string(max_count) + " texts");
        return values;
    }
    /// The entries of a nested table as texts; empty if the table is missing.
    std::vector<std::pair<std::string, std::string>> entries(const std::string& key) {
        const toml::node* node = take(key);
        std::vector<std::pair<std::string, std::string>> values;
        if (node == nullptr) return values;
        if (!node->is_table()) fail(node->source(), "\"" + key + "\" must be a table of settings");
        for (const auto& [name, value] : *node->as_table())
            values.emplace_back(std::string(name.str()), textOf(value));
        return values;
    }
    std::vector<const toml::table*> tables(const std::string& key) {
        const toml::node* node = take(key);
        const toml::array* array = node == nullptr ? nullptr : node->as_array();
        std::vector<const toml::table*> values;
        if (array != nullptr)
            for (const toml::node& item : *array)
                if (item.is_table()) values.push_back(item.as_table());
        if (values.empty() || values.size() != array->size() || values.size() > kMaxStops)
            fail(table_.source(), "a tour needs 1 to " + std::to_string(kMaxStops) + " [[" + key + "]]");
        return values;
    }

    /// @throws Error (usage) for a key that was not consumed
    void finish() const {
        for (const auto& [key, node] : table_) {
            const std::string name(key.str());
            if (std::find(taken_.begin(), taken_.end(), name) != taken_.end()) continue;
            const auto nearest = closestName(name, taken_);
            fail(key.source(), "\"" + name + "\" is not a known key" +
                                   (nearest ? "; did you mean \"" + *nearest + "\"?" : ""));
        }
    }

    [[noreturn]] void fail(const toml::source_region& place, const std::string& what) const {
        throw Error(ErrorKind::usage, tomlLocation(origin_, place) + what);
    }
    const toml::source_region& place() const { return table_.source(); }

  private:
    const toml::node* take(const std::string& key) {
        taken_.push_back(key);
        return table_.get(key);
    }
    std::string textOf(const toml::node& node) const {
        if (const auto text = node.value_exact<std::string>()) return *text;
        if (const auto whole = node.value_exact<std::int64_t>()) return std::to_string(*whole);
        if (const auto real = node.value_exact<double>()) return formatNumber(*real);
        if (const auto flag = node.value_exact<bool>()) return *flag ? "1" : "0";
        fail(node.source(), "a setting must be text in quotes, a number, true or false");
    }

    const toml::table& table_;
    std::string origin_;
    std::vector<std::string> taken_;
};

bool isLinkName(const std::string& name) {
    return std::all_of(name.begin(), name.end(),
                       [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

TourStop readStop(Section section) {
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

}  // namespace

Tour parseTour(std::string_view text, const std::string& origin) {
    const toml::table document = parseToml(text, origin);
    Section section(document, origin);
    Tour tour;
    tour.name = std::filesystem::path(origin).stem().string();
    tour.title = section.text("title");
    tour.about = section.text("about");
    tour.minutes = section.whole("minutes", 1, 600);
    for (const toml::table* table : section.tables("stop")) {
        TourStop stop = readStop(Section(*table, origin));
        const auto same = [&](const TourStop& other) { return other.name == stop.name; };
        if (std::any_of(tour.stops.begin(), tour.stops.end(), same))
            section.fail(table->source(), "two stops are named \"" + stop.name + "\"");
        tour.stops.push_back(std::move(stop));
    }
    section.finish();
    return tour;
}

Tour readTour(const std::filesystem::path& path) {
    return parseTour(readFile(FilePath::regular(path), kMaxTourBytes), path.string());
}

Tour bundledTour() {
    return readTour(resourceFolder("tour") / "rope-to-roper.toml");
}

}  // namespace roper
