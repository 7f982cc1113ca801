#pragma once

#include <Eigen/Core>
#include <QImage>
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace roper {

/// 256 colors from the low to the high end of a scale.
using ColorTable = std::array<QRgb, 256>;

/// A large matrix prepared for drawing at any zoom: its levels halve rows and columns, independently, as
/// often as the available room requires. Numbers that share an entry of a level give the one of largest
/// magnitude, so that a lone peak stays visible, or their mean; of numbers that stand for categories, the
/// first. Colors are computed per tile when it is
/// first drawn.
class TilePyramid {
  public:
    /// How numbers that share an entry are merged.
    enum class Merging { largest, mean, first };

    /// How NaN entries are treated: shown as errors, or as absent.
    enum class NotANumber { shown, absent };

    static constexpr int kTileSize = 256;

    /// Values are colored between `low` and `high`; categories, merged by `first`, by their number. With
    /// `lower_triangle_only`, entries right of the diagonal are transparent.
    TilePyramid(const Eigen::MatrixXd& values, bool lower_triangle_only, double low, double high,
                NotANumber not_a_number = NotANumber::shown, Merging merging = Merging::largest);

    int rows() const { return levels_.empty() ? 0 : levels_.front().rows; }
    int columns() const { return levels_.empty() ? 0 : levels_.front().columns; }

    /// The finest level whose entries are at least one pixel high and wide, if a number takes `row_pixels` ×
    /// `column_pixels`. Nothing is merged along an axis with enough room.
    int levelFor(double row_pixels, double column_pixels);
    int rows(int level) const { return at(level).rows; }
    int columns(int level) const { return at(level).columns; }
    /// Number of rows and columns of the matrix that share an entry of a level.
    int rowsPerEntry(int level) const { return 1 << at(level).row_halvings; }
    int columnsPerEntry(int level) const { return 1 << at(level).column_halvings; }

    static constexpr int kClearIndex = -1;
    static constexpr int kNotFiniteIndex = -2;
    /// Color of an entry that is not transparent; magenta if it is not finite.
    static QRgb colorOf(int index, const ColorTable& colors) {
        constexpr QRgb kNotFiniteColor = 0xffff00ff;
        return index == kNotFiniteIndex ? kNotFiniteColor : colors[static_cast<std::size_t>(index)];
    }

    /// Index of an entry in a color table, or one of the two constants above.
    int colorIndex(int level, int row, int column) const;

    /// Image of one tile, one pixel per entry.
    const QImage& tile(int level, int tile_row, int tile_column, const ColorTable& colors);

    /// Drops the images, for example when colors change.
    void dropTiles() { tiles_.clear(); }

  private:
    struct Level {
        int row_halvings, column_halvings;
        int rows, columns;
        std::vector<float> values;  ///< row-major
        std::vector<float>
            counted;  ///< number of values in each mean; empty unless `mean`, and for the first level

        std::size_t place(int row, int column) const {
            return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
                   static_cast<std::size_t>(column);
        }
    };
    const Level& at(int level) const { return levels_[static_cast<std::size_t>(level)]; }
    /// The level with these halvings, computed from a finer one on first use.
    int level(int row_halvings, int column_halvings);
    Level coarser(const Level& fine, bool rows, bool columns) const;

    std::vector<Level> levels_;
    double low_ = 0, high_ = 1;
    Merging merging_ = Merging::largest;
    std::unordered_map<std::uint64_t, QImage> tiles_;
};

}  // namespace roper
