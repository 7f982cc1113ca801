#include "ui/charts/tile_pyramid.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace roper {
namespace {

constexpr float kClear = std::numeric_limits<float>::quiet_NaN();

/// Stands for entries that are not finite: larger than any number, so that they stay visible when zoomed out.
constexpr float kNotFinite = std::numeric_limits<float>::infinity();

/// The value of larger magnitude; a number wins over a transparent entry.
float stronger(float a, float b) {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    return std::abs(b) > std::abs(a) ? b : a;
}

}  // namespace

TilePyramid::TilePyramid(const Eigen::MatrixXd& values, bool lower_triangle_only, double low, double high,
                         NotANumber not_a_number, Merging merging)
    : low_(low), high_(high), merging_(merging) {
    if (values.size() == 0) return;
    Level& full = levels_.emplace_back(
        Level{0, 0, static_cast<int>(values.rows()), static_cast<int>(values.cols()), {}, {}});
    full.values.resize(static_cast<std::size_t>(values.size()));
    // In blocks: the matrix is column-major, the level row-major.
    for (int first_row = 0; first_row < full.rows; first_row += 64) {
        const int last_row = std::min(first_row + 64, full.rows);
        for (int column = 0; column < full.columns; ++column) {
            for (int row = first_row; row < last_row; ++row) {
                const double value = values(row, column);
                const bool clear = (lower_triangle_only && column > row) ||
                                   (not_a_number == NotANumber::absent && std::isnan(value));
                full.values[full.place(row, column)] = clear                   ? kClear
                                                       : !std::isfinite(value) ? kNotFinite
                                                                               : static_cast<float>(value);
            }
        }
    }
    // Square maps have square cells and need only these levels. They are most of the work, and this
    // constructor may run in any thread.
    const int rows = full.rows;  // new levels reallocate the one that `full` refers to
    if (rows == full.columns)
        for (int halvings = 1; rows >> (halvings - 1) > kTileSize; ++halvings)
            level(halvings, halvings);
}

int TilePyramid::levelFor(double row_pixels, double column_pixels) {
    const auto halvings = [](double pixels, int count) {
        int needed = 0;
        while (pixels * (1 << needed) < 1 && count >> needed > 1)
            ++needed;
        return needed;
    };
    return level(halvings(row_pixels, rows()), halvings(column_pixels, columns()));
}

int TilePyramid::level(int row_halvings, int column_halvings) {
    for (std::size_t i = 0; i < levels_.size(); ++i)
        if (levels_[i].row_halvings == row_halvings && levels_[i].column_halvings == column_halvings)
            return static_cast<int>(i);
    const bool rows = row_halvings >= column_halvings, columns = column_halvings >= row_halvings;
    const int finer = level(row_halvings - (rows ? 1 : 0), column_halvings - (columns ? 1 : 0));
    levels_.push_back(coarser(at(finer), rows, columns));
    return static_cast<int>(levels_.size()) - 1;
}

/// Merges two rows, two columns, or both.
TilePyramid::Level TilePyramid::coarser(const Level& fine, bool rows, bool columns) const {
    const int down = rows ? 2 : 1, across = columns ? 2 : 1;
    Level coarse{fine.row_halvings + (rows ? 1 : 0),
                 fine.column_halvings + (columns ? 1 : 0),
                 (fine.rows + down - 1) / down,
                 (fine.columns + across - 1) / across,
                 {},
                 {}};
    const std::size_t size = static_cast<std::size_t>(coarse.rows) * static_cast<std::size_t>(coarse.columns);
    coarse.values.resize(size);
    if (merging_ == Merging::mean) coarse.counted.resize(size);
    for (int row = 0; row < coarse.rows; ++row) {
        for (int column = 0; column < coarse.columns; ++column) {
            const int last_row = std::min(down * (row + 1), fine.rows),
                      last_column = std::min(across * (column + 1), fine.columns);
            float merged = kClear, counted = 0;
            for (int r = down * row; r < last_row; ++r) {
                for (int c = across * column; c < last_column; ++c) {
                    const float value = fine.values[fine.place(r, c)];
                    if (merging_ == Merging::first) {
                        if (std::isnan(merged)) merged = value;
                        continue;
                    }
                    if (merging_ == Merging::largest || std::isnan(value) || std::isinf(value) ||
                        std::isinf(merged)) {
                        merged = stronger(merged, value);
                        continue;
                    }
                    const float weight = fine.counted.empty() ? 1.0F : fine.counted[fine.place(r, c)];
                    merged = counted == 0 ? value : (merged * counted + value * weight) / (counted + weight);
                    counted += weight;
                }
            }
            coarse.values[coarse.place(row, column)] = merged;
            if (merging_ == Merging::mean) coarse.counted[coarse.place(row, column)] = counted;
        }
    }
    return coarse;
}

int TilePyramid::colorIndex(int level, int row, int column) const {
    const float value = at(level).values[at(level).place(row, column)];
    if (std::isnan(value)) return kClearIndex;
    if (std::isinf(value)) return kNotFiniteIndex;
    if (merging_ == Merging::first) return static_cast<int>(std::fmod(std::max(0.0F, value), 256.0F));
    const double fraction = high_ > low_ ? (static_cast<double>(value) - low_) / (high_ - low_) : 0.5;
    return static_cast<int>(std::clamp(fraction, 0.0, 1.0) * 255.0 + 0.5);
}

const QImage& TilePyramid::tile(int level, int tile_row, int tile_column, const ColorTable& colors) {
    constexpr std::size_t kMaxTiles = 1200;  // at most 300 MB of pixels
    const std::uint64_t key = (static_cast<std::uint64_t>(level) << 40) |
                              (static_cast<std::uint64_t>(tile_row) << 20) |
                              static_cast<std::uint64_t>(tile_column);
    if (const auto found = tiles_.find(key); found != tiles_.end()) return found->second;
    if (tiles_.size() >= kMaxTiles) tiles_.clear();
    const int first_row = tile_row * kTileSize, first_column = tile_column * kTileSize;
    const int height = std::min(kTileSize, rows(level) - first_row),
              width = std::min(kTileSize, columns(level) - first_column);
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
