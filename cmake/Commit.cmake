# Provides the commit from which a program is built as a header, which is rewritten when the commit changes. If
# included, this file defines roper_commit_header(TARGET); if run as a script, it writes the header OUT.

if(NOT CMAKE_SCRIPT_MODE_FILE)
    set(roper_commit_script ${CMAKE_CURRENT_LIST_FILE})
    # TARGET may include "commit.h", which defines ROPER_LAB_COMMIT; it is empty without a repository.
    function(roper_commit_header target)
        set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}-commit)
        file(MAKE_DIRECTORY ${folder})
        add_custom_target(${target}-commit
            COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${CMAKE_SOURCE_DIR} -DOUT=${folder}/commit.h -P ${roper_commit_script}
            BYPRODUCTS ${folder}/commit.h
            COMMENT "Asking git for the commit"
            VERBATIM)
        add_dependencies(${target} ${target}-commit)
        target_include_directories(${target} PRIVATE ${folder})
    endfunction()
    return()
endif()

execute_process(COMMAND git describe --always --dirty --abbrev=12 --exclude=*
    WORKING_DIRECTORY ${SOURCE_DIR} OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
    RESULT_VARIABLE failed)
if(failed)
    set(commit "")
endif()
set(content "#pragma once\n#define ROPER_LAB_COMMIT \"${commit}\"\n")
set(before "")
if(EXISTS ${OUT})
    file(READ ${OUT} before)
endif()
if(NOT before STREQUAL content)
    file(WRITE ${OUT} "${content}")
endif()
