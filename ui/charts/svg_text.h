#pragma once

#include <QByteArray>

namespace roper {

/// What QSvgGenerator has written, so that every reader takes it and draws its letters.
///
/// XML 1.0 allows no control character but tab and line breaks; each becomes its picture, ␌ for a form feed.
/// A font's name that stands for another, as Qt's "Sans Serif" does, becomes the name of the font that was
/// used, with a generic family of CSS behind it for machines that lack it.
QByteArray readableSvg(const QByteArray& svg);

}  // namespace roper
