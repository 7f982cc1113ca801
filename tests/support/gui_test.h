#pragma once

#include <QObject>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace roper {

/// The classes of tests in the program gui_test, by the name under which it runs each.
using GuiTests = std::map<std::string, std::function<std::unique_ptr<QObject>()>>;

inline GuiTests& guiTests() {
    static GuiTests tests;
    return tests;
}

}  // namespace roper

/// Adds a class to them, at the end of its file: `gui_test charts_test`.
#define ROPER_GUI_TEST(Class, name)                    \
    [[maybe_unused]] static const bool Class##_added = \
        roper::guiTests().emplace(name, [] { return std::make_unique<Class>(); }).second;
