#include "ui/charts/svg_text.h"

#include <QFontInfo>
#include <QHash>
#include <QRegularExpression>

namespace roper {
namespace {

/// U+FFFE and U+FFFF, which are noncharacters, in UTF-8.
bool isNoCharacter(const QByteArray& text, qsizetype at) {
    return text[at] == '\xEF' && at + 2 < text.size() && text[at + 1] == '\xBF' &&
           (text[at + 2] == '\xBE' || text[at + 2] == '\xBF');
}

QByteArray withoutControlCharacters(const QByteArray& text) {
    constexpr char32_t kControlPictures = 0x2400;  // ␀ and the following
    QByteArray clean;
    clean.reserve(text.size());
    for (qsizetype i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (isNoCharacter(text, i)) {
            clean += "\xEF\xBF\xBD";  // U+FFFD, "replacement character"
            i += 2;
        } else if (c >= ' ' || c == '\t' || c == '\n' || c == '\r') {
            clean += text[i];
        } else {
            const char32_t picture = kControlPictures + c;
            clean += QString::fromUcs4(&picture, 1).toUtf8();
        }
    }
    return clean;
}

/// "DejaVu Sans, sans-serif", a CSS font list.
QByteArray familiesFor(const QByteArray& name) {
    static const QRegularExpression words("^[A-Za-z][A-Za-z0-9-]*( [A-Za-z][A-Za-z0-9-]*)*$");
    QFont font(QString::fromUtf8(name));
    font.setStyleHint(QFont::AnyStyle);
    const QFontInfo used(font);
    const QByteArray generic = used.fixedPitch() ? "monospace" : "sans-serif";
    QString family = used.family();
    if (family.isEmpty() || family.toUtf8() == generic) return generic;
    if (!words.match(family).hasMatch()) family = "'" + family.remove('\'') + "'";
    return family.toHtmlEscaped().toUtf8() + ", " + generic;
}

/// Only an attribute has these words followed by a quotation mark; in text it is escaped as &quot;.
QByteArray withRealFamilies(const QByteArray& svg) {
    const QByteArray attribute = "font-family=\"";
    QHash<QByteArray, QByteArray> known;
    QByteArray named;
    named.reserve(svg.size());
    qsizetype from = 0;
    for (qsizetype at = svg.indexOf(attribute); at >= 0; at = svg.indexOf(attribute, from)) {
        const qsizetype begin = at + attribute.size(), end = svg.indexOf('"', begin);
        if (end < 0) break;
        const QByteArray name = svg.mid(begin, end - begin);
        if (!known.contains(name)) known.insert(name, familiesFor(name));
        named += svg.mid(from, begin - from) + known.value(name);
        from = end;
    }
    return named + svg.mid(from);
}

}  // namespace

QByteArray readableSvg(const QByteArray& svg) {
    return withRealFamilies(withoutControlCharacters(svg));
}

}  // namespace roper
