#pragma once

#include <QString>
#include <QWidget>
#include <functional>

#include "core/compare/expected_time.h"

namespace roper {

/// Does work that takes ten minutes or less at once, and asks before any other. Nothing happens unless the
/// person agrees; the question blocks no other work of the window.
/// @param what  the work as a noun: "60 runs"
/// @param verb  on the button that agrees: "Queue"
void askBeforeLongWork(QWidget* parent, const QString& what, const QString& verb, const ExpectedTime& time,
                       const std::function<void()>& work);

}  // namespace roper
