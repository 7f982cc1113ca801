# Compiler settings for this project's code. Third-party headers are SYSTEM headers, without warnings.

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# See optimize_fully below.
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

add_library(roper_own_code INTERFACE)
target_include_directories(roper_own_code INTERFACE ${CMAKE_SOURCE_DIR})
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(roper_own_code INTERFACE -Wall -Wextra -Wshadow -Wconversion -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 gives false warnings inside std::string's operator+ (GCC bug 105651).
    target_compile_options(roper_own_code INTERFACE -Wno-restrict)
endif()
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # In a unity build, GCC mistakes unnamed namespaces of source files for those of headers.
    target_compile_options(roper_own_code INTERFACE -Wno-subobject-linkage)
endif()

if(ROPER_LAB_SANITIZE)
    if(ROPER_LAB_SANITIZE STREQUAL "address")
        set(sanitizers -fsanitize=address,undefined)
    elseif(ROPER_LAB_SANITIZE STREQUAL "thread")
        set(sanitizers -fsanitize=thread)
    else()
        message(FATAL_ERROR "ROPER_LAB_SANITIZE is \"${ROPER_LAB_SANITIZE}\"; it must be address, thread or empty.")
    endif()
    add_compile_options(${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(${sanitizers})
    add_compile_definitions(_GLIBCXX_ASSERTIONS ROPER_SANITIZED)
    # With sanitizers, GCC warns of uninitialized members inside std::regex and std::function.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_compile_options(roper_own_code INTERFACE -Wno-maybe-uninitialized)
    endif()
endif()

# Hardening, so that memory errors end the program instead of being exploitable: checked buffers and stacks, randomized
# addresses, read-only relocations. Sanitizers have their own checks.
include(CheckPIESupported)
check_pie_supported()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT ROPER_LAB_SANITIZE)
    add_compile_options(-fstack-protector-strong -fstack-clash-protection)
    add_compile_options($<$<CONFIG:Release,RelWithDebInfo>:-U_FORTIFY_SOURCE> $<$<CONFIG:Release,RelWithDebInfo>:-D_FORTIFY_SOURCE=2>)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
        add_compile_options(-fcf-protection)
        # In Debian 12, the system's start-up objects lack the marks of CET, so the linker would drop them from the
        # program. The shadow stack works nevertheless, but _init has no landing pads for indirect branches.
        add_link_options(-Wl,-z,shstk)
    endif()
endif()
add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack)

# roper_library(NAME source...): a static library of this project with the repository root on its include path.
function(roper_library name)
    add_library(${name} STATIC ${ARGN})
    target_link_libraries(${name} PUBLIC roper_own_code)
    compile_folders_together(${name})
endfunction()

# compile_folders_together(TARGET): with CMAKE_UNITY_BUILD, which most presets set, up to eight files of a folder are
# compiled together, because headers shared by them take most of the time. Names in the unnamed namespaces of a folder
# must therefore be unique. A source with SKIP_UNITY_BUILD_INCLUSION is compiled alone.
function(compile_folders_together target)
    set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
    get_target_property(sources ${target} SOURCES)
    foreach(source IN LISTS sources)
        cmake_path(GET source PARENT_PATH folder)
        string(MAKE_C_IDENTIFIER "${folder}" folder)
        list(APPEND in_${folder} ${source})
        list(LENGTH in_${folder} count)
        math(EXPR part "(${count} - 1) / 8")
        set_source_files_properties(${source} PROPERTIES UNITY_GROUP "${folder}_${part}")
    endforeach()
endfunction()

# optimize_fully(TARGET): for loops over many numbers. Elsewhere -O3 only takes longer to compile than -O2 (an eighth).
function(optimize_fully target)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O3>)
endfunction()

# optimize_lightly(TARGET): for windows and command lines, whose computations are in core. It shortens compilation by a
# third; frames of the window take 6 % longer (tests/bench/explorers_bench).
function(optimize_lightly target)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# optimize_checked(TARGET): the presets "sanitize" and "threads" compile without optimization, in half the time. This is
# for the libraries in which tests and fuzzers would lose more than that.
function(optimize_checked target)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Checked>:-O1>)
endfunction()
