#pragma once

#include <QPointF>
#include <QRectF>
#include <algorithm>
#include <cmath>

namespace roper {

/// A point rotated around the origin. @param angle  in radians
inline QPointF rotatedBy(const QPointF& p, double angle) {
    const double c = std::cos(angle), s = std::sin(angle);
    return {p.x() * c - p.y() * s, p.x() * s + p.y() * c};
}

/// Distance of a point from the origin.
inline double lengthOf(const QPointF& p) {
    return std::hypot(p.x(), p.y());
}

/// Maps a plane, with y upwards, to the screen and back.
struct PlaneFrame {
    QPointF center;     ///< position of the origin
    double unit = 1;    ///< pixels per unit of the plane
    double extent = 1;  ///< units from the center to the nearer edge (`in`) or the farther one (`around`)

    /// Fits the plane out to `extent` units into an area.
    static PlaneFrame in(const QRectF& area, double extent) {
        return {area.center(), 0.5 * std::min(area.width(), area.height()) / extent, extent};
    }

    /// Fits a rectangle of the plane into an area.
    static PlaneFrame around(const QRectF& area, const QRectF& shown) {
        const double unit = std::min(area.width() / shown.width(), area.height() / shown.height());
        const QPointF middle = shown.center();
        return {{area.center().x() - unit * middle.x(), area.center().y() + unit * middle.y()},
                unit,
                0.5 * std::max(area.width(), area.height()) / unit};
    }

    QPointF onScreen(const QPointF& p) const {
        return {center.x() + unit * p.x(), center.y() - unit * p.y()};
    }
    QPointF inPlane(const QPointF& p) const {
        return {(p.x() - center.x()) / unit, (center.y() - p.y()) / unit};
    }
};

}  // namespace roper
