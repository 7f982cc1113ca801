#pragma once

#include <QByteArray>
#include <QString>

namespace roper {

/// Text for LaTeX: its special characters are escaped, and Greek letters, indices and signs become
/// mathematics, so that pdfLaTeX prints them: "b^(−2i/d), θᵢ" becomes "b\textasciicircum{}($-$2i/d),
/// $\theta_{i}$". Characters without a command, such as Chinese ones, remain as they are.
QString latexText(const QString& text);

/// A figure environment that includes a PDF file.
struct LatexFigure {
    QString picture;       ///< name of the PDF file in the same folder
    QString caption;       ///< plain text
    double width_mm = 0;   ///< 0: the width of the line
    QString made_by = {};  ///< text for a comment: how to make the figure again; empty: no such comment
};

/// The content of its .tex file, to be read by \input. Its label is "fig:" and the picture's name.
/// @throws Error (usage) if LaTeX cannot include a file of this name
QByteArray latexBytes(const LatexFigure& figure);

}  // namespace roper
