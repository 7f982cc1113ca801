#pragma once

#include <QByteArray>

namespace roper {

/// Cleans up the output of QSvgGenerator, so that every viewer accepts it and draws its text.
///
/// XML 1.0 allows no control characters except tab and line breaks; the others become control pictures, such
/// as ␌ for a form feed. Alias font names, such as Qt's "Sans Serif", become the name of the actual font,
/// followed by a generic CSS family as a fallback.
QByteArray readableSvg(const QByteArray& svg);

}  // namespace roper
