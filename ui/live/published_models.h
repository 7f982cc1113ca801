#pragma once

#include <QStringList>

namespace roper {

/// Published models on this machine, by their absolute paths: those that were opened before, the newest
/// first, the example of `./lab setup --model`, and those in Hugging Face's cache.
QStringList publishedModels();

/// Remembers one that was opened.
void rememberModel(const QString& path);

/// Whether a path is meant as a published model (`isPretrainedModel`).
bool isPublishedModel(const QString& path);

/// Why such a path leads to no model, and what to choose in its place; empty: it leads to one.
QString problemOfModel(const QString& path);

/// How a model is called in a list: the file's or folder's name; of Hugging Face's cache "owner/name".
QString modelTitle(const QString& path);

/// A text of the world for models of languages, in which words come again, so that heads which look for them
/// have something to find.
QString exampleProse();

}  // namespace roper
