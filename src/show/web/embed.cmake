# SPDX-License-Identifier: Apache-2.0
# cmake -DFILES=... -DVENDOR=... -DOUT=DIR -P embed.cmake: compresses each file, and writes
# embedded.S, which contains the files, and embedded.cpp, the table that assets.cpp reads.
cmake_minimum_required(VERSION 3.25)
set(type_html "text/html; charset=utf-8")
set(type_css "text/css; charset=utf-8")
set(type_js "text/javascript; charset=utf-8")
set(type_svg "image/svg+xml")
set(type_txt "text/plain; charset=utf-8")

set(assembly "  .section .rodata\n")
set(declared "")
set(rows "")
set(number 0)
function(embed file path)
  set(packed ${OUT}/${number}.gz)
  # -n leaves out name and time, so that equal files give equal bytes.
  execute_process(COMMAND gzip -9 -n -c ${file} OUTPUT_FILE ${packed} COMMAND_ERROR_IS_FATAL ANY)
  file(SHA256 ${file} hash)
  string(SUBSTRING ${hash} 0 16 hash)
  string(REGEX REPLACE "^.*\\." "" ending ${path})
  string(APPEND assembly "  .global ttmem_asset_${number}, ttmem_asset_${number}_end\n"
         "ttmem_asset_${number}:\n  .incbin \"${packed}\"\nttmem_asset_${number}_end:\n")
  string(APPEND declared "extern const std::byte ttmem_asset_${number}[];\n"
         "extern const std::byte ttmem_asset_${number}_end[];\n")
  string(APPEND rows "      {\"${path}\", \"${type_${ending}}\", \"\\\"${hash}\\\"\",\n"
         "       {ttmem_asset_${number}, ttmem_asset_${number}_end}},\n")
  math(EXPR number "${number} + 1")
  return(PROPAGATE assembly declared rows number)
endfunction()

foreach(file ${FILES})
  cmake_path(GET file FILENAME name)
  if(NOT name STREQUAL "no_charts.js")
    embed(${file} "/${name}")
  else()
    set(stand_in ${file})
  endif()
endforeach()
set(missing "")
if(VENDOR)
  list(GET VENDOR 0 script)
  list(GET VENDOR 1 style)
  list(GET VENDOR 2 licence)
  embed(${script} "/uplot.js")
  embed(${style} "/uplot.css")
  embed(${licence} "/uplot-licence.txt")
else()
  set(missing "charts: uPlot was missing when it was built (npm ci in src/show/web/, then build again)")
  embed(${stand_in} "/uplot.js")
  file(WRITE ${OUT}/empty.css "")
  embed(${OUT}/empty.css "/uplot.css")
endif()

file(WRITE ${OUT}/embedded.S "${assembly}  .section .note.GNU-stack,\"\",%progbits\n")
file(WRITE ${OUT}/embedded.cpp "// Made by embed.cmake.
#include \"show/web/assets.hpp\"

extern \"C\" {
${declared}}

namespace ttmem::web {

std::span<const Asset> all() {
  static const Asset assets[] = {
${rows}  };
  return assets;
}

std::string_view missing() { return \"${missing}\"; }

}  // namespace ttmem::web
")
