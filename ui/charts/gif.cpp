#include <gif_lib.h>

#include <QHash>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "core/base/error.h"
#include "ui/charts/figure_export.h"

namespace roper {
namespace {

/// A frame of a GIF: the index of each pixel's color.
using Indices = std::vector<GifByteType>;

/// 256 colors for some pictures: their 64 most frequent colors, which giflib would round, and 192 that giflib
/// chooses for the rest.
class Palette {
  public:
    explicit Palette(const std::vector<QImage>& pictures) : map_(GifMakeMapObject(kColors, nullptr)) {
        std::vector<GifByteType> red, green, blue;
        QHash<QRgb, int> counts;
        for (const QImage& picture : pictures)
            for (int y = 0; y < picture.height(); ++y)
                for (int x = 0; x < picture.width(); ++x) {
                    const QRgb color = pixel(picture, x, y);
                    ++counts[color];
                    red.push_back(static_cast<GifByteType>(qRed(color)));
                    green.push_back(static_cast<GifByteType>(qGreen(color)));
                    blue.push_back(static_cast<GifByteType>(qBlue(color)));
                }
        Indices unused(red.size());
        int size = kColors - kExact;
        const auto width = static_cast<unsigned>(pictures.front().width());
        if (map_ == nullptr ||
            GifQuantizeBuffer(width, static_cast<unsigned>(red.size()) / width, &size, red.data(),
                              green.data(), blue.data(), unused.data(), map_->Colors) != GIF_OK)
            throw Error(ErrorKind::memory, "there is not enough memory to choose the colors of a GIF");
        QList<QRgb> exact = counts.keys();
        const auto end = exact.begin() + std::min<qsizetype>(kExact, exact.size());
        std::partial_sort(exact.begin(), end, exact.end(),
                          [&](QRgb a, QRgb b) { return std::pair(counts[a], a) > std::pair(counts[b], b); });
        GifColorType* to = map_->Colors + (kColors - kExact);
        for (auto color = exact.begin(); color != end; ++color)
            *to++ = {static_cast<GifByteType>(qRed(*color)), static_cast<GifByteType>(qGreen(*color)),
                     static_cast<GifByteType>(qBlue(*color))};
    }

    ColorMapObject* map() const { return map_.get(); }

    Indices indicesOf(const QImage& picture) {
        Indices indices;
        indices.reserve(static_cast<std::size_t>(picture.width()) *
                        static_cast<std::size_t>(picture.height()));
        for (int y = 0; y < picture.height(); ++y)
            for (int x = 0; x < picture.width(); ++x)
                indices.push_back(nearest(pixel(picture, x, y)));
        return indices;
    }

  private:
    static constexpr int kColors = 256, kExact = 64;
    struct Free {
        void operator()(ColorMapObject* map) const { GifFreeMapObject(map); }
    };

    static QRgb pixel(const QImage& picture, int x, int y) {
        return reinterpret_cast<const QRgb*>(picture.constScanLine(y))[x];
    }

    GifByteType nearest(QRgb color) {
        const auto known = nearest_.constFind(color);
        if (known != nearest_.cend()) return *known;
        int best = 0, least = std::numeric_limits<int>::max();
        for (int i = 0; i < kColors; ++i) {
            const GifColorType& one = map_->Colors[i];
            const int red = one.Red - qRed(color), green = one.Green - qGreen(color),
                      blue = one.Blue - qBlue(color);
            const int distance = red * red + green * green + blue * blue;
            if (distance >= least) continue;
            least = distance;
            best = i;
        }
        return nearest_[color] = static_cast<GifByteType>(best);
    }

    std::unique_ptr<ColorMapObject, Free> map_;
    QHash<QRgb, GifByteType> nearest_;
};

/// The smallest rectangle outside which two frames of this size are equal; of one pixel if they are equal.
QRect changedPart(const Indices& before, const Indices& now, const QSize& size) {
    QRect changed;
    for (int y = 0; y < size.height(); ++y)
        for (int x = 0; x < size.width(); ++x) {
            const auto at = static_cast<std::size_t>(y) * static_cast<std::size_t>(size.width()) +
                            static_cast<std::size_t>(x);
            if (before[at] != now[at]) changed |= QRect(x, y, 1, 1);
        }
    return changed.isEmpty() ? QRect(0, 0, 1, 1) : changed;
}

}  // namespace

/// Writes one palette for all frames, and of each frame only the part that changes.
QByteArray gifBytes(const std::vector<QImage>& frames, double seconds) {
    constexpr std::size_t kSampled = 8;  // frames whose colors make the palette
    std::vector<QImage> sampled;
    for (std::size_t i = 0; i < std::min(kSampled, frames.size()); ++i)
        sampled.push_back(frames[i * frames.size() / std::min(kSampled, frames.size())]);
    Palette palette(sampled);
    const QSize size = frames.front().size();
    QByteArray bytes;
    const auto write = [](GifFileType* gif, const GifByteType* data, int count) {
        static_cast<QByteArray*>(gif->UserData)->append(reinterpret_cast<const char*>(data), count);
        return count;
    };
    int error = 0;
    GifFileType* gif = EGifOpen(&bytes, write, &error);
    bool good = gif != nullptr;
    if (good) {
        EGifSetGifVersion(gif, true);
        constexpr std::array<GifByteType, 3> kForever = {1, 0, 0};
        good = EGifPutScreenDesc(gif, size.width(), size.height(), 8, 0, palette.map()) == GIF_OK &&
               EGifPutExtensionLeader(gif, APPLICATION_EXT_FUNC_CODE) == GIF_OK &&
               EGifPutExtensionBlock(gif, 11, "NETSCAPE2.0") == GIF_OK &&
               EGifPutExtensionBlock(gif, kForever.size(), kForever.data()) == GIF_OK &&
               EGifPutExtensionTrailer(gif) == GIF_OK;
    }
    Indices before;
    const double hundredths = 100 * seconds / static_cast<double>(frames.size());
    for (std::size_t i = 0; good && i < frames.size(); ++i) {
        Indices now = palette.indicesOf(frames[i]);
        const QRect part = i == 0 ? QRect(QPoint(), size) : changedPart(before, now, size);
        GraphicsControlBlock control = {};
        control.DisposalMode = DISPOSE_DO_NOT;
        const auto until = [&](std::size_t frame) {
            return std::lround(hundredths * static_cast<double>(frame));
        };
        control.DelayTime = static_cast<int>(until(i + 1) - until(i));
        control.TransparentColor = NO_TRANSPARENT_COLOR;
        std::array<GifByteType, 4> packed = {};
        EGifGCBToExtension(&control, packed.data());
        good =
            EGifPutExtension(gif, GRAPHICS_EXT_FUNC_CODE, packed.size(), packed.data()) == GIF_OK &&
            EGifPutImageDesc(gif, part.x(), part.y(), part.width(), part.height(), false, nullptr) == GIF_OK;
        for (int y = part.top(); good && y <= part.bottom(); ++y)
            good = EGifPutLine(gif, now.data() + static_cast<std::ptrdiff_t>(y) * size.width() + part.left(),
                               part.width()) == GIF_OK;
        before = std::move(now);
    }
    if (gif != nullptr) good = EGifCloseFile(gif, &error) == GIF_OK && good;
    if (!good) throw Error(ErrorKind::memory, "there is not enough memory to write a GIF");
    return bytes;
}

}  // namespace roper
