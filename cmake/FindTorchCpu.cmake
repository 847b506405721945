# LibTorch from the torch wheel, CPU parts only: c10 and torch_cpu.
#
# Defines TorchCpu::torch_cpu and TorchCpu::c10. The wheel is looked for where Python would import torch
# from, first of all in the folder that ci/setup fills. find_package(Torch) is not used: it searches for a
# CUDA toolkit and rewrites compile flags.
if(NOT TORCH_ROOT)
  find_package(Python3 COMPONENTS Interpreter QUIET)
  if(Python3_FOUND)
    execute_process(
      COMMAND "${CMAKE_COMMAND}" -E env "PYTHONPATH=${PROJECT_SOURCE_DIR}/.deps/python" "${Python3_EXECUTABLE}" -c
        "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
      OUTPUT_VARIABLE TORCH_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
endif()
find_path(TorchCpu_INCLUDE_DIR ATen/core/Tensor.h HINTS "${TORCH_ROOT}/include" NO_DEFAULT_PATH)
find_library(TorchCpu_LIBRARY torch_cpu HINTS "${TORCH_ROOT}/lib" NO_DEFAULT_PATH)
find_library(TorchCpu_C10_LIBRARY c10 HINTS "${TORCH_ROOT}/lib" NO_DEFAULT_PATH)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(TorchCpu
  REQUIRED_VARS TorchCpu_LIBRARY TorchCpu_C10_LIBRARY TorchCpu_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "ci/setup fetches the torch wheel that carries LibTorch")
if(TorchCpu_FOUND AND NOT TARGET TorchCpu::torch_cpu)
  add_library(TorchCpu::c10 SHARED IMPORTED)
  # The wheel carries headers of other libraries (fmt among them): the system's own come first.
  set_target_properties(TorchCpu::c10 PROPERTIES
    IMPORTED_LOCATION "${TorchCpu_C10_LIBRARY}" INTERFACE_COMPILE_OPTIONS "SHELL:-idirafter \"${TorchCpu_INCLUDE_DIR}\"")
  add_library(TorchCpu::torch_cpu SHARED IMPORTED)
  set_target_properties(TorchCpu::torch_cpu PROPERTIES
    IMPORTED_LOCATION "${TorchCpu_LIBRARY}" INTERFACE_LINK_LIBRARIES TorchCpu::c10)
endif()
mark_as_advanced(TorchCpu_INCLUDE_DIR TorchCpu_LIBRARY TorchCpu_C10_LIBRARY)
