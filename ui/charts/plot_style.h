#pragma once

#include <qcustomplot.h>

#include "ui/theme/theme.h"

namespace roper {

/// Colours and fonts of a plot's axes, grid, background and legend.
void applyPlotTheme(QCustomPlot& plot, const Theme& theme, const QFont& font);

/// A background through which lines can still be made out, for what is written over them.
QColor translucent(QColor background);

/// Kinds of lines that are told apart without colours: 0 is a solid one; the numbers go round.
Qt::PenStyle dashOf(int number);

/// Draws a plot into an area with any painter, as lines and text.
void paintPlot(QCustomPlot& plot, QPainter& painter, const QRectF& area);

}  // namespace roper
