#include <QApplication>
#include <QTest>
#include <iostream>

#include "tests/support/gui_test.h"

/// gui_test NAME [ARGUMENT...]: runs one test class in its own process; further arguments are passed to Qt
/// Test.
int main(int argc, char* argv[]) {
    const roper::GuiTests& tests = roper::guiTests();
    const auto test = argc > 1 ? tests.find(argv[1]) : tests.end();
    if (test == tests.end()) {
        std::cerr << "usage: gui_test NAME [FUNCTION...], where NAME is one of\n";
        for (const auto& [name, make] : tests)
            std::cerr << "  " << name << "\n";
        return 2;
    }
    argv[1] = argv[0];
    ++argv;
    --argc;
    QApplication app(argc, argv);
    app.setAttribute(Qt::AA_Use96Dpi);  // like QTEST_MAIN, so that text has the same size on every machine
    const std::unique_ptr<QObject> object = test->second();
    return QTest::qExec(object.get(), argc, argv);
}
