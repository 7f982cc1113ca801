#pragma once

#include <QSize>
#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace roper {

/// A request for a figure without a window: its name and settings.
struct FigureRequest {
    std::string kind;  ///< name of the figure
    QSize size;
    std::vector<std::pair<std::string, std::string>> settings;
    std::string run;  ///< run that it shows; empty if none is needed

    /// Removes a setting from `settings` and returns its value.
    std::optional<std::string> takeSetting(const std::string& key) {
        const auto found =
            std::find_if(settings.begin(), settings.end(), [&](const auto& one) { return one.first == key; });
        if (found == settings.end()) return std::nullopt;
        std::string value = std::move(found->second);
        settings.erase(found);
        return value;
    }

    bool hasSetting(const std::string& key) const {
        return std::any_of(settings.begin(), settings.end(),
                           [&](const auto& one) { return one.first == key; });
    }
};

/// Runs the event loop, sleeping between events, while `is_busy` returns true.
/// @param what  for the error message: "the model"
/// @throws Error (other) after a time-out
void waitWhile(const std::function<bool()>& is_busy, const std::string& what,
               std::chrono::minutes timeout = std::chrono::minutes(10));

}  // namespace roper
