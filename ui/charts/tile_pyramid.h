#pragma once

#include <Eigen/Core>
#include <QImage>
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace roper {

/// 256 colours from the low end of a scale to its high end.
using ColorTable = std::array<QRgb, 256>;

/// A large matrix of numbers, ready to be drawn at any zoom: each level has half the rows and columns of the
/// one before and keeps, of each four numbers, the one of largest size, so that a lone peak is seen from far
/// away. Colours are made tile by tile when they are first looked at.
class TilePyramid {
  public:
    /// What an entry that is not a number means: something wrong, that must be seen, or nothing at all.
    enum class NotANumber { shown, absent };

    static constexpr int kTile = 256;

    TilePyramid() = default;
    /// Values are coloured between `low` and `high`. With `lower_only`, entries right of the diagonal stay
    /// clear.
    TilePyramid(const Eigen::MatrixXd& values, bool lower_only, double low, double high,
                NotANumber not_a_number = NotANumber::shown);

    int rows() const { return levels_.empty() ? 0 : levels_.front().rows; }
    int columns() const { return levels_.empty() ? 0 : levels_.front().columns; }
    int levels() const { return static_cast<int>(levels_.size()); }
    int rows(int level) const { return levels_[static_cast<std::size_t>(level)].rows; }
    int columns(int level) const { return levels_[static_cast<std::size_t>(level)].columns; }

    static constexpr int kClearIndex = -1;
    static constexpr int kNotFiniteIndex = -2;
    /// Colour of an entry that is not clear; one that is not a finite number is magenta.
    static QRgb colorOf(int index, const ColorTable& colors) {
        constexpr QRgb kNotFiniteColor = 0xffff00ff;
        return index == kNotFiniteIndex ? kNotFiniteColor : colors[static_cast<std::size_t>(index)];
    }

    /// Place of an entry in a colour table, or one of the two above.
    int colorIndex(int level, int row, int column) const;

    /// Pixels of one tile, one per entry.
    const QImage& tile(int level, int tile_row, int tile_column, const ColorTable& colors);

    /// Forgets pixels, as when colours change.
    void dropTiles() { tiles_.clear(); }

  private:
    struct Level {
        int rows, columns;
        std::vector<float> values;
    };
    void addLevels();

    std::vector<Level> levels_;
    double low_ = 0, high_ = 1;
    std::unordered_map<std::uint64_t, QImage> tiles_;
};

}  // namespace roper
