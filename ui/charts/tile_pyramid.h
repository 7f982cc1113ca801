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

/// A large matrix of numbers, ready to be drawn at any zoom: its levels have half, a quarter, … of its rows
/// and of its columns, each as many as there is room for. Numbers that share an entry of a level give the one
/// of largest size, so that a lone peak is seen from far away, or their mean. Colours are made tile by tile
/// when they are first looked at.
class TilePyramid {
  public:
    /// What numbers that share an entry give.
    enum class Merging { largest, mean };

    /// What an entry that is not a number means: something wrong, that must be seen, or nothing at all.
    enum class NotANumber { shown, absent };

    static constexpr int kTile = 256;

    TilePyramid() = default;
    /// Values are coloured between `low` and `high`. With `lower_only`, entries right of the diagonal stay
    /// clear.
    TilePyramid(const Eigen::MatrixXd& values, bool lower_only, double low, double high,
                NotANumber not_a_number = NotANumber::shown, Merging merging = Merging::largest);

    int rows() const { return levels_.empty() ? 0 : levels_.front().rows; }
    int columns() const { return levels_.empty() ? 0 : levels_.front().columns; }

    /// The finest level whose entries are at least one pixel high and one wide, where a number takes up
    /// `row_pixels` × `column_pixels`. Along an axis that has room nothing is merged.
    int levelFor(double row_pixels, double column_pixels);
    int rows(int level) const { return at(level).rows; }
    int columns(int level) const { return at(level).columns; }
    /// How many rows and columns of the matrix share an entry of a level.
    int rowsOfEntry(int level) const { return 1 << at(level).row_halvings; }
    int columnsOfEntry(int level) const { return 1 << at(level).column_halvings; }

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
        int row_halvings, column_halvings;
        int rows, columns;
        std::vector<float> values;  ///< row by row
        std::vector<float>
            counted;  ///< how many numbers each is the mean of; empty unless `mean`, and for the first

        std::size_t place(int row, int column) const {
            return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
                   static_cast<std::size_t>(column);
        }
    };
    const Level& at(int level) const { return levels_[static_cast<std::size_t>(level)]; }
    /// The level of so many halvings, made from a finer one if it is not there yet.
    int level(int row_halvings, int column_halvings);
    Level coarser(const Level& fine, bool rows, bool columns) const;

    std::vector<Level> levels_;
    double low_ = 0, high_ = 1;
    Merging merging_ = Merging::largest;
    std::unordered_map<std::uint64_t, QImage> tiles_;
};

}  // namespace roper
