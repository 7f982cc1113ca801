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

/// A picture that is wanted without a window: which one, and what it shows.
struct FigureRequest {
    std::string kind;  ///< the name of a figure
    QSize size;
    std::vector<std::pair<std::string, std::string>> settings;
    std::string run;  ///< that it is of; empty where it needs none

    /// The value of a setting, taken out of `settings`.
    std::optional<std::string> take(const std::string& key) {
        const auto found =
            std::find_if(settings.begin(), settings.end(), [&](const auto& one) { return one.first == key; });
        if (found == settings.end()) return std::nullopt;
        std::string value = std::move(found->second);
        settings.erase(found);
        return value;
    }

    bool sets(const std::string& key) const {
        return std::any_of(settings.begin(), settings.end(),
                           [&](const auto& one) { return one.first == key; });
    }
};

/// Lets the event loop run, and sleep, as long as something is busy.
/// @param what  is waited for, for the error: "the model"
/// @throws Error (other) when patience is over
void waitWhile(const std::function<bool()>& is_busy, const std::string& what,
               std::chrono::minutes patience = std::chrono::minutes(10));

}  // namespace roper
