#include "ui/explorer/run_head.h"

#include <cstring>

#include "core/base/error.h"
#include "core/base/safetensors.h"
#include "ui/live/token_texts.h"

namespace roper {
namespace {

/// A [rows × columns] tensor of float32. @throws Error (checkpoint)
Eigen::MatrixXd matrixOf(const SafetensorsFile& file, const std::string& name) {
    const SafetensorsFile::Tensor& tensor = file.tensor(name);
    if (tensor.dtype != Dtype::F32 || tensor.shape.size() != 2)
        throw Error(ErrorKind::checkpoint, "the trainer's \"" + name + "\" is not a float32 matrix");
    const Eigen::Index rows = tensor.shape[0], columns = tensor.shape[1];
    Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> read(rows, columns);
    std::memcpy(read.data(), tensor.bytes.data(), tensor.bytes.size());
    return read.cast<double>();
}

/// A matrix of one row that not every model has; empty if missing.
Eigen::VectorXd rowOf(const SafetensorsFile& file, const std::string& name) {
    if (file.tensors().count(name) == 0) return {};
    const Eigen::MatrixXd matrix = matrixOf(file, name);
    if (matrix.rows() != 1)
        throw Error(ErrorKind::checkpoint, "the trainer's \"" + name + "\" has more than one row");
    return matrix.row(0).transpose();
}

}  // namespace

RunHead readRunHead(const HeadQuestion& question, const QByteArray& payload) {
    const SafetensorsFile file = SafetensorsFile::parse(payload.toStdString(), "the trainer's answer");
    RunHead head;
    head.question = question;
    head.vectors = {matrixOf(file, "q"), matrixOf(file, "k"), matrixOf(file, "v")};
    const auto& [q, k, v] = head.vectors;
    if (q.size() == 0 || k.rows() != q.rows() || v.rows() != q.rows() || k.cols() != q.cols() ||
        v.cols() != q.cols())
        throw Error(ErrorKind::checkpoint, "the trainer's q, k and v have different shapes");
    head.tokens = tokenTexts(file);
    head.model = ModelDescription::fromFile(file);
    head.model.rotation.head_dim = static_cast<int>(q.cols());
    if (file.tensors().count("table") > 0) head.table = matrixOf(file, "table");
    head.learned.rotation = head.model.rotation;
    head.learned.rotation.trained = rowOf(file, "theta");
    head.learned.value_theta = rowOf(file, "value_theta");
    head.learned.bias = rowOf(file, "bias");
    for (const DeclaredSetting& setting : positionMethod(head.model.position).settings)
        head.learned.specific_settings.setText(setting, file.entry(setting.name));
    return head;
}

}  // namespace roper
