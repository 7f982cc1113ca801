# Finds oneDNN with OpenMP as packaged by Debian: OneDNN::dnnl.

find_path(OneDNN_INCLUDE_DIR dnnl.hpp)
find_library(OneDNN_LIBRARY dnnl)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OneDNN REQUIRED_VARS OneDNN_LIBRARY OneDNN_INCLUDE_DIR
    REASON_FAILURE_MESSAGE "On Debian: apt-get install libdnnl-dev.")

if(OneDNN_FOUND AND NOT TARGET OneDNN::dnnl)
    add_library(OneDNN::dnnl UNKNOWN IMPORTED)
    set_target_properties(OneDNN::dnnl PROPERTIES IMPORTED_LOCATION ${OneDNN_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES ${OneDNN_INCLUDE_DIR})
endif()
