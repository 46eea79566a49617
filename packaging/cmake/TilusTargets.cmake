# Functions that every folder's CMakeLists.txt uses, and the flags that every target gets.

# ccache caches what uses a precompiled header only when told so.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(launcher ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

add_library(tilus_flags INTERFACE)
target_compile_options(tilus_flags INTERFACE -Wall -Wextra
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)
if(TILUS_WERROR)
  target_compile_options(tilus_flags INTERFACE -Werror)
endif()
if(TILUS_SANITIZE)
  target_compile_options(tilus_flags INTERFACE -fsanitize=${TILUS_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(tilus_flags INTERFACE -fsanitize=${TILUS_SANITIZE})
endif()
target_include_directories(tilus_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)

# The standard and Abseil headers that most sources share, parsed once for the libraries and once,
# with GoogleTest, for the tests: more than half of a build's time. Sources include what they use,
# so they compile without it too (TILUS_PRECOMPILE=OFF).
option(TILUS_PRECOMPILE "Use precompiled headers" ON)
function(tilus_precompile target kind)
  if(TILUS_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM tilus_pch_${kind})
  endif()
endfunction()
if(TILUS_PRECOMPILE)
  # Of the kind that uses it, library or program: position-independent code differs.
  file(WRITE ${CMAKE_BINARY_DIR}/pch.cc "int main() { return 0; }\n")
  add_library(tilus_pch_library OBJECT ${CMAKE_BINARY_DIR}/pch.cc)
  add_executable(tilus_pch_test ${CMAKE_BINARY_DIR}/pch.cc)
  foreach(kind IN ITEMS library test)
    target_link_libraries(tilus_pch_${kind} PRIVATE tilus_flags)
    target_compile_options(tilus_pch_${kind} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
      $<$<CXX_COMPILER_ID:Clang>:-Xclang$<SEMICOLON>-fno-pch-timestamp>)
    target_precompile_headers(tilus_pch_${kind} PRIVATE
      <algorithm> <array> <atomic> <cstdint> <cstring> <memory> <optional> <string> <utility>
      <variant> <vector> <absl/container/flat_hash_map.h> <absl/container/inlined_vector.h>
      <absl/status/status.h> <absl/status/statusor.h> <absl/strings/str_cat.h>
      <absl/strings/string_view.h> <absl/types/span.h>)
  endforeach()
  if(TILUS_BUILD_TESTS)
    find_package(GTest REQUIRED)
    target_link_libraries(tilus_pch_test PRIVATE GTest::gmock)
    target_precompile_headers(tilus_pch_test PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
  endif()
endif()

# tilus_library(<folder> [DEPS ...] [LINK ...]): a static library tilus_<folder> of the folder's
# sources. DEPS are other folders, LINK outside libraries.
function(tilus_library name)
  cmake_parse_arguments(ARG "" "" "DEPS;LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  list(SORT sources)
  if(NOT sources)
    return()
  endif()
  add_library(tilus_${name} STATIC ${sources})
  target_link_libraries(tilus_${name} PRIVATE $<BUILD_INTERFACE:tilus_flags>)
  tilus_precompile(tilus_${name} library)
  foreach(dep IN LISTS ARG_DEPS)
    target_link_libraries(tilus_${name} PUBLIC tilus_${dep})
  endforeach()
  target_link_libraries(tilus_${name} PUBLIC ${ARG_LINK})
  set_property(GLOBAL APPEND PROPERTY TILUS_LIBRARIES tilus_${name})
endfunction()

# tilus_test(<name> DEPS folders... [LINK ...]): one GoogleTest program of the *_test.cc files in
# the current folder, registered with ctest under <name>.
function(tilus_test name)
  cmake_parse_arguments(ARG "" "" "DEPS;LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  list(SORT sources)
  if(NOT sources)
    return()
  endif()
  add_executable(${name}_test ${sources})
  target_link_libraries(${name}_test PRIVATE tilus_flags GTest::gmock GTest::gtest_main ${ARG_LINK})
  tilus_precompile(${name}_test test)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # False alarms of gcc 12 inside std::string, where concatenations are inlined.
    target_compile_options(${name}_test PRIVATE -Wno-array-bounds -Wno-restrict
      -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
  foreach(dep IN LISTS ARG_DEPS)
    target_link_libraries(${name}_test PRIVATE tilus_${dep})
  endforeach()
  target_compile_definitions(${name}_test PRIVATE
    TILUS_SOURCE_DIR="${CMAKE_SOURCE_DIR}" TILUS_BINARY_DIR="${CMAKE_BINARY_DIR}")
  add_test(NAME ${name} COMMAND ${name}_test)
endfunction()
