#pragma once

#include <QDir>
#include <QFile>
#include <QTest>
#include <fstream>

namespace roper {

/// Creates the Hugging Face folder of a small random model, whose tokens are single characters from “0” on.
inline void makeSmallModel(const QString& family, const QDir& in) {
    const QDir from(QStringLiteral(ROPER_PRETRAINED "/") + family);
    QVERIFY(in.mkdir(family));
    for (const QString& file : from.entryList(QDir::Files))
        QVERIFY(QFile::copy(from.filePath(file), in.filePath(family + '/' + file)));
    std::ofstream tokenizer(in.filePath(family + "/tokenizer.json").toStdString());
    tokenizer << R"({"model": {"type": "BPE", "merges": [], "vocab": {)";
    for (int id = 0; id < 64; ++id) {
        const char letter = static_cast<char>('0' + id);
        tokenizer << (id == 0 ? "" : ", ") << '"' << (letter == '\\' ? "\\" : "") << letter << "\": " << id;
    }
    tokenizer << "}}}";
}

}  // namespace roper
