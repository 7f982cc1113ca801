#pragma once

#include <QObject>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace roper {

/// The test classes of gui_test by the names under which it runs them.
using GuiTests = std::map<std::string, std::function<std::unique_ptr<QObject>()>>;

inline GuiTests& guiTests() {
    static GuiTests tests;
    return tests;
}

}  // namespace roper

/// Registers a test class, at the end of its file: `gui_test charts_test`.
#define ROPER_GUI_TEST(Class, name)                    \
    [[maybe_unused]] static const bool Class##_added = \
        roper::guiTests().emplace(name, [] { return std::make_unique<Class>(); }).second;
