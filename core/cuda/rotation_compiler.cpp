#include "core/cuda/rotation_compiler.h"

#include <ATen/ATen.h>
#include <c10/util/Exception.h>
#include <dlfcn.h>

#include "core/cuda/rotation_source.h"

namespace roper {
namespace {

constexpr const char* kLibrary = "libnvrtc.so.13";

/// The functions of NVRTC used here, which return 0 on success; declared by hand, since NVRTC's header comes
/// only with CUDA packages. Its interface has been stable since CUDA 7.
class Nvrtc {
  public:
    using Program = void*;
    int (*create)(Program*, const char* text, const char* name, int headers, const char* const*,
                  const char* const*) = nullptr;
    int (*compile)(Program, int options, const char* const*) = nullptr;
    int (*codeSize)(Program, std::size_t*) = nullptr;
    int (*code)(Program, char*) = nullptr;
    int (*logSize)(Program, std::size_t*) = nullptr;
    int (*log)(Program, char*) = nullptr;
    int (*destroy)(Program*) = nullptr;

    Nvrtc() {
        void* const library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
        TORCH_CHECK(library != nullptr, kLibrary, " cannot be opened: ", ::dlerror());
        find(library, "nvrtcCreateProgram", create);
        find(library, "nvrtcCompileProgram", compile);
        find(library, "nvrtcGetCUBINSize", codeSize);
        find(library, "nvrtcGetCUBIN", code);
        find(library, "nvrtcGetProgramLogSize", logSize);
        find(library, "nvrtcGetProgramLog", log);
        find(library, "nvrtcDestroyProgram", destroy);
    }

  private:
    template <class Function>
    static void find(void* library, const char* name, Function& function) {
        function = reinterpret_cast<Function>(::dlsym(library, name));
        TORCH_CHECK(function != nullptr, "NVRTC has no ", name);
    }
};

}  // namespace

std::vector<char> compileRotationKernel(const std::string& architecture) {
    static const Nvrtc nvrtc;
    Nvrtc::Program program = nullptr;
    const char* const headers[] = {kRotationJobHeader};
    const char* const header_names[] = {"rotation_job.h"};
    TORCH_CHECK(nvrtc.create(&program, kRotationSource, "rotation.cu", 1, headers, header_names) == 0,
                "NVRTC cannot create a program");
    const std::string target = "--gpu-architecture=" + architecture;
    const char* const options[] = {target.c_str(), "--std=c++17"};
    const int problem = nvrtc.compile(program, 2, options);
    std::size_t size = 0;
    std::string log;
    if (problem != 0 && nvrtc.logSize(program, &size) == 0) {
        log.resize(size);
        nvrtc.log(program, log.data());
    }
    std::vector<char> code;
    if (problem == 0 && nvrtc.codeSize(program, &size) == 0) {
        code.resize(size);
        if (nvrtc.code(program, code.data()) != 0) code.clear();
    }
    nvrtc.destroy(&program);
    TORCH_CHECK(!code.empty(), "NVRTC cannot compile rotation.cu for ", architecture, ": ", log);
    return code;
}

RotationJob makeRotationJob(const std::vector<HeadRotation>& parts, Pairing pairing, Direction direction) {
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
        const HeadRotation& part = parts[i];
        for (const at::Tensor& heads : {part.from, part.to})
            TORCH_CHECK(heads.sizes() == like.sizes() && heads.scalar_type() == like.scalar_type() &&
                            heads.device() == like.device() && heads.stride(3) == 1,
                        "heads of ", heads.sizes(), " do not match those of ", like.sizes());
        for (const at::Tensor& table : {part.cosine, part.sine})
            TORCH_CHECK(table.dim() == 2 && table.size(0) == like.size(2) &&
                            2 * table.size(1) <= like.size(3) && table.sizes() == part.cosine.sizes() &&
                            table.is_contiguous() && table.scalar_type() == at::kFloat &&
                            table.device() == like.device(),
                        "a table of ", table.sizes(), " does not fit heads of ", like.sizes());
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
