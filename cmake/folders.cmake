# SPDX-License-Identifier: Apache-2.0
# ttmem_headers(TARGET): a target that links TARGET may include "<folder>/<file>", where <folder> is
# the current folder, relative to src/ or else to the root. Nothing else becomes visible, because
# the include path contains only a link to this folder.
function(ttmem_headers target)
  set(top ${CMAKE_SOURCE_DIR})
  if(CMAKE_CURRENT_SOURCE_DIR MATCHES "^${CMAKE_SOURCE_DIR}/src/")
    set(top ${CMAKE_SOURCE_DIR}/src)
  endif()
  file(RELATIVE_PATH folder ${top} ${CMAKE_CURRENT_SOURCE_DIR})
  set(root ${CMAKE_BINARY_DIR}/headers/${target})
  cmake_path(GET folder PARENT_PATH parent)
  file(MAKE_DIRECTORY ${root}/${parent})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${root}/${folder} SYMBOLIC)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    target_include_directories(${target} INTERFACE ${root})
  else()
    target_include_directories(${target} PUBLIC ${root})
  endif()
endfunction()
