#include "ui/live/published_models.h"

#include <QCoreApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QSettings>

#include "core/base/error.h"
#include "core/pretrained/model_location.h"

namespace roper {
namespace {

constexpr const char* kRecent = "models/recent";
constexpr qsizetype kMaxRecent = 12;

/// The cache folder of Hugging Face's libraries.
QString hubFolder() {
    const QString hub = qEnvironmentVariable("HF_HUB_CACHE");
    if (!hub.isEmpty()) return hub;
    const QString home =
        qEnvironmentVariable("HF_HOME", QDir::homePath() + QStringLiteral("/.cache/huggingface"));
    return home + QStringLiteral("/hub");
}

/// models--OWNER--NAME/snapshots/REVISION
QStringList modelsOfHub() {
    QStringList models;
    const QDir hub(hubFolder());
    for (const QString& repository : hub.entryList({QStringLiteral("models--*")}, QDir::Dirs, QDir::Name)) {
        const QDir snapshots(hub.filePath(repository + QStringLiteral("/snapshots")));
        for (const QString& revision :
             snapshots.entryList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Time).mid(0, 1)) {
            const QDir folder(snapshots.filePath(revision));
            const bool has_tensors = folder.exists(QStringLiteral("tokenizer.json")) &&
                                     !folder.entryList({QStringLiteral("*.safetensors")}).isEmpty();
            const bool has_gguf = !folder.entryList({QStringLiteral("*.gguf")}).isEmpty();
            if ((has_tensors || has_gguf) && problemOfModel(folder.absolutePath()).isEmpty())
                models << folder.absolutePath();
        }
    }
    return models;
}

/// .lab/models, next to the folder that this program was built in.
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
    try {
        locateModel(path.toStdString());
        return {};
    } catch (const Error& error) {
        return QString::fromStdString(error.what());
    }
}

QStringList publishedModels() {
    // Lists are filled often, so the disk is searched at most once a second.
    constexpr qint64 kFresh_ms = 1000;
    static QStringList on_disk;
    static QElapsedTimer since;
    if (!since.isValid() || since.elapsed() > kFresh_ms) {
        on_disk = exampleModels() + modelsOfHub();
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
    const QString repository = path.section(QStringLiteral("/snapshots/"), 0, 0).section('/', -1);
    if (repository.startsWith(QStringLiteral("models--")))
        return repository.mid(8).replace(QStringLiteral("--"), QStringLiteral("/"));
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
