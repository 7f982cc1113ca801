#include "ui/live/published_models.h"

#include <QCoreApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QRegularExpression>
#include <QSettings>

#include "core/base/error.h"
#include "core/pretrained/model_location.h"
#include "core/pretrained/model_stores.h"
#include "ui/theme/error_text.h"

namespace roper {
namespace {

constexpr const char* kRecent = "models/recent";
constexpr qsizetype kMaxRecent = 12;

/// Models stored by other programs that are supported and have a tokenizer.
QStringList readableStoredModels() {
    QStringList models;
    for (const StoredModel& model : storedModels()) {
        const QString path = QString::fromStdString(model.path.string());
        const bool is_folder = QFileInfo(path).isDir();
        if (is_folder && !QFileInfo::exists(path + QStringLiteral("/tokenizer.json")) &&
            !QFileInfo::exists(path + QStringLiteral("/vocab.txt")))
            continue;
        if (problemOfModel(path).isEmpty()) models << path;
    }
    return models;
}

/// GGUF files in .lab/models of the source folder in which this program was built.
QStringList exampleModels() {
    QDir root(QCoreApplication::applicationDirPath());
    for (int up = 0; up < 4; ++up) {
        const QDir models(root.filePath(QStringLiteral(".lab/models")));
        QStringList found;
        for (const QString& name : models.entryList({QStringLiteral("*.gguf")}, QDir::Files, QDir::Name))
            found << models.absoluteFilePath(name);
        if (!found.isEmpty()) return found;
        if (!root.cdUp()) break;
    }
    return {};
}

}  // namespace

bool isPublishedModel(const QString& path) {
    try {
        const QFileInfo info(path), config(QDir(path).filePath(QStringLiteral("config.json")));
        if (config.exists() && !config.isFile()) return false;  // nothing is read from pipes and the like
        return (info.isFile() || info.isDir()) && isPretrainedModel(path.toStdString());
    } catch (const Error&) {  // the folder cannot be listed
        return false;
    }
}

QString problemOfModel(const QString& path) {
    return errorOf([&] { locateModel(path.toStdString()); });
}

QStringList publishedModels() {
    // Lists are filled often, so the disk is searched at most once a second.
    constexpr qint64 kFresh_ms = 1000;
    static QStringList on_disk;
    static QElapsedTimer since;
    if (!since.isValid() || since.elapsed() > kFresh_ms) {
        on_disk = exampleModels() + readableStoredModels();
        since.start();
    }
    QStringList models;
    for (const QString& path : QSettings().value(QLatin1String(kRecent)).toStringList())
        if (isPublishedModel(path)) models << path;
    for (const QString& path : on_disk)
        if (!models.contains(path)) models << path;
    return models;
}

void rememberModel(const QString& path) {
    QStringList recent = QSettings().value(QLatin1String(kRecent)).toStringList();
    recent.removeAll(path);
    recent.prepend(path);
    QSettings().setValue(QLatin1String(kRecent), QStringList(recent.mid(0, kMaxRecent)));
}

QString modelTitle(const QString& path) {
    static const QRegularExpression cached(
        QStringLiteral("/models--([^/]+?)--([^/]+)/snapshots/[^/]+(/.*)?$"));
    if (const auto match = cached.match(path); match.hasMatch())
        return match.captured(1) + '/' + match.captured(2) + match.captured(3);
    static const QRegularExpression manifest(QStringLiteral("/manifests/[^/]+/([^/]+)/([^/]+)/([^/]+)$"));
    if (const auto match = manifest.match(path); match.hasMatch()) {
        const QString name = match.captured(2) + ':' + match.captured(3);
        return match.captured(1) == QStringLiteral("library") ? name : match.captured(1) + '/' + name;
    }
    return QFileInfo(path).fileName();
}

QString exampleProse() {
    return QStringLiteral(
        "The keeper of the old lighthouse wrote a line in his book every evening. On Monday he wrote: the "
        "sea is calm, the wind comes from the west, and the keeper is well. On Tuesday he wrote: the sea is "
        "rough, the wind comes from the north, and the keeper is tired. On Wednesday he wrote: the sea is "
        "calm, the wind comes from the west, and the keeper is well. The capital of France is");
}

}  // namespace roper
