#pragma once

#include <QString>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace roper {

/// Command-line options of a figure.
struct FigureOptions {
    std::string kind;
    QString out;
    std::vector<std::string> settings;  ///< key=value
    std::filesystem::path runs;
    std::string run;               ///< take q, k and v from this run; empty: from the settings
    std::optional<int> query;      ///< short for query=N
    std::string example;           ///< start with the settings of this example of the page
    std::filesystem::path config;  ///< start with the rotation of this config.json, or of one in a folder
    bool dark = false;
    std::string animate;  ///< KEY=FROM..TO, or with more points: the setting that changes from frame to frame
    std::optional<int> frames;  ///< of the animation
    double seconds = 4;         ///< its duration
};

/// The kinds of figures and their settings, by page, for `roper-lab figure --help`. Needs a QApplication.
std::string figureHelp();

/// Writes one figure, or an animation of it. @returns the exit code. @throws Error
int makeFigure(const FigureOptions& options);

}  // namespace roper
