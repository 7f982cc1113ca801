#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/explorer/setup_text.h"

namespace roper {

/// One stop of a guided tour: a page in a certain state, a question about it, something to try there, and the
/// conclusion.
struct TourStop {
    std::string name;  ///< for links: lower-case words joined by hyphens
    std::string title;
    std::string page;  ///< as in `roper-lab --page`
    /// Settings of the setup; all others have their defaults.
    std::vector<std::pair<std::string, std::string>> settings;
    ViewSettings view;     ///< such as the tab in front
    bool covered = false;  ///< the page would reveal the answer, so it is hidden until one is chosen
    std::string question;
    std::vector<std::string> choices;  ///< two to four answers
    std::size_t answer = 0;            ///< index of the right one
    std::string task;                  ///< instruction for the user
    std::string control;               ///< accessible name of the control to use; empty: none is highlighted
    std::string reveal;                ///< shown after an answer is chosen
    std::string reveal_control;        ///< control to highlight once the answer is revealed
    std::string takeaway;              ///< one sentence

    /// @throws Error (usage) for a setting that is unknown or out of bounds
    Setup setup() const { return withSettings(Setup{}, settings); }
};

/// The card after the last stop: what to remember, and where to go on. It also lists the takeaways of all
/// stops.
struct TourEnd {
    std::string text;
    struct Next {
        std::string text, page;  ///< a link's text, and the page it opens
    };
    std::vector<Next> next;
};

struct Tour {
    std::string name;  ///< file name without .toml
    std::string title;
    std::string about;       ///< one or two sentences
    int minutes = 0;         ///< duration
    std::string model = {};  ///< part of the name of a published model that the stops look inside
    std::vector<TourStop> stops;
    std::optional<TourEnd> end = {};
};

/// Parses a tour; docs/tours.md describes the format.
/// @param origin  path of the file, for errors; its name becomes the tour's
/// @throws Error (usage) with the position, for anything missing, unknown, of a wrong type or out of bounds
Tour parseTour(std::string_view text, const std::string& origin);

/// @throws Error (usage) as above, (disk) if the file cannot be read
Tour readTour(const std::filesystem::path& path);

/// A bundled tour: "rope-to-roper", or "inside-a-model". @throws Error
Tour bundledTour(const std::string& name = "rope-to-roper");

}  // namespace roper
