# SPDX-License-Identifier: Apache-2.0
# The installed tree: the tool, and the library with its CMake package and pkg-config file.
include(CMakePackageConfigHelpers)

install(TARGETS ttmem EXPORT ttmem-targets)
install(TARGETS ttmem_cli)
# The names of the original tools. src/cli/main.cpp maps them to commands.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
foreach(alias allocation_server tt_smi_umd)
  file(CREATE_LINK ttmem ${CMAKE_BINARY_DIR}/bin/${alias} SYMBOLIC)
  install(FILES ${CMAKE_BINARY_DIR}/bin/${alias} DESTINATION ${CMAKE_INSTALL_BINDIR})
endforeach()
install(DIRECTORY include/ttmem DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY packaging/deploy DESTINATION ${CMAKE_INSTALL_DATADIR}/ttmem USE_SOURCE_PERMISSIONS)

# Under the prefix /usr/local, zsh searches this folder for completions. Debian's packages use
# share/zsh/vendor-completions instead.
set(TTMEM_ZSH_DIR ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING "Completion for zsh goes here")
install(FILES packaging/completion/ttmem.bash RENAME ttmem
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES packaging/completion/_ttmem DESTINATION ${TTMEM_ZSH_DIR})
install(FILES packaging/completion/ttmem.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ttmem)
install(EXPORT ttmem-targets NAMESPACE ttmem:: DESTINATION ${package_dir})
set(processor_dir ${CMAKE_INSTALL_DATADIR}/ttmem/tt-metal)
configure_package_config_file(cmake/ttmem-config.cmake.in ttmem-config.cmake
                              INSTALL_DESTINATION ${package_dir} PATH_VARS processor_dir
                              NO_CHECK_REQUIRED_COMPONENTS_MACRO)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ttmem-config.cmake DESTINATION ${package_dir})
write_basic_package_version_file(ttmem-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ttmem-config-version.cmake DESTINATION ${package_dir})

file(RELATIVE_PATH prefix_from_pkgconfig /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" prefix_from_pkgconfig ${prefix_from_pkgconfig})
configure_file(cmake/ttmem.pc.in ttmem.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ttmem.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TTMEM_DRYRUN)
  install(TARGETS ttmem_dryrun EXPORT ttmem-dryrun)
  install(TARGETS ttmem_dryrun_shared)
  install(DIRECTORY simulator/dryrun/include/ simulator/dryrun/internal/
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ttmem-dryrun)
  install(EXPORT ttmem-dryrun NAMESPACE ttmem:: DESTINATION ${package_dir})
endif()
install(DIRECTORY integrations/tt-metal DESTINATION ${CMAKE_INSTALL_DATADIR}/ttmem)
install(FILES src/base/probe_table.hpp DESTINATION ${processor_dir})
