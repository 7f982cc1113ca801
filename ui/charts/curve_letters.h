#pragma once

#include <qcustomplot.h>

#include <vector>

namespace roper {

/// Letters on curves, as many as tell them apart in print without colours: each on its own curve, and no two
/// at the same x, so that they can be read where curves lie on one another.
class CurveLetters : public QCPAbstractItem {
    Q_OBJECT

  public:
    struct Letter {
        QCPGraph* graph;
        QString text;  ///< curves of one text have it at the same x
        QColor color;
    };

    explicit CurveLetters(QCustomPlot& plot);

    void setLetters(std::vector<Letter> letters);
    void setLook(const QFont& font, const QColor& text, const QColor& background);

    double selectTest(const QPointF&, bool, QVariant*) const override { return -1; }

    /// "A" … "Z", then "AA", "AB", …
    static QString letter(int number);

  protected:
    void draw(QCPPainter* painter) override;

  private:
    std::vector<Letter> letters_;
    QFont font_;
    QColor text_, background_;
};

/// More curves than this have letters: so many kinds of lines are told apart without colours.
inline constexpr int kMostWithoutLetters = 5;

}  // namespace roper
