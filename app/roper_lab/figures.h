#pragma once

#include <QString>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace roper {

/// The pictures that can be made without a window.
std::vector<std::string> figureKinds();

/// "key: what it is", a line for each setting that pictures know.
std::string figureSettingsHelp();

/// What is asked for on the command line.
struct FigureOrder {
    std::string kind;
    QString out;
    std::vector<std::string> settings;  ///< key=value
    std::filesystem::path runs;
    std::string run;           ///< take q, k and v from this run; empty: from the settings
    std::optional<int> query;  ///< short for query=N
    bool dark = false;
};

/// Writes one picture. @returns the exit code. @throws Error
int makeFigure(const FigureOrder& order);

}  // namespace roper
