# SPDX-License-Identifier: Apache-2.0
# Stands for the package of TT-Metal: the installed dry run under the name of its target. Its
# headers declare something that is used as deprecated, and are compiled without -isystem, as those
# of a TT-Metal that is a part of the project.
find_package(ttmem REQUIRED COMPONENTS dryrun)
add_library(stand_in INTERFACE)
target_link_libraries(stand_in INTERFACE ttmem::dryrun)
target_include_directories(stand_in BEFORE INTERFACE ${CMAKE_CURRENT_LIST_DIR}/deprecated)
add_library(TT::Metalium ALIAS stand_in)
