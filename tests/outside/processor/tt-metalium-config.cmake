# SPDX-License-Identifier: Apache-2.0
# A stand-in for the package of TT-Metal: the installed dry run under the name of TT-Metal's target.
# Its headers use a deprecated declaration, and are included without -isystem, as in a project that
# contains TT-Metal.
find_package(ttmem REQUIRED COMPONENTS dryrun)
add_library(stand_in INTERFACE)
target_link_libraries(stand_in INTERFACE ttmem::dryrun)
target_include_directories(stand_in BEFORE INTERFACE ${CMAKE_CURRENT_LIST_DIR}/deprecated)
add_library(TT::Metalium ALIAS stand_in)
