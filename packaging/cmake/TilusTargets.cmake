# Functions that every folder's CMakeLists.txt uses, and the flags that every target gets.

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
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
  foreach(dep IN LISTS ARG_DEPS)
    target_link_libraries(${name}_test PRIVATE tilus_${dep})
  endforeach()
  target_compile_definitions(${name}_test PRIVATE
    TILUS_SOURCE_DIR="${CMAKE_SOURCE_DIR}" TILUS_BINARY_DIR="${CMAKE_BINARY_DIR}")
  add_test(NAME ${name} COMMAND ${name}_test)
endfunction()
