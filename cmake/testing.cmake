# SPDX-License-Identifier: Apache-2.0
# Functions for every folder with tests.
find_package(GTest REQUIRED)
include(GoogleTest)

# The code of a test runs once, so optimising it costs more time than it saves. -fPIC replaces the
# -fPIE of programs, because the precompiled headers are compiled as a library. _FORTIFY_SOURCE is
# off, because it needs an optimiser.
set(cheap -O0 -g1 -fPIC -U_FORTIFY_SOURCE)
ttmem_precompiled(ttmem_precompiled_gtest HEADERS ${standard} ${json} <gtest/gtest.h>
                  LINK GTest::gtest nlohmann_json::nlohmann_json OPTIONS ${cheap})
ttmem_precompiled(ttmem_precompiled_rapidcheck
                  HEADERS ${standard} ${json} <gtest/gtest.h> <rapidcheck.h> <rapidcheck/gtest.h>
                  LINK GTest::gtest nlohmann_json::nlohmann_json OPTIONS ${cheap})
add_custom_target(ttmem_tests)  # all tests

# ttmem_test(NAME LABEL SOURCES... LINK libraries... [DEFINITIONS ...]): defines one GoogleTest
# program.
function(ttmem_test name label)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;DEFINITIONS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK} ttmem_options GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE TTMEM_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                                             ${arg_DEFINITIONS})
  target_compile_options(${name} PRIVATE ${cheap})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/tests)
  if("${RAPIDCHECK}" IN_LIST arg_LINK)
    ttmem_precompile(${name} ttmem_precompiled_rapidcheck)
  else()
    ttmem_precompile(${name} ttmem_precompiled_gtest)
  endif()
  add_dependencies(ttmem_tests ${name})
  # Tests must not depend on the chips of this machine.
  gtest_discover_tests(${name} PROPERTIES LABELS "${label}" TIMEOUT 300
                                          ENVIRONMENT TTMEM_SYSROOT=/nonexistent)
endfunction()
