#pragma once

#include <QString>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace roper {

/// Command-line options of a figure.
struct FigureOptions {
    std::string kind;                   ///< such as "scores"; listed by figureHelp()
    QString out;                        ///< file to write
    QString command = {};               ///< the whole command line, for a comment in a LaTeX file
    std::vector<std::string> settings;  ///< key=value
    std::filesystem::path runs;         ///< folder of the runs
    std::string run;               ///< run or published model to show; empty: none, or that of the settings
    std::optional<int> query;      ///< short for query=N
    std::string example;           ///< start with the settings of this example of the page
    std::filesystem::path config;  ///< start with the rotation of this config.json, or of one in a folder
    bool dark = false;
    std::string animate;  ///< KEY=FROM..TO or KEY=A..B..C: the setting that changes; empty: a still figure
    std::optional<int> frames;  ///< number of frames of the animation; nullopt: automatic
    double seconds = 4;         ///< duration of the animation
};

/// The kinds of figures and their settings, by page, for `roper-lab figure --help`. Needs a QApplication.
std::string figureHelp();

/// Writes one figure, or an animation of it. @returns the exit code. @throws Error
int makeFigure(const FigureOptions& options);

}  // namespace roper
