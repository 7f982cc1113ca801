# What `cmake --install` installs and packages contain (CPack; `./lab package`). Programs, LibTorch and their own library
# lie in lib/roper-lab, in the same relative places as in a build folder, so that all can be moved together; links in bin/
# lead there; roper-train itself starts roper-tokenizer. CMake includes this file twice: when it configures, and when it
# installs.

if(NOT DEFINED roper_built)
    include(GNUInstallDirs)
    set(private lib/roper-lab)
    install(TARGETS roper-train roper-tokenizer roper-lab RUNTIME DESTINATION ${private}/bin)
    install(TARGETS roper-products LIBRARY DESTINATION ${private}/bin)
    install(DIRECTORY resources/presets resources/sweeps resources/texts resources/tour resources/examples
                      resources/value-rotation
            DESTINATION ${CMAKE_INSTALL_DATADIR}/roper-lab)
    install(FILES resources/desktop/roper-lab.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
    install(FILES resources/desktop/roper-lab.metainfo.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo)
    install(FILES resources/desktop/roper-lab.svg DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
    install(FILES README.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/roper-lab)
    cmake_path(GET LIBTORCH_ROOT PARENT_PATH libtorch)
    set(contact "RoPER Lab maintainers <roper-lab@users.noreply.github.com>")
    install(CODE "set(roper_built \"${CMAKE_BINARY_DIR}\")
set(version ${PROJECT_VERSION})
set(contact \"${contact}\")
set(source \"${CMAKE_SOURCE_DIR}\")
set(libtorch \"${libtorch}\")
set(data \"${CMAKE_INSTALL_DATADIR}\")
include(\"${CMAKE_CURRENT_LIST_FILE}\")")

    set(CPACK_GENERATOR DEB)
    set(CPACK_PACKAGE_NAME roper-lab)
    set(CPACK_PACKAGE_CONTACT ${contact})
    set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "laboratory for rotary position embeddings")
    set(CPACK_PACKAGE_DESCRIPTION
"RoPER Lab shows how rotary position embeddings (RoPE) turn queries and keys,
and how RoPER also turns values and turns the output back. It draws rotations,
attention and value mixing, trains small transformers, compares methods over
seeds, looks into published models, and exports every figure.")
    set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
    set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
    set(CPACK_DEBIAN_PACKAGE_SECTION science)
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
    file(GLOB private_folders ${libtorch}/torch/lib ${libtorch}/nvidia/*/lib)
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${private_folders})
    set(CPACK_DEBIAN_PACKAGE_DEPENDS "fonts-dejavu-core")
    set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "qt6-wayland, xdg-desktop-portal")
    set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
    set(CPACK_THREADS 0)
    set(CPACK_STRIP_FILES ON)
    include(CPack)
    return()
endif()

# While installing: what is known only when the programs are built.
set(prefix "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")

# The libraries that the programs load and that are not the system's. Those of LibTorch find each other by their relative
# places; others go to lib/, where the programs look, too.
file(GET_RUNTIME_DEPENDENCIES
    EXECUTABLES ${roper_built}/bin/roper-train ${roper_built}/bin/roper-tokenizer
    RESOLVED_DEPENDENCIES_VAR libraries UNRESOLVED_DEPENDENCIES_VAR missing
    POST_EXCLUDE_REGEXES "^/(usr/)?lib")
if(missing)
    message(FATAL_ERROR "Libraries of roper-train are missing: ${missing}. Run ./lab setup and install again.")
endif()
file(REAL_PATH ${libtorch} libtorch)
foreach(library IN LISTS libraries)
    file(REAL_PATH ${library} real)
    cmake_path(IS_PREFIX libtorch ${real} is_of_libtorch)
    if(is_of_libtorch)
        set(library ${real})
        cmake_path(RELATIVE_PATH library BASE_DIRECTORY ${libtorch} OUTPUT_VARIABLE place)
        cmake_path(GET place PARENT_PATH place)
        set(place lib/roper-lab/libtorch/${place})
    else()
        set(place lib/roper-lab/lib)
    endif()
    file(INSTALL ${library} DESTINATION ${CMAKE_INSTALL_PREFIX}/${place} FOLLOW_SYMLINK_CHAIN)  # adds DESTDIR itself
    if(CMAKE_INSTALL_DO_STRIP)
        cmake_path(GET library FILENAME name)
        execute_process(COMMAND strip --strip-unneeded ${prefix}/${place}/${name}
                        COMMAND_ERROR_IS_FATAL ANY)
    endif()
endforeach()

file(MAKE_DIRECTORY ${prefix}/bin ${prefix}/${data}/man/man1 ${prefix}/${data}/bash-completion/completions
     ${prefix}/${data}/zsh/vendor-completions ${prefix}/${data}/fish/vendor_completions.d)
foreach(program roper-train roper-lab)
    file(CREATE_LINK ../lib/roper-lab/bin/${program} ${prefix}/bin/${program} SYMBOLIC)
    foreach(output "man man/man1/${program}.1" "completion bash bash-completion/completions/${program}"
                   "completion zsh zsh/vendor-completions/_${program}"
                   "completion fish fish/vendor_completions.d/${program}.fish")
        string(REGEX MATCH "^(.*) ([^ ]+)$" output "${output}")
        string(REPLACE " " ";" command "${CMAKE_MATCH_1}")
        set(file ${prefix}/${data}/${CMAKE_MATCH_2})
        execute_process(COMMAND ${roper_built}/bin/${program} ${command} OUTPUT_FILE ${file} COMMAND_ERROR_IS_FATAL ANY)
    endforeach()
    execute_process(COMMAND gzip -9nf ${prefix}/${data}/man/man1/${program}.1 COMMAND_ERROR_IS_FATAL ANY)
endforeach()

# The licences and changes, in the places and forms that Debian wants.
set(documents ${prefix}/${data}/doc/roper-lab)
file(WRITE ${documents}/copyright "Copyright 2026 The authors of RoPER Lab\n\n"
     "RoPER Lab is free software under the GNU General Public License, version 3 or later:\n/usr/share/common-licenses/GPL-3\n\nThe folder lib/roper-lab/libtorch holds libraries of PyTorch, and of the CUDA\n"
     "toolkit that they load; their licences are in this folder.\n")
file(GLOB licences ${libtorch}/*.dist-info/licenses/[Ll][Ii][Cc]*)
foreach(licence IN LISTS licences)
    string(REGEX REPLACE ".*/([a-z_]+)-[^/]*dist-info/.*" "\\1" owner ${licence})
    configure_file(${licence} ${documents}/licence-of-${owner}.txt COPYONLY)
endforeach()
configure_file(${source}/CHANGELOG.md ${documents}/NEWS COPYONLY)
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${documents}/changelog
     "roper-lab (${version}) unstable; urgency=medium\n\n  * NEWS.gz says what is new.\n\n -- ${contact}  ${now}\n")
execute_process(COMMAND gzip -9nf ${documents}/NEWS ${documents}/changelog COMMAND_ERROR_IS_FATAL ANY)
