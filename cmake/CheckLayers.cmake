# The link boundaries of ARCHITECTURE.md, checked on every build: which folder may include what.
# Run as a script by the target `check_layers`; fails the build naming the file and the include of each offence.

if(NOT CMAKE_SCRIPT_MODE_FILE)
    add_custom_target(check_layers ALL
        COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${CMAKE_SOURCE_DIR} -P ${CMAKE_CURRENT_LIST_FILE}
        COMMENT "Checking that each layer includes only what it may"
        VERBATIM)
    return()
endif()

set(torch "torch/|ATen/|c10/|caffe2/")
set(qt "Q[A-Za-z]|qcustomplot")
set(own_upper "core/model|core/training|ui/|app/")

set(offences "")
# forbid(FOLDER PATTERN WHY): no file of FOLDER includes a header that begins with PATTERN.
function(forbid folder pattern why)
    file(GLOB_RECURSE files ${SOURCE_DIR}/${folder}/*.h ${SOURCE_DIR}/${folder}/*.cpp)
    foreach(file IN LISTS files)
        file(STRINGS ${file} lines REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"](${pattern})")
        foreach(line IN LISTS lines)
            file(RELATIVE_PATH shown ${SOURCE_DIR} ${file})
            string(APPEND offences "\n  ${shown}: ${line}\n      ${why}")
        endforeach()
    endforeach()
    set(offences "${offences}" PARENT_SCOPE)
endfunction()

foreach(folder core/rotary core/kernels core/tasks core/runs core/corpus core/control core/exchange core/compare)
    forbid(${folder} "${torch}" "${folder} must not include LibTorch: the window links it")
    forbid(${folder} "${qt}" "${folder} must not include Qt: the trainer links it")
    forbid(${folder} "${own_upper}" "${folder} stands below model, training, ui and app")
endforeach()
forbid(core/rotary "core/(tasks|runs|control|exchange|compare)|nlohmann|toml" "core/rotary stands on Eigen alone")
forbid(core/kernels "core/(tasks|runs|corpus|control|exchange|compare)|nlohmann|toml" "core/kernels stands on core/rotary, Highway and oneDNN alone")
forbid(core/tasks "core/(rotary|runs|control|exchange|compare)|Eigen|nlohmann|toml" "core/tasks stands on the standard library alone")
forbid(core/runs "core/(corpus|control|exchange|compare)" "core/runs stands below core/corpus, core/control, core/exchange and core/compare")
forbid(core/corpus "core/(rotary|control|exchange|compare)" "core/corpus stands on core/tasks and core/runs alone")
foreach(folder core/model core/training app/roper_train)
    forbid(${folder} "${qt}" "the trainer must build without Qt")
endforeach()
forbid(core/model "core/training|ui/|app/" "core/model stands below training, ui and app")
forbid(core/cuda "${qt}" "the trainer must build without Qt")
forbid(core/cuda "core/training|ui/|app/" "core/cuda stands below training, ui and app")
forbid(core/model "core/cuda|cuda" "core/model knows core/model/gpu.h alone of GPUs")
forbid(core/training "core/cuda|cuda" "core/training knows core/model/gpu.h alone of GPUs")
forbid(core/training "ui/|app/" "core/training stands below ui and app")
forbid(app/roper_train "ui/" "the trainer must build without the window")
forbid(ui "app/" "ui stands below app")
forbid(app/roper_train "${torch}" "only core/model and core/training may include LibTorch")
foreach(folder ui app/roper_lab)
    forbid(${folder} "${torch}|core/model|core/training" "the window never links LibTorch")
endforeach()

if(offences)
    message(FATAL_ERROR "Layers are crossed:${offences}")
endif()
