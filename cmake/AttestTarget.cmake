# What every target of this project shares. Flags of the shipped build: -O2, no fast-math, no contraction,
# so that a formula rounds where it is written.

function(attest_compile_options target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wno-missing-field-initializers
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<COMPILE_LANGUAGE:CXX>>:-Wno-restrict>  # false alarms of g++ 12 on std::string, PR 105651
    -ffp-contract=off)
  if(ATTEST_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(ATTEST_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${ATTEST_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
    target_link_options(${target} PRIVATE -fsanitize=${ATTEST_SANITIZE})
  endif()
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF)
endfunction()

# attest_library(name SOURCES ... HEADERS ... DEPENDS ...)
function(attest_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;HEADERS;DEPENDS")
  add_library(${name} STATIC ${arg_SOURCES})
  target_sources(${name} PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${arg_HEADERS})
  target_link_libraries(${name} PUBLIC ${arg_DEPENDS})
  attest_compile_options(${name})
endfunction()

# attest_plugin(name SOURCES ... DEPENDS ...): a kernel plug-in that exports attest_backend_entry and nothing else.
function(attest_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS")
  add_library(attest_${name} MODULE ${arg_SOURCES})
  target_link_libraries(attest_${name} PRIVATE ${arg_DEPENDS})
  attest_compile_options(attest_${name})
  target_link_options(attest_${name} PRIVATE
    "LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/plugin.map" LINKER:--no-undefined)
  set_target_properties(attest_${name} PROPERTIES
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/backends"
    LINK_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/plugin.map")
endfunction()
