#pragma once

#include <qcustomplot.h>

#include <QPointer>
#include <optional>
#include <utility>
#include <vector>

namespace roper {

/// Draws each curve's letter on it, so that curves are told apart in print without colours: where the curve
/// keeps farthest from all others, and no two letters at the same x, so that they can be read where curves
/// lie on one another.
class CurveLetters : public QCPAbstractItem {
    Q_OBJECT

  public:
    struct Letter {
        QPointer<QCPGraph> graph;  ///< may be deleted before the letters are set anew
        QString text;              ///< curves of one text have it at the same x
        QColor color;
    };

    /// Over all curves of the plot, inside its axes. The plot owns it.
    explicit CurveLetters(QCustomPlot& plot);

    /// What is drawn from the next replot on.
    void setLetters(std::vector<Letter> letters);
    /// @param font  drawn bold. @param background  behind each letter
    void setLook(const QFont& font, const QColor& text, const QColor& background);

    double selectTest(const QPointF&, bool, QVariant*) const override { return -1; }

    /// "A" … "Z", then "AA", "AB", …
    static QString letter(int number);
    /// Whether a letter comes before another: "Z" before "AA".
    static bool isBefore(const QString& a, const QString& b);
    /// "A  RoPE, width 64"; without a letter the label alone.
    static QString labelled(const QString& letter, const QString& label);

  protected:
    void draw(QCPPainter* painter) override;

  private:
    /// From the first to the last x of all curves inside the axes, in pixels.
    std::pair<double, double> reach(const QRectF& area) const;
    /// Where letters may stand: so many places along x, and there the y of each curve that reaches it.
    struct Places {
        QStringList texts;
        int repeats = 1;  ///< places for each text
        std::vector<double> xs;
        std::vector<std::vector<std::optional<double>>> ys;  ///< of each letter's curve
    };
    /// The places of a text, the one first where its curves keep farthest from all others.
    struct Choice {
        QString text;
        std::vector<std::pair<double, std::size_t>> places;  ///< distance in pixels, index
        int apart = 0;                                       ///< places where they are told apart
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

/// Up to this many curves are told apart by dashes alone.
inline constexpr int kMostWithoutLetters = 5;

}  // namespace roper
