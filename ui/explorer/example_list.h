#pragma once

#include <QPixmap>

#include "core/explorer/examples.h"
#include "ui/explorer/setup_panel.h"

namespace roper {

/// Size of a cell of resources/examples/thumbnails.png, a column with one cell for each of `examples()`.
inline constexpr QSize kThumbnail{192, 128};

/// The cell of an example. @param example  one of examples()
QRect thumbnailCell(const Example& example);

/// The cells of all examples; a null pixmap if the program's resources are missing.
QPixmap thumbnailSheet();

/// Adds the page's list of examples, with pictures, to the panel.
/// @param page  as in `roper-lab --page`
/// @param show  brings the tabs with the example to the front
void addExamples(SetupPanel& panel, const std::string& page, std::function<void(const ViewSettings&)> show);

}  // namespace roper
