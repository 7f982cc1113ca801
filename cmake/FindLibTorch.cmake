# Finds LibTorch. LibTorch::cpu has headers, libtorch_cpu and libc10. LibTorch::cuda exists if CUDA's runtime is next to
# LibTorch as in PyPI's packages; it suffices to link against the CUDA libraries, but not to run them. LibTorch's own
# TorchConfig.cmake is not used because it requires a CUDA toolkit. `./lab setup` installs LibTorch in .lab/libtorch;
# for another one (2.8 or newer), pass the folder that contains include/ and lib/ as -DLIBTORCH_ROOT=.

set(LIBTORCH_ROOT "${CMAKE_SOURCE_DIR}/.lab/libtorch/torch" CACHE PATH "Folder of LibTorch with include/ and lib/")

find_path(LibTorch_INCLUDE_DIR ATen/ATen.h PATHS ${LIBTORCH_ROOT}/include NO_DEFAULT_PATH)
find_library(LibTorch_CPU_LIBRARY torch_cpu PATHS ${LIBTORCH_ROOT}/lib NO_DEFAULT_PATH)
find_library(LibTorch_C10_LIBRARY c10 PATHS ${LIBTORCH_ROOT}/lib NO_DEFAULT_PATH)

if(LibTorch_INCLUDE_DIR AND EXISTS ${LIBTORCH_ROOT}/include/torch/headeronly/version.h)
    set(LibTorch_version_file ${LIBTORCH_ROOT}/include/torch/headeronly/version.h)
elseif(LibTorch_INCLUDE_DIR)
    set(LibTorch_version_file ${LIBTORCH_ROOT}/include/torch/csrc/api/include/torch/version.h)
endif()
if(LibTorch_INCLUDE_DIR)
    file(STRINGS ${LibTorch_version_file} version_lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH)")
    string(REGEX REPLACE ".*MAJOR ([0-9]+).*MINOR ([0-9]+).*PATCH ([0-9]+).*" "\\1.\\2.\\3"
           LibTorch_VERSION "${version_lines}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch
    REQUIRED_VARS LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY LibTorch_INCLUDE_DIR
    VERSION_VAR LibTorch_VERSION
    REASON_FAILURE_MESSAGE "Run ./lab setup, or name a LibTorch with -DLIBTORCH_ROOT=.")
if(LibTorch_FOUND AND LibTorch_VERSION VERSION_LESS 2.8)
    message(FATAL_ERROR "LibTorch ${LibTorch_VERSION} in ${LIBTORCH_ROOT} is too old: 2.8 or newer is needed.")
endif()

if(LibTorch_FOUND AND NOT TARGET LibTorch::cpu)
    add_library(LibTorch::cpu INTERFACE IMPORTED)
    target_include_directories(LibTorch::cpu SYSTEM INTERFACE
        ${LibTorch_INCLUDE_DIR} ${LibTorch_INCLUDE_DIR}/torch/csrc/api/include)
    target_link_libraries(LibTorch::cpu INTERFACE ${LibTorch_CPU_LIBRARY} ${LibTorch_C10_LIBRARY})
    # Without OpenMP, at::parallel_for is a serial loop. Uses LibTorch's own libgomp, so that there is a single thread
    # pool.
    file(GLOB LibTorch_GOMP ${LIBTORCH_ROOT}/lib/libgomp*.so*)
    target_compile_options(LibTorch::cpu INTERFACE -fopenmp)
    if(LibTorch_GOMP)
        list(GET LibTorch_GOMP 0 LibTorch_GOMP)
        target_link_libraries(LibTorch::cpu INTERFACE ${LibTorch_GOMP})
    else()
        target_link_options(LibTorch::cpu INTERFACE -fopenmp)
    endif()
    # libtorch_cpu depends on CUDA's runtime and CUPTI, which it finds by its own relative search path when loaded.
    target_link_options(LibTorch::cpu INTERFACE -Wl,--allow-shlib-undefined)
endif()

# The CUDA part: LibTorch's libraries, headers of CUDA's runtime, and NCCL.
get_filename_component(LibTorch_cuda_runtime "${LIBTORCH_ROOT}/../nvidia/cu13" ABSOLUTE)
find_library(LibTorch_CUDA_LIBRARY torch_cuda PATHS ${LIBTORCH_ROOT}/lib NO_DEFAULT_PATH)
find_library(LibTorch_C10_CUDA_LIBRARY c10_cuda PATHS ${LIBTORCH_ROOT}/lib NO_DEFAULT_PATH)
find_file(LibTorch_CUDART libcudart.so.13 PATHS ${LibTorch_cuda_runtime}/lib NO_DEFAULT_PATH)
find_path(LibTorch_CUDA_INCLUDE_DIR cuda_runtime_api.h PATHS ${LibTorch_cuda_runtime}/include NO_DEFAULT_PATH)
get_filename_component(LibTorch_nccl "${LIBTORCH_ROOT}/../nvidia/nccl" ABSOLUTE)
find_file(LibTorch_NCCL libnccl.so.2 PATHS ${LibTorch_nccl}/lib NO_DEFAULT_PATH)
find_path(LibTorch_NCCL_INCLUDE_DIR nccl.h PATHS ${LibTorch_nccl}/include NO_DEFAULT_PATH)
if(LibTorch_FOUND AND LibTorch_CUDA_LIBRARY AND LibTorch_C10_CUDA_LIBRARY AND LibTorch_CUDART AND LibTorch_CUDA_INCLUDE_DIR
   AND LibTorch_NCCL AND LibTorch_NCCL_INCLUDE_DIR AND NOT TARGET LibTorch::cuda)
    add_library(LibTorch::cuda INTERFACE IMPORTED)
    target_include_directories(LibTorch::cuda SYSTEM INTERFACE ${LibTorch_CUDA_INCLUDE_DIR} ${LibTorch_NCCL_INCLUDE_DIR})
    target_link_libraries(LibTorch::cuda INTERFACE
        LibTorch::cpu ${LibTorch_CUDA_LIBRARY} ${LibTorch_C10_CUDA_LIBRARY} ${LibTorch_CUDART} ${LibTorch_NCCL})
endif()
