#pragma once

#include <QString>
#include <filesystem>
#include <string>
#include <vector>

namespace roper {

/// Names that `roper-lab figure` knows.
std::vector<std::string> figureKinds();

/// Draws one picture without a window. Settings are key=value: head_dim, base, schedule, pairing, position,
/// pair, x (numbers with commas), step, width, height, width_mm, scale. Curves show the runs of `runs`.
/// @returns the exit code @throws Error
int makeFigure(const std::string& kind, const QString& out, const std::vector<std::string>& settings,
               const std::filesystem::path& runs);

}  // namespace roper
