#include "core/tour/implementations.h"

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"
#include "core/explorer/setup_text.h"
#include "core/specification/presets.h"
#include "core/tour/toml_section.h"

namespace roper {
namespace {

constexpr std::uint64_t kMaxBytes = 1 << 20;
constexpr std::size_t kMaxImplementations = 1000;

/// The text of a key, which must be one of those accepted.
std::string oneOf(TomlSection& section, const std::string& key, const std::vector<std::string>& accepted) {
    const std::string text = section.text(key);
    if (!hasElement(accepted, text))
        section.fail(section.place(),
                     "\"" + key + "\" must be " + join(accepted, ", ") + ", not \"" + text + "\"");
    return text;
}

Implementation readImplementation(TomlSection section) {
    Implementation implementation;
    implementation.name = section.text("name");
    implementation.version = section.text("version");
    implementation.year = section.whole("year", 2017, 9999);
    implementation.pairing = section.text("pairing");
    implementation.part = section.text("part");
    implementation.back = oneOf(section, "back", {"never", "yes", "twice"});
    implementation.shared_keys = section.text("grouped");
    implementation.cache = section.text("cache");
    implementation.scaling = section.text("scaling");
    implementation.was_run = oneOf(section, "checked", {"run", "read"}) == "run";
    implementation.source = section.text("source");
    section.optionalText("script");  // of the project's findings
    implementation.settings = section.entries("setup");
    section.finish();
    try {
        implementation.rotation = implementation.applyTo(Setup{});
    } catch (const Error& error) {
        section.fail(section.place(), "\"" + implementation.name + "\": " + error.what());
    }
    return implementation;
}

}  // namespace

Setup Implementation::applyTo(Setup setup) const {
    static_cast<RotaryConfig&>(setup) = Setup{};
    setup.method = "roper";
    setup.attention = AttentionKind::softmax;
    setup.value_rotation_strength = 1;
    setup.shared_key_value = false;
    setup.mistake = back == "never"   ? Mistake::no_inverse
                    : back == "twice" ? Mistake::values_twice
                                      : Mistake::none;
    return withSettings(std::move(setup), settings);
}

bool Implementation::isShownBy(const Setup& setup) const {
    // Settings are texts, which take time to apply.
    if (settings.empty() || static_cast<const RotaryConfig&>(setup) != rotation) return false;
    return applyTo(setup) == setup;
}

std::vector<Implementation> parseImplementations(std::string_view text, const std::string& origin) {
    const toml::table document = parseToml(text, origin);
    TomlSection section(document, origin);
    auto all = mapped(section.tables("implementation", kMaxImplementations), [&](const toml::table* table) {
        return readImplementation(TomlSection(*table, origin));
    });
    section.finish();
    return all;
}

std::vector<Implementation> bundledImplementations() {
    const std::filesystem::path path = resourceFolder("value-rotation") / "implementations.toml";
    return parseImplementations(readFile(FilePath::regular(path), kMaxBytes), path.string());
}

}  // namespace roper
