#pragma once

#include <QStringList>

namespace roper {

/// Absolute paths of the published models on this machine: previously opened ones, most recent first, then
/// the example of `./lab setup --model`, then those of Hugging Face's cache, LM Studio, Ollama and llama.cpp.
QStringList publishedModels();

/// Remembers an opened model.
void rememberModel(const QString& path);

/// Whether a path denotes a published model (`isPretrainedModel`).
bool isPublishedModel(const QString& path);

/// Why there is no published model at a path, and what to choose instead; empty if there is one.
QString problemOfModel(const QString& path);

/// Display name of a model: the name of its file or folder; in Hugging Face's cache "owner/name", with
/// the file's name for a file in it; for a manifest of Ollama "name:tag".
QString modelTitle(const QString& path);

/// A prose example for language models, with repeated phrases for induction heads.
QString exampleProse();

}  // namespace roper
