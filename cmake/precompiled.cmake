# SPDX-License-Identifier: Apache-2.0
# Headers of the standard library and of other libraries, parsed once instead of in every file. A
# file must still include each header that it uses, because the preset dev compiles without
# precompiled headers (CMAKE_DISABLE_PRECOMPILE_HEADERS).

# ttmem_precompiled(NAME HEADERS... LINK libraries... [OPTIONS ...]): defines headers for
# ttmem_precompile().
function(ttmem_precompiled name)
  cmake_parse_arguments(arg "" "" "HEADERS;LINK;OPTIONS" ${ARGN})
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${name}.cpp CONTENT "")  # a target needs a source
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/${name}.cpp)
  target_link_libraries(${name} PRIVATE ${arg_LINK} ttmem_options)
  target_compile_options(${name} PRIVATE ${arg_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${arg_HEADERS})
endfunction()

# ttmem_precompile(TARGET NAME): uses the headers of NAME in TARGET. TARGET must have the options of
# NAME and link the libraries of NAME.
function(ttmem_precompile target name)
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    target_precompile_headers(${target} REUSE_FROM ${name})
    # Lets ccache see the contents of the precompiled headers.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  endif()
endfunction()

# ttmem_optimize_less(FILES...): compiles the files with -O1, or in a debug build with -O0. Use it
# for files whose code runs seldom and that include a library which takes long to compile. In a
# debug build these files use no precompiled headers: a precompiled header that was compiled with
# optimization, as in the preset fuzz, cannot be used with -O0.
function(ttmem_optimize_less)
  if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O0 SKIP_PRECOMPILE_HEADERS ON)
  else()
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O1)
  endif()
endfunction()

set(standard <algorithm> <array> <chrono> <functional> <map> <memory> <optional> <span> <string>
             <string_view> <unordered_map> <utility> <vector>)
set(json <nlohmann/json.hpp>)  # saves a second in each of a hundred files
ttmem_precompiled(ttmem_precompiled_fmt
  HEADERS ${standard} ${json} ${CMAKE_CURRENT_LIST_DIR}/fmt_once.hpp
  LINK fmt::fmt nlohmann_json::nlohmann_json)
ttmem_precompiled(ttmem_precompiled_server
  HEADERS ${standard} ${json} ${CMAKE_CURRENT_LIST_DIR}/fmt_once.hpp <spdlog/spdlog.h>
          <boost/asio/io_context.hpp>
          <boost/asio/ip/tcp.hpp> <boost/asio/local/stream_protocol.hpp> <boost/asio/post.hpp>
          <boost/asio/steady_timer.hpp> <boost/asio/thread_pool.hpp>
  LINK fmt::fmt nlohmann_json::nlohmann_json spdlog::spdlog ttmem_asio)
