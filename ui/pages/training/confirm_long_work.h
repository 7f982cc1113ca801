#pragma once

#include <QString>
#include <QWidget>
#include <functional>

#include "core/compare/expected_time.h"

namespace roper {

/// Starts work of at most ten minutes at once, and asks for confirmation before longer work. The question
/// does not block the window.
/// @param what  the work as a noun: "60 runs"
/// @param verb  label of the confirming button: "Queue"
void confirmLongWork(QWidget* parent, const QString& what, const QString& verb, const ExpectedTime& time,
                     const std::function<void()>& work);

}  // namespace roper
