#pragma once

#include <QSize>
#include <QWidget>
#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/fields/field.h"
#include "ui/charts/figure.h"

namespace roper {

/// A request for a figure drawn without a window.
struct FigureRequest {
    std::string kind = {};  ///< name of the figure
    QSize size = {};        ///< in pixels
    /// Whether the user gave the width or the height; if not, `size` has a default.
    bool has_width = false, has_height = false;
    std::vector<std::pair<std::string, std::string>> settings = {};  ///< keys and values
    std::string run = {};  ///< name of a run, or path of a published model; empty if none is needed

    /// Removes a setting from `settings` and returns its value; nothing if it is not there.
    std::optional<std::string> takeSetting(const std::string& key) {
        const auto found = std::ranges::find_if(settings, [&](const auto& one) { return one.first == key; });
        if (found == settings.end()) return std::nullopt;
        std::string value = std::move(found->second);
        settings.erase(found);
        return value;
    }

    bool hasSetting(const std::string& key) const {
        return std::ranges::any_of(settings, [&](const auto& one) { return one.first == key; });
    }
};

/// Runs the event loop, sleeping between events, while `is_busy` returns true.
/// @param what  subject of the error message: "the answer of the model"
/// @throws Error (other) after a time-out
void waitWhile(const std::function<bool()>& is_busy, const std::string& what,
               std::chrono::minutes timeout = std::chrono::minutes(10));

/// The figures of a page, as needed by exports, `roper-lab figure` and its help.
class PageFigures {
  public:
    using Figures = std::vector<const Figure*>;

    explicit PageFigures(const QWidget& page) : page_(page) {}

    /// @param figures      figures that can be exported now, the main one first
    /// @param settings     settings that they accept
    /// @param other_kinds  names of figures that exist only in other states of the page
    void set(std::function<Figures()> figures, std::vector<const FieldInfo*> settings,
             std::vector<std::string> other_kinds = {});
    /// The same for a page that always has the same figures.
    void set(const Figures& figures, std::vector<const FieldInfo*> settings,
             std::vector<std::string> other_kinds = {}) {
        set([figures] { return figures; }, std::move(settings), std::move(other_kinds));
    }

    /// All current figures; a visible one comes first, because “Export” exports it.
    Figures all() const;
    /// Names of all figures that the page can draw.
    std::vector<std::string> kinds() const;
    const std::vector<const FieldInfo*>& settings() const { return settings_; }
    /// The figure with this name. @throws Error (other) if there is none now
    Figure& named(const std::string& kind) const;

  private:
    const QWidget& page_;
    std::function<Figures()> figures_;
    std::vector<const FieldInfo*> settings_;
    std::vector<std::string> other_kinds_;
};

}  // namespace roper
