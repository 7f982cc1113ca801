#include "core/cuda/make_rotation_job.h"

#include <ATen/ATen.h>

namespace roper {

RotationJob makeRotationJob(const std::vector<RotationPart>& parts, Pairing pairing, Direction direction) {
    TORCH_CHECK(!parts.empty() && parts.size() <= 3, "up to three parts can be rotated, not ", parts.size());
    const at::Tensor& like = parts.front().from;
    TORCH_CHECK(like.dim() == 4 && like.size(3) % 2 == 0 &&
                    (like.scalar_type() == at::kFloat || like.scalar_type() == at::kBFloat16),
                "heads of ", like.sizes(), " cannot be rotated");
    RotationJob job{};
    job.sequences = static_cast<int>(like.size(0));
    job.heads = static_cast<int>(like.size(1));
    job.tokens = static_cast<int>(like.size(2));
    job.half_width = static_cast<int>(like.size(3) / 2);
    job.is_half_pairing = pairing == Pairing::half ? 1 : 0;
    job.sign = direction == Direction::forward ? 1.0F : -1.0F;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const RotationPart& part = parts[i];
        for (const at::Tensor& heads : {part.from, part.to})
            TORCH_CHECK(heads.sizes() == like.sizes() && heads.scalar_type() == like.scalar_type() &&
                            heads.device() == like.device() && heads.stride(3) == 1,
                        "heads of ", heads.sizes(), " beside those of ", like.sizes());
        for (const at::Tensor& table : {part.cosine, part.sine})
            TORCH_CHECK(table.dim() == 2 && table.size(0) == like.size(2) &&
                            2 * table.size(1) <= like.size(3) && table.sizes() == part.cosine.sizes() &&
                            table.is_contiguous() && table.scalar_type() == at::kFloat &&
                            table.device() == like.device(),
                        "a table of ", table.sizes(), " for heads of ", like.sizes());
        job.parts[i] = {part.from.const_data_ptr(),
                        part.to.mutable_data_ptr(),
                        part.cosine.const_data_ptr<float>(),
                        part.sine.const_data_ptr<float>(),
                        part.from.stride(0),
                        part.from.stride(1),
                        part.from.stride(2),
                        part.to.stride(0),
                        part.to.stride(1),
                        part.to.stride(2),
                        static_cast<int>(part.cosine.size(1))};
    }
    return job;
}

}  // namespace roper
