#pragma once

#include <QWidget>
#include <functional>
#include <string>
#include <vector>

#include "core/fields/field.h"
#include "ui/charts/figure.h"
#include "ui/charts/figure_request.h"

namespace roper {

/// The pictures of a page: all that exports, `roper-lab figure` and its help need to know of it.
class PageFigures {
  public:
    using Figures = std::vector<const Figure*>;
    /// Brings a picture to what is requested and waits until it is complete, for pictures without a window.
    /// @throws Error (usage) saying which setting is wrong, or what is missing
    using Prepare = std::function<Figure&(FigureRequest request)>;

    explicit PageFigures(const QWidget& page) : page_(page) {}

    /// @param figures      those that can be exported now, the main one first
    /// @param settings     that they know
    /// @param other_kinds  names that they have in other states
    void set(std::function<Figures()> figures, std::vector<const FieldInfo*> settings, Prepare prepare,
             std::vector<std::string> other_kinds = {});
    /// The same of a page that always has the same figures.
    void set(const Figures& figures, std::vector<const FieldInfo*> settings, Prepare prepare,
             std::vector<std::string> other_kinds = {}) {
        set([figures] { return figures; }, std::move(settings), std::move(prepare), std::move(other_kinds));
    }

    /// One that is in front comes first: it is what “Export” means.
    Figures all() const;
    /// The names of all pictures that the page can draw.
    std::vector<std::string> kinds() const;
    const std::vector<const FieldInfo*>& settings() const { return settings_; }
    Figure& prepare(FigureRequest request) const { return prepare_(std::move(request)); }
    /// The figure that has a name now. @throws Error (other) if there is none
    Figure& named(const std::string& kind) const;

  private:
    const QWidget& page_;
    std::function<Figures()> figures_;
    std::vector<const FieldInfo*> settings_;
    Prepare prepare_;
    std::vector<std::string> other_kinds_;
};

}  // namespace roper
