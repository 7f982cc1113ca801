#include "ui/charts/tile_pyramid.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace roper {
namespace {

constexpr float kClear = std::numeric_limits<float>::quiet_NaN();

/// Stands for an entry that is not finite: larger than any, so that it is seen from afar.
constexpr float kNotFinite = std::numeric_limits<float>::infinity();

/// The one of larger size; a clear one gives way.
float stronger(float a, float b) {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    return std::abs(b) > std::abs(a) ? b : a;
}

}  // namespace

TilePyramid::TilePyramid(const Eigen::MatrixXd& values, bool lower_only, double low, double high,
                         NotANumber not_a_number)
    : low_(low), high_(high) {
    if (values.size() == 0) return;
    Level& full =
        levels_.emplace_back(Level{static_cast<int>(values.rows()), static_cast<int>(values.cols()), {}});
    full.values.resize(static_cast<std::size_t>(values.size()));
    // Tile by tile: the matrix lies column by column, the level row by row.
    for (int first_row = 0; first_row < full.rows; first_row += 64) {
        const int last_row = std::min(first_row + 64, full.rows);
        for (int column = 0; column < full.columns; ++column) {
            for (int row = first_row; row < last_row; ++row) {
                const double value = values(row, column);
                const bool clear =
                    (lower_only && column > row) || (not_a_number == NotANumber::absent && std::isnan(value));
                full.values[static_cast<std::size_t>(row) * static_cast<std::size_t>(full.columns) +
                            static_cast<std::size_t>(column)] = clear ? kClear
                                                                : !std::isfinite(value)
                                                                    ? kNotFinite
                                                                    : static_cast<float>(value);
            }
        }
    }
    addLevels();
}

void TilePyramid::addLevels() {
    while (levels_.back().rows > kTile || levels_.back().columns > kTile) {
        const Level& fine = levels_.back();
        Level coarse{(fine.rows + 1) / 2, (fine.columns + 1) / 2, {}};
        coarse.values.resize(static_cast<std::size_t>(coarse.rows) *
                             static_cast<std::size_t>(coarse.columns));
        const auto at = [&](int row, int column) {
            return row < fine.rows && column < fine.columns
                       ? fine.values[static_cast<std::size_t>(row) * static_cast<std::size_t>(fine.columns) +
                                     static_cast<std::size_t>(column)]
                       : kClear;
        };
        std::size_t next = 0;
        for (int row = 0; row < coarse.rows; ++row)
            for (int column = 0; column < coarse.columns; ++column)
                coarse.values[next++] =
                    stronger(stronger(at(2 * row, 2 * column), at(2 * row, 2 * column + 1)),
                             stronger(at(2 * row + 1, 2 * column), at(2 * row + 1, 2 * column + 1)));
        levels_.push_back(std::move(coarse));
    }
}

int TilePyramid::colorIndex(int level, int row, int column) const {
    const Level& of = levels_[static_cast<std::size_t>(level)];
    const float value = of.values[static_cast<std::size_t>(row) * static_cast<std::size_t>(of.columns) +
                                  static_cast<std::size_t>(column)];
    if (std::isnan(value)) return kClearIndex;
    if (std::isinf(value)) return kNotFiniteIndex;
    const double share = high_ > low_ ? (static_cast<double>(value) - low_) / (high_ - low_) : 0.5;
    return static_cast<int>(std::clamp(share, 0.0, 1.0) * 255.0 + 0.5);
}

const QImage& TilePyramid::tile(int level, int tile_row, int tile_column, const ColorTable& colors) {
    constexpr std::size_t kMostTiles = 1200;  // 300 MB of pixels at the most
    const std::uint64_t key = (static_cast<std::uint64_t>(level) << 40) |
                              (static_cast<std::uint64_t>(tile_row) << 20) |
                              static_cast<std::uint64_t>(tile_column);
    if (const auto found = tiles_.find(key); found != tiles_.end()) return found->second;
    if (tiles_.size() >= kMostTiles) tiles_.clear();
    const int first_row = tile_row * kTile, first_column = tile_column * kTile;
    const int height = std::min(kTile, rows(level) - first_row),
              width = std::min(kTile, columns(level) - first_column);
    QImage image(width, height, QImage::Format_ARGB32_Premultiplied);
    for (int row = 0; row < height; ++row) {
        auto* pixels = reinterpret_cast<QRgb*>(image.scanLine(row));
        for (int column = 0; column < width; ++column) {
            const int index = colorIndex(level, first_row + row, first_column + column);
            pixels[column] = index == kClearIndex ? 0U : colorOf(index, colors);
        }
    }
    return tiles_.emplace(key, std::move(image)).first->second;
}

}  // namespace roper
