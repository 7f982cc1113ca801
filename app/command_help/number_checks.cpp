#include "app/command_help/number_checks.h"

#include <cmath>
#include <limits>

#include "core/base/text.h"

namespace roper {
namespace {

std::string inQuotes(const std::string& text) {
    constexpr std::size_t kMaxCharacters = 40;
    return "\"" + truncateText(toSingleLine(text), kMaxCharacters) + "\"";
}

CLI::Validator finiteNumber(double low, double high, const std::string& description) {
    return {[low, high, description](std::string& text) {
                const auto number = parseNumber(text);
                const bool is_right = number && std::isfinite(*number) && *number >= low && *number <= high;
                return is_right ? std::string() : inQuotes(text) + " is not a " + description;
            },
            "FLOAT"};
}

/// Rewrites the number for CLI11, without a plus sign or leading zeros.
CLI::Validator wholeNumber(bool may_be_negative) {
    return {[may_be_negative](std::string& text) {
                using Limits = std::numeric_limits<std::int64_t>;
                const auto number = parseInteger(text);
                const std::int64_t lowest = may_be_negative ? Limits::min() : 0;
                if (!number || *number < lowest)
                    return inQuotes(text) + " is not a whole number from " + std::to_string(lowest) + " to " +
                           std::to_string(Limits::max());
                text = std::to_string(*number);
                return std::string();
            },
            ""};
}

}  // namespace

CLI::Validator numberInRange(double low, double high) {
    return finiteNumber(low, high, "number from " + formatNumber(low) + " to " + formatNumber(high));
}

CLI::Validator positiveNumber() {
    return finiteNumber(std::numeric_limits<double>::min(), std::numeric_limits<double>::max(),
                        "number above 0");
}

void requireWholeNumbers(CLI::App& app) {
    for (CLI::Option* option : app.get_options()) {
        const std::string type = option->get_type_name();
        const bool may_be_negative = type.find("[-") != std::string::npos;
        if (type.starts_with("INT") || type.starts_with("UINT"))
            option->transform(wholeNumber(may_be_negative));
    }
    for (CLI::App* command : app.get_subcommands({}))
        requireWholeNumbers(*command);
}

}  // namespace roper
