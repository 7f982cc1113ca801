#pragma once

#include <QFont>
#include <QObject>
#include <QSize>
#include <cmath>

namespace roper {

/// How large the whole window is drawn: 1 as the desktop has it.
///
/// The font of the program carries it, so that whatever is laid out around text follows by itself. What is
/// set in pixels is passed through `zoomed`; pictures are laid out as at 1 and drawn larger (FigureView).
class Zoom : public QObject {
    Q_OBJECT

  public:
    static constexpr double kLeast = 0.7, kMost = 2.5;

    static Zoom& instance();

    double factor() const { return factor_; }
    /// Restores the saved factor.
    void restore();
    /// Now and from the next start on; kept within its bounds.
    void set(double factor);
    /// The next larger (+1) or smaller (−1) of the fixed factors.
    void step(int direction);

    /// The program's font at factor 1, in which pictures are laid out.
    const QFont& pictureFont() const { return picture_font_; }

  signals:
    void changed();

  private:
    Zoom();

    QFont picture_font_;
    double factor_ = 1;
};

/// A length in pixels as it is now.
inline int zoomed(double pixels) {
    return static_cast<int>(std::lround(pixels * Zoom::instance().factor()));
}
inline QSize zoomed(const QSize& size) {
    return {zoomed(size.width()), zoomed(size.height())};
}

}  // namespace roper
