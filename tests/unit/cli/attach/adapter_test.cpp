// SPDX-License-Identifier: Apache-2.0
//
// Tests the parts of the adapter's build that need no compiler. tests/outside/test_run.py tests the
// whole adapter.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "cli/attach/child.hpp"
#include "cli/attach/compiler.hpp"
#include "cli/attach/elf_file.hpp"
#include "cli/attach/hash.hpp"
#include "cli/attach/ninja_flags.hpp"
#include "cli/attach/runtime_library.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::attach {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kObject = "tt_metal/impl/CMakeFiles/impl.dir/";

TEST(NinjaFlags, AreTakenFromTheFirstObjectOfTheTarget) {
  const std::string ninja =
      "build tt_stl/CMakeFiles/x.o: CXX_COMPILER a.cpp\n"
      "  DEFINES = -DOTHER\n\n"
      "build lib.so: LINK tt_metal/impl/CMakeFiles/impl.dir/a.o\n\n"
      "build tt_metal/impl/CMakeFiles/impl.dir/a.o: CXX_COMPILER__impl_Release a.cpp | pch\n"
      "  DEFINES = -DFMT_HEADER_ONLY=1 -DNAME=\\\"a$ b\\\"\n"
      "  DEP_FILE = a.o.d\n"
      "  FLAGS = -O3 -DNDEBUG -std=c++20 -march=x86-64-v3 -include pch.hxx\n"
      "  INCLUDES = -I/src/tt_metal -isystem \"/with blank/include\"\n\n"
      "build tt_metal/impl/CMakeFiles/impl.dir/b.o: CXX_COMPILER__impl_Release b.cpp\n"
      "  DEFINES = -DSECOND\n";
  const auto flags = flags_in_ninja(ninja, kObject);
  ASSERT_TRUE(flags.has_value());
  EXPECT_EQ(*flags, (Words{"-DFMT_HEADER_ONLY=1", "-DNAME=\"a", "b\"", "-DNDEBUG", "-std=c++20",
                           "-I/src/tt_metal", "-isystem", "/with blank/include"}));
}

TEST(NinjaFlags, AreEmptyWithoutTheTarget) {
  EXPECT_FALSE(flags_in_ninja("", kObject).has_value());
  EXPECT_FALSE(flags_in_ninja("\nbuild a.o: CXX a.cpp\n  DEFINES = -DX\n", kObject).has_value());
}

TEST(NinjaFlags, QuotesAndEscapesAreUndone) {
  EXPECT_EQ(arguments_of("  a  'b c' \"d\\\"e\" f\\ g $$h \"\" "),
            (Words{"a", "b c", "d\"e", "f g", "$h", ""}));
  EXPECT_EQ(arguments_of(""), Words{});
}

TEST(Compiler, IsJudgedByItsOwnVersionMacros) {
  EXPECT_TRUE(new_enough("#define __GNUC__ 12\n"));
  EXPECT_FALSE(new_enough("#define __GNUC__ 9\n"));
  EXPECT_TRUE(new_enough("#define __GNUC__ 4\n#define __clang_major__ 16\n"));
  EXPECT_FALSE(new_enough("#define __GNUC__ 4\n#define __clang_major__ 14\n"));
  EXPECT_FALSE(new_enough(""));
}

TEST(ElfFile, ReadsThisProgram) {
  const auto self = ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(self.has_value());
  EXPECT_TRUE(self->interpreter().starts_with("/"));
  EXPECT_FALSE(self->defines("no_such_symbol"));
  EXPECT_FALSE(files_loaded_by("/proc/self/exe").paths.empty());
  EXPECT_FALSE(has_runtime("/proc/self/exe"));
}

TEST(ElfFile, RefusesOtherFiles) {
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/text";
  EXPECT_FALSE(ElfFile::open(path).has_value());
  EXPECT_FALSE(ElfFile::open("/").has_value());
  std::ofstream(path) << "#!/bin/sh\n";
  EXPECT_FALSE(ElfFile::open(path).has_value());
}

// Damages each of the first 64 bytes of a file, and cuts the file at each length below 64 bytes.
// The reader must not read outside of the file.
TEST(ElfFile, SurvivesDamage) {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::string head(4096, '\0');
  self.read(head.data(), static_cast<std::streamsize>(head.size()));
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/damaged";
  for (std::size_t at = 0; at < 64; ++at) {
    std::string bytes = head;
    bytes[at] = static_cast<char>(~bytes[at]);
    std::ofstream(path, std::ios::binary) << bytes;
    if (const auto elf = ElfFile::open(path)) {
      EXPECT_FALSE(elf->defines("main"));
      EXPECT_EQ(elf->build_id(), "");
      EXPECT_EQ(elf->soname(), "");
      static_cast<void>(elf->interpreter());
    }
    std::ofstream(path, std::ios::binary) << head.substr(0, at);
    EXPECT_FALSE(ElfFile::open(path).has_value());
  }
}

TEST(Hash, DiffersForDifferentContents) {
  const auto of = [](const std::string& text) {
    Hash hash;
    hash.add(text);
    return hash.hex();
  };
  EXPECT_EQ(of("adapter"), of("adapter"));
  EXPECT_NE(of("adapter"), of("adapteR"));
  EXPECT_NE(of("12345678a"), of("12345678b"));
  EXPECT_NE(of("a2345678"), of("b2345678"));
}

TEST(Child, ReturnsOutputAndStatus) {
  const auto ended = run_child({"sh", "-c", "echo $WORD; exit 3"},
                               {.environment = {{"WORD", "hello"}}}, std::chrono::seconds(20));
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->output, "hello\n");
  EXPECT_FALSE(ended->succeeded());
  EXPECT_FALSE(run_child({"no-such-program"}, {}, std::chrono::seconds(20)).has_value());
}

TEST(Child, IsKilledWhenItTakesTooLong) {
  EXPECT_FALSE(run_child({"sleep", "100"}, {}, std::chrono::seconds(0)).has_value());
}

}  // namespace
}  // namespace ttmem::attach
