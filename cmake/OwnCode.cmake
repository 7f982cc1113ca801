# Compiler settings for code of this project. Third-party headers come in as SYSTEM and are not judged.

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

add_library(roper_own_code INTERFACE)
target_include_directories(roper_own_code INTERFACE ${CMAKE_SOURCE_DIR})
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(roper_own_code INTERFACE -Wall -Wextra -Wshadow -Wconversion -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 warns of what cannot happen inside std::string's own operator+ (GCC bug 105651).
    target_compile_options(roper_own_code INTERFACE -Wno-restrict)
endif()
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # In a unity build GCC takes a type that uses an unnamed namespace for one of a header.
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
    # With the sanitizers GCC warns of uninitialised members inside std::regex and std::function.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_compile_options(roper_own_code INTERFACE -Wno-maybe-uninitialized)
    endif()
endif()

# What makes a mistake of memory end the program rather than be made use of: checked buffers and stacks, addresses that
# differ from start to start, tables that cannot be written to. The sanitizers bring their own.
include(CheckPIESupported)
check_pie_supported()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT ROPER_LAB_SANITIZE)
    add_compile_options(-fstack-protector-strong -fstack-clash-protection)
    add_compile_options($<$<CONFIG:Release,RelWithDebInfo>:-U_FORTIFY_SOURCE> $<$<CONFIG:Release,RelWithDebInfo>:-D_FORTIFY_SOURCE=2>)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
        add_compile_options(-fcf-protection)
        # What starts a program comes with the system, in Debian 12 without the marks of CET, so the linker would leave
        # them out. A shadow stack holds there all the same; indirect branches have no instruction to land on in _init.
        add_link_options(-Wl,-z,shstk)
    endif()
endif()
add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack)

# roper_library(NAME source...): a static library of own code with the repository root on its include path.
function(roper_library name)
    add_library(${name} STATIC ${ARGN})
    target_link_libraries(${name} PUBLIC roper_own_code)
    compile_folders_together(${name})
endfunction()

# compile_folders_together(TARGET): where CMAKE_UNITY_BUILD is on, as in most presets, files of one folder are compiled up
# to eight at a time, because most of the time goes into the headers that they share. No two definitions in
# unnamed namespaces of a folder may clash, therefore. A source with SKIP_UNITY_BUILD_INCLUSION stands alone.
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
