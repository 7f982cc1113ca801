#pragma once

#include <qcustomplot.h>

#include <QPointer>
#include <optional>
#include <utility>
#include <vector>

namespace roper {

/// Draws a letter on each curve, so that curves can be told apart in print without colors. A letter stands
/// where its curve is farthest from all others; no two letters share an x, so that letters of coinciding
/// curves stay readable. Letters of curves shorter than a few pixels are drawn beside each other.
class CurveLetters : public QCPAbstractItem {
    Q_OBJECT

  public:
    struct Letter {
        QPointer<QCPGraph> graph;  ///< may be deleted before the letters are set again
        QString text;              ///< curves with the same text have it at the same x
        QColor color;
    };

    /// Drawn over all curves of the plot, inside its axes. The plot owns it.
    explicit CurveLetters(QCustomPlot& plot);

    /// Sets the letters drawn from the next replot on.
    void setLetters(std::vector<Letter> letters) { letters_ = std::move(letters); }
    /// @param font  drawn bold
    /// @param background  drawn behind each letter
    void setCurveStyle(const QFont& font, const QColor& text, const QColor& background);

    double selectTest(const QPointF&, bool, QVariant*) const override { return -1; }

    /// "A" … "Z", then "AA", "AB", …
    static QString letterLabel(int number);
    /// Order of letters: "Z" before "AA".
    static bool isBefore(const QString& a, const QString& b);
    /// "A  RoPE, width 64"; without a letter, the label alone.
    static QString labeled(const QString& letter, const QString& label);

  protected:
    void draw(QCPPainter* painter) override;

  private:
    /// First and last x of all curves inside the axes, in pixels.
    std::pair<double, double> reach(const QRectF& area) const;
    /// Candidate positions: values of x, and the y of each curve there, if it reaches that x.
    struct Places {
        QStringList texts;
        int repeats = 1;  ///< number of letters per text
        std::vector<double> xs;
        std::vector<std::vector<std::optional<double>>> ys;  ///< per letter
    };
    /// Candidate positions of a text, the one with the largest distance to other curves first.
    struct Choice {
        QString text;
        std::vector<std::pair<double, std::size_t>> places;  ///< distance in pixels, index
        int clear_positions = 0;                             ///< number of positions with enough distance
    };
    Places placesIn(const QRectF& area) const;
    double separation(const Places& places, const QString& text, std::size_t place) const;
    std::vector<Choice> choicesOf(const Places& places) const;
    QRectF boxOf(const QString& letter, const QPointF& at, const QRectF& area) const;
    void drawLetter(QCPPainter& painter, const Letter& letter, const QRectF& box) const;

    std::vector<Letter> letters_;
    QFont font_;
    QColor text_, background_;
};

/// Up to this many curves are distinguished by dashes alone.
inline constexpr int kMaxCurvesWithoutLetters = 5;

}  // namespace roper
