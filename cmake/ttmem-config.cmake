# SPDX-License-Identifier: Apache-2.0
# find_package(ttmem) gives ttmem::ttmem; with COMPONENTS dryrun also ttmem::dryrun.
include(${CMAKE_CURRENT_LIST_DIR}/ttmem-targets.cmake)
foreach(component ${ttmem_FIND_COMPONENTS})
  if(component STREQUAL "dryrun" AND EXISTS ${CMAKE_CURRENT_LIST_DIR}/ttmem-dryrun.cmake)
    include(CMakeFindDependencyMacro)
    find_dependency(Threads)
    include(${CMAKE_CURRENT_LIST_DIR}/ttmem-dryrun.cmake)
  elseif(ttmem_FIND_REQUIRED_${component})
    set(ttmem_FOUND FALSE)
    set(ttmem_NOT_FOUND_MESSAGE "this ttmem was installed without ${component}")
  endif()
endforeach()
