# Compiler settings for code of this project. Third-party headers come in as SYSTEM and are not judged.

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

add_library(roper_own_code INTERFACE)
target_include_directories(roper_own_code INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(roper_own_code INTERFACE -Wall -Wextra -Wshadow -Wconversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 warns of what cannot happen inside std::string's own operator+ (GCC bug 105651).
    target_compile_options(roper_own_code INTERFACE -Wno-restrict)
endif()

if(ROPER_LAB_SANITIZE)
    add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
    add_link_options(-fsanitize=address,undefined)
    # With the sanitizers GCC warns of uninitialised members inside std::regex and std::function.
    target_compile_options(roper_own_code INTERFACE -Wno-maybe-uninitialized)
endif()

# roper_library(NAME source...): a static library of own code with the repository root on its include path.
function(roper_library name)
    add_library(${name} STATIC ${ARGN})
    target_link_libraries(${name} PUBLIC roper_own_code)
endfunction()
