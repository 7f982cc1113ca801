#include "app/roper_lab/display.h"

#include <QFontDatabase>
#include <QFontMetricsF>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {
namespace {

/// Qt's messages from its search for a display, to be printed once it has found one.
std::vector<std::pair<QtMsgType, QString>>& qtMessages() {
    static std::vector<std::pair<QtMsgType, QString>> messages;
    return messages;
}

std::string whyNoDisplay() {
    std::string why;
    if (!qEnvironmentVariableIsSet("DISPLAY") && !qEnvironmentVariableIsSet("WAYLAND_DISPLAY"))
        why = "neither DISPLAY nor WAYLAND_DISPLAY is set";
    else if (!qtMessages().empty())
        why = toSingleLine(qtMessages().front().second.toStdString());
    return "cannot open a window: no display found" + (why.empty() ? "" : " (" + why + ")");
}

/// Qt aborts after its fatal message, so the explanation must be printed before.
void explainMissingDisplay(QtMsgType type, const QMessageLogContext&, const QString& message) {
    if (type != QtFatalMsg) {
        qtMessages().emplace_back(type, message);
        return;
    }
    std::cerr
        << "roper-lab: " << whyNoDisplay()
        << "; `roper-lab figure` and `roper-lab screenshots` write figures without one, `ssh -X` shows the "
           "window on your own screen, and `xvfb-run roper-lab` opens it on a virtual screen"
        << std::endl;
    std::_Exit(static_cast<int>(ErrorKind::usage));
}

}  // namespace

std::unique_ptr<QApplication> createApplication(int& argc, char** argv) {
    const QtMessageHandler usual = qInstallMessageHandler(explainMissingDisplay);
    auto application = std::make_unique<QApplication>(argc, argv);
    qInstallMessageHandler(usual);
    for (const auto& [type, message] : qtMessages())
        qt_message_output(type, {}, message);
    return application;
}

void requireFonts() {
    constexpr std::u32string_view kNeeded = U"aZ09.,-−×θλ";
    // Without any font Qt may claim that its boxes are the letters.
    const bool has_family = !QFontDatabase::families().isEmpty();
    const QFontMetricsF metrics{QFont()};
    QString missing;
    for (const char32_t letter : kNeeded)
        if (!has_family || !metrics.inFontUcs4(letter)) missing += QString::fromUcs4(&letter, 1);
    if (missing.isEmpty()) return;
    const bool has_none = missing.size() == static_cast<qsizetype>(kNeeded.size());
    throw Error(
        ErrorKind::disk,
        (has_none
             ? std::string("no font is installed on this machine, so every character would be shown as a box")
             : "no font on this machine contains " + missing.toStdString() +
                   ", which would be shown as boxes") +
            "; install one, such as Debian's fonts-dejavu-core, or set FONTCONFIG_FILE to a "
            "fontconfig file that names a folder of fonts (`fc-list` prints the fonts found)");
}

}  // namespace roper
