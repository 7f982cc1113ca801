#include "ui/live/token_texts.h"

#include <QJsonArray>
#include <QJsonDocument>

namespace roper {

std::vector<std::string> readTexts(const SafetensorsFile& file, const std::string& key) {
    const QJsonArray list = QJsonDocument::fromJson(QByteArray::fromStdString(file.entry(key))).array();
    std::vector<std::string> texts;
    for (const QJsonValue& text : list)
        texts.push_back(text.toString().toStdString());
    return texts;
}

std::vector<std::string> tokenTexts(const SafetensorsFile& file) {
    if (file.metadata().count("token_texts") > 0) return readTexts(file, "token_texts");
    std::vector<std::string> characters;
    for (const char character : file.entry("text"))
        characters.emplace_back(1, character);
    return characters;
}

QString formatToken(const std::string& token) {
    return QString::fromStdString(token).replace(' ', QStringLiteral("␣")).replace('\n', QStringLiteral("⏎"));
}

QStringList formatTokens(const std::vector<std::string>& tokens) {
    QStringList shown;
    for (const std::string& token : tokens)
        shown << formatToken(token);
    return shown;
}

}  // namespace roper
