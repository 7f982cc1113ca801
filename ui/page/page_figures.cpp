#include "ui/page/page_figures.h"

#include <QCoreApplication>
#include <QDeadlineTimer>
#include <QTimer>
#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {

void waitWhile(const std::function<bool()>& is_busy, const std::string& what, std::chrono::minutes timeout) {
    constexpr int kPollInterval_ms = 20;
    QTimer poll_timer;  // `is_busy` is checked even without other events
    poll_timer.start(kPollInterval_ms);
    const QDeadlineTimer end(timeout);
    while (is_busy()) {
        if (end.hasExpired())
            throw Error(ErrorKind::other, what + " took longer than " +
                                              countOf(static_cast<std::size_t>(timeout.count()), "minute"));
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    }
}

void PageFigures::set(std::function<Figures()> figures, std::vector<const FieldInfo*> settings,
                      std::vector<std::string> other_kinds) {
    figures_ = std::move(figures);
    settings_ = std::move(settings);
    other_kinds_ = std::move(other_kinds);
}

PageFigures::Figures PageFigures::all() const {
    Figures all = figures_();
    const auto seen = std::ranges::find_if(all, [this](const Figure* figure) {
        const auto* widget = dynamic_cast<const QWidget*>(figure);
        return widget != nullptr && widget->isVisibleTo(&page_);
    });
    if (seen != all.end()) std::rotate(all.begin(), seen, seen + 1);
    return all;
}

std::vector<std::string> PageFigures::kinds() const {
    std::vector<std::string> kinds;
    for (const Figure* figure : figures_())
        kinds.push_back(figure->figureName().toStdString());
    for (const std::string& kind : other_kinds_)
        if (std::ranges::count(kinds, kind) == 0) kinds.push_back(kind);
    return kinds;
}

Figure& PageFigures::named(const std::string& kind) const {
    for (const Figure* figure : figures_())
        if (figure->figureName().toStdString() == kind) return const_cast<Figure&>(*figure);
    throw Error(ErrorKind::other, "the page has no figure \"" + kind + "\"");
}

}  // namespace roper
