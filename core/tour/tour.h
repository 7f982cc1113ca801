#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/explorer/setup_text.h"

namespace roper {

/// One stop of a guided tour: a page in a certain state, a question about it, something to try there, and
/// what follows.
struct TourStop {
    std::string name;  ///< for links: lower-case words joined by hyphens
    std::string title;
    std::string page;  ///< as `roper-lab --page` names it
    std::vector<std::pair<std::string, std::string>>
        settings;          ///< of the setup; the others have their defaults
    ViewSettings view;     ///< which tab is in front, and the like
    bool covered = false;  ///< the page would give the answer away: it is hidden until one is chosen
    std::string question;
    std::vector<std::string> choices;  ///< two to four answers
    std::size_t answer = 0;            ///< index of the right one
    std::string task;                  ///< what to do on the page
    std::string control;               ///< accessible name of what to do it with; empty: nothing is marked
    std::string reveal;
    std::string reveal_control;  ///< the control that is marked once the answer is revealed
    std::string takeaway;        ///< one sentence

    /// @throws Error (usage) for a setting that is not known or out of bounds
    Setup setup() const { return withSettings(Setup{}, settings); }
};

struct Tour {
    std::string name;  ///< file name without .toml
    std::string title;
    std::string about;  ///< one or two sentences
    int minutes = 0;    ///< that it takes
    std::vector<TourStop> stops;
};

/// Reads a tour; docs/tours.md describes its file.
/// @param origin  path of the file, for errors; its name becomes the tour's
/// @throws Error (usage) with the place: what is missing, unknown, of a wrong type or out of bounds
Tour parseTour(std::string_view text, const std::string& origin);

/// @throws Error (usage) as above, (disk) if it cannot be read
Tour readTour(const std::filesystem::path& path);

/// The tour that comes with the program: "from RoPE to RoPER". @throws Error
Tour bundledTour();

}  // namespace roper
