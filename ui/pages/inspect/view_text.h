#pragma once

#include <QFont>
#include <QPainter>

#include "ui/theme/theme.h"

namespace roper {

/// What a view says in the place of its picture.
void paintInstead(QPainter& painter, const QRectF& area, const Theme& theme, const QString& text);

/// A font in which tokens are read, so many times as large as another.
QFont monospaced(const QFont& like, double times = 1);

}  // namespace roper
