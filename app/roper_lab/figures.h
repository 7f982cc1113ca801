#pragma once

#include <QString>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace roper {

/// What the command line says of a picture.
struct FigureOrder {
    std::string kind;
    QString out;
    std::vector<std::string> settings;  ///< key=value
    std::filesystem::path runs;
    std::string run;           ///< take q, k and v from this run; empty: from the settings
    std::optional<int> query;  ///< short for query=N
    std::string example;       ///< begin with the settings of this example of the page
    std::filesystem::path config;  ///< begin with the rotation of this config.json, or of a folder's
    bool dark = false;
};

/// The kinds of picture and their settings, by page, for `roper-lab figure --help`. Needs a QApplication.
std::string figureHelp();

/// Writes one picture. @returns the exit code. @throws Error
int makeFigure(const FigureOrder& order);

}  // namespace roper
