#include <map>

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"
#include "core/fields/toml_text.h"
#include "core/specification/specification.h"

namespace roper {
namespace {

/// Converts a TOML value to a field's text form. Wrong types are refused here, where the type is still known.
std::string valueText(const SpecificationField& field, const toml::node& node) {
    if (field.isText()) {
        if (const auto* text = node.as_string()) return text->get();
        throw Error(ErrorKind::usage, field.key() + " must be text in quotes");
    }
    if (const auto* flag = node.as_boolean(); flag != nullptr && std::holds_alternative<Flag>(field.accepts))
        return flag->get() ? "1" : "0";
    if (const auto* integer = node.as_integer()) return std::to_string(integer->get());
    if (const auto* real = node.as_floating_point()) {
        if (field.isReal()) return formatNumber(real->get());
        throw Error(ErrorKind::usage, field.key() + " must be a whole number, without a decimal point");
    }
    throw Error(ErrorKind::usage, field.key() + " must be a number" +
                                      (node.is_string() ? ", not text: leave out the quotes" : ""));
}

void readSection(const std::string& section, const toml::table& table, const std::string& origin,
                 Specification& specification) {
    std::map<std::string, std::string> given;
    for (const auto& [key, node] : table) {
        const std::string name = section + "." + std::string(key.str());
        const SpecificationField* field = nullptr;
        try {
            field = &findField(name);
            requireOnce(given, *field, name);
        } catch (const Error& error) {
            refuseToml(origin, key.source(), error.what());
        }
        try {
            field->set(specification, valueText(*field, node));
        } catch (const Error& error) {
            refuseToml(origin, node.source(), error.what());
        }
    }
}

std::vector<std::string> sectionNames() {
    std::vector<std::string> names;
    for (const SpecificationField& field : specificationFields())
        if (names.empty() || names.back() != field.section) names.push_back(field.section);
    return names;
}

/// Adds ".0" to a number that TOML would otherwise read as an integer.
std::string floatText(const std::string& number) {
    return number.find_first_of(".en") == std::string::npos ? number + ".0" : number;
}

}  // namespace

Specification parseSpecification(std::string_view text, const std::string& origin) {
    const toml::table document = parseToml(text, origin);
    Specification specification;
    const std::vector<std::string> sections = sectionNames();
    for (const auto& [key, node] : document) {
        const std::string name(key.str());
        if (!hasElement(sections, name)) {
            const auto nearest = closestName(name, sections);
            refuseToml(origin, key.source(),
                       "unknown section [" + name + "]; " +
                           (nearest ? "did you mean [" + *nearest + "]?"
                                    : "expected one of " + join(sections, ", ")));
        }
        if (!node.is_table())
            refuseToml(origin, key.source(),
                       name + " must be a section: write [" + name + "] above its keys");
        readSection(name, *node.as_table(), origin, specification);
    }
    return specification;
}

Specification readSpecification(const FilePath& path) {
    constexpr std::uint64_t kMaxBytes = 4U << 20U;
    return parseSpecification(readFile(path, kMaxBytes), path.string());
}

std::string toToml(const Specification& specification) {
    std::string text;
    std::string section;
    for (const SpecificationField& field : specificationFields()) {
        if (!isKnown(field, specification)) continue;
        if (field.section != section) {
            section = field.section;
            text += (text.empty() ? "[" : "\n[") + section + "]\n";
        }
        std::string value = field.text(specification);
        if (field.isReal()) value = floatText(value);
        std::string line = field.name + " = " + (field.isText() ? quotedToml(value) : value);
        if (section != "about") {
            line.resize(std::max<std::size_t>(line.size(), 32), ' ');
            line += "  # " + field.help + (field.unit.empty() ? "" : " [" + field.unit + "]");
        }
        text += line + "\n";
    }
    if (!specification.about.known.empty())
        text += "\n# The metrics were imported. Settings that are not listed here are unknown.\n";
    return text;
}

}  // namespace roper
