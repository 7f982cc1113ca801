#include "ui/charts/latex.h"

#include <QFileInfo>
#include <QHash>
#include <QStringList>
#include <algorithm>

#include "core/base/error.h"

namespace roper {
namespace {

/// Characters with a meaning in text mode.
const QHash<QChar, QString>& escapes() {
    static const QHash<QChar, QString> all = {{'\\', "\\textbackslash{}"},
                                              {'~', "\\textasciitilde{}"},
                                              {'^', "\\textasciicircum{}"},
                                              {'#', "\\#"},
                                              {'$', "\\$"},
                                              {'%', "\\%"},
                                              {'&', "\\&"},
                                              {'_', "\\_"},
                                              {'{', "\\{"},
                                              {'}', "\\}"},
                                              {'<', "\\textless{}"},
                                              {'>', "\\textgreater{}"},
                                              {'|', "\\textbar{}"},
                                              {'"', "\\textquotedbl{}"}};
    return all;
}

/// Characters that are commands of mathematics.
const QHash<QChar, QString>& mathCommands() {
    static const QHash<QChar, QString> all = {
        {u'α', "\\alpha"},   {u'β', "\\beta"},   {u'γ', "\\gamma"},  {u'δ', "\\delta"},
        {u'ε', "\\epsilon"}, {u'ζ', "\\zeta"},   {u'η', "\\eta"},    {u'θ', "\\theta"},
        {u'λ', "\\lambda"},  {u'μ', "\\mu"},     {u'π', "\\pi"},     {u'ρ', "\\rho"},
        {u'σ', "\\sigma"},   {u'τ', "\\tau"},    {u'φ', "\\varphi"}, {u'ω', "\\omega"},
        {u'Δ', "\\Delta"},   {u'Θ', "\\Theta"},  {u'Σ', "\\Sigma"},  {u'Φ', "\\Phi"},
        {u'Ω', "\\Omega"},   {u'−', "-"},        {u'·', "\\cdot"},   {u'×', "\\times"},
        {u'±', "\\pm"},      {u'∓', "\\mp"},     {u'≤', "\\le"},     {u'≥', "\\ge"},
        {u'≠', "\\ne"},      {u'≈', "\\approx"}, {u'∝', "\\propto"}, {u'→', "\\to"},
        {u'←', "\\gets"},    {u'∞', "\\infty"},  {u'√', "\\surd"},   {u'′', "'"},
        {u'∂', "\\partial"}, {u'‖', "\\|"},      {u'⟨', "\\langle"}, {u'⟩', "\\rangle"},
        {u'⊙', "\\odot"},    {u'⊗', "\\otimes"}, {u'∘', "\\circ"},   {u'⌊', "\\lfloor"},
        {u'⌋', "\\rfloor"},  {u'⌈', "\\lceil"},  {u'⌉', "\\rceil"},  {u'½', "\\frac{1}{2}"},
        {u'°', "^{\\circ}"}};
    return all;
}

/// What stands below or above the line, by the characters that Unicode has for it.
const QHash<QChar, QChar>& lowered() {
    static const QHash<QChar, QChar> all = {{u'₀', '0'}, {u'₁', '1'}, {u'₂', '2'}, {u'₃', '3'}, {u'₄', '4'},
                                            {u'₅', '5'}, {u'₆', '6'}, {u'₇', '7'}, {u'₈', '8'}, {u'₉', '9'},
                                            {u'ᵢ', 'i'}, {u'ⱼ', 'j'}, {u'ₙ', 'n'}, {u'ₘ', 'm'}, {u'ᵣ', 'r'},
                                            {u'ₛ', 's'}, {u'ₜ', 't'}, {u'ₖ', 'k'}, {u'₋', '-'}};
    return all;
}
const QHash<QChar, QChar>& raised() {
    static const QHash<QChar, QChar> all = {{u'⁰', '0'}, {u'¹', '1'}, {u'²', '2'}, {u'³', '3'}, {u'⁴', '4'},
                                            {u'⁵', '5'}, {u'⁶', '6'}, {u'⁷', '7'}, {u'⁸', '8'}, {u'⁹', '9'},
                                            {u'ⁿ', 'n'}, {u'ⁱ', 'i'}, {u'⁻', '-'}, {u'⁺', '+'}, {u'ᵀ', 'T'}};
    return all;
}

/// Writes a text piece by piece and joins neighbouring mathematics into one formula.
class LatexWriter {
  public:
    void text(const QString& piece) {
        leaveMath();
        written_ += piece;
    }
    /// @param piece  must not begin with a letter, which would continue the name of a command before it
    void math(const QString& piece) {
        if (!in_math_) written_ += '$';
        in_math_ = true;
        written_ += piece;
    }
    QString finished() {
        leaveMath();
        return written_;
    }

  private:
    void leaveMath() {
        if (in_math_) written_ += '$';
        in_math_ = false;
    }

    QString written_;
    bool in_math_ = false;
};

/// All characters from `at` on that `scripts` contains, as written on the line.
QString takeScripts(const QString& text, qsizetype at, const QHash<QChar, QChar>& scripts) {
    QString taken;
    for (; at < text.size() && scripts.contains(text[at]); ++at)
        taken += scripts.value(text[at]);
    return taken;
}

/// Whether LaTeX can include a file of this name.
bool isIncludable(const QString& name) {
    const QString special = QStringLiteral("\\{}$%#&~^\"");
    return std::none_of(name.begin(), name.end(),
                        [&](QChar c) { return special.contains(c) || c.category() == QChar::Other_Control; });
}

}  // namespace

QString latexText(const QString& text) {
    LatexWriter out;
    for (qsizetype at = 0; at < text.size();) {
        const QChar c = text[at];
        if (const QString below = takeScripts(text, at, lowered()); !below.isEmpty()) {
            out.math("_{" + below + '}');
            at += below.size();
        } else if (const QString above = takeScripts(text, at, raised()); !above.isEmpty()) {
            out.math("^{" + above + '}');
            at += above.size();
        } else {
            if (const auto command = mathCommands().constFind(c); command != mathCommands().constEnd())
                out.math(*command);
            else
                out.text(escapes().value(c, c));
            ++at;
        }
    }
    return out.finished();
}

QByteArray latexBytes(const LatexFigure& figure) {
    if (!isIncludable(figure.picture))
        throw Error(ErrorKind::usage, "LaTeX cannot include a file named \"" + figure.picture.toStdString() +
                                          "\": choose a name without \\ { } $ % # & ~ ^ and quotation marks");
    QStringList lines;
    if (!figure.made_by.isEmpty())
        for (const QString& line : figure.made_by.split('\n'))
            lines << "% " + line;
    const QString width = figure.width_mm > 0 ? QString::number(figure.width_mm) + "mm" : "\\linewidth";
    lines << "\\begin{figure}"
          << "  \\centering"
          << "  \\includegraphics[width=" + width + "]{" + figure.picture + "}"
          << "  \\caption{" + latexText(figure.caption) + "}"
          << "  \\label{fig:" + QFileInfo(figure.picture).completeBaseName() + "}"
          << "\\end{figure}" << QString();
    return lines.join('\n').toUtf8();
}

}  // namespace roper
