// SPDX-License-Identifier: Apache-2.0
#include "show/exports/output.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/temporary_directory.hpp"

namespace ttmem::exports {
namespace {

namespace fs = std::filesystem;

class OutputFile : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return directory_.path() + "/out"; }
  [[nodiscard]] static std::string text_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory_.path()), fs::directory_iterator()));
  }

  TemporaryDirectory directory_;
};

TEST_F(OutputFile, HasItsNameOnlyWhenItIsComplete) {
  auto output = Output::create(path(), false);
  ASSERT_TRUE(output);
  output->write("whole");
  EXPECT_FALSE(fs::exists(path()));
  ASSERT_TRUE(output->finish());
  EXPECT_EQ(text_of(path()), "whole");
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFile, WritesIntoAnOpenFileAndKeepsItOpen) {
  {
    auto output = Output::into(UniqueFd(::open(path().c_str(), O_CREAT | O_WRONLY, 0600)), "it");
    output.write("some ");
    ASSERT_TRUE(output.finish());
  }
  EXPECT_EQ(text_of(path()), "some ");
  auto full = Output::into(UniqueFd(::open("/dev/full", O_WRONLY)), "a file of ours");
  full.write("some");
  EXPECT_EQ(full.finish().error().message, "cannot write a file of ours: No space left on device");
}

TEST_F(OutputFile, LeavesNoFileWhenItIsNotFinished) {
  {
    auto output = Output::create(path(), false);
    ASSERT_TRUE(output);
    output->write("half");
  }
  EXPECT_EQ(files(), 0);
}

TEST_F(OutputFile, DoesNotOverwriteAFileCreatedMeanwhile) {
  auto output = Output::create(path(), false);
  ASSERT_TRUE(output);
  std::ofstream(path()) << "mine";
  EXPECT_FALSE(output->finish());
  EXPECT_EQ(text_of(path()), "mine");
}

TEST_F(OutputFile, ReplacesAFileThatMayBeOverwritten) {
  std::ofstream(path()) << "old";
  EXPECT_FALSE(Output::create(path(), false));
  auto output = Output::create(path(), true);
  ASSERT_TRUE(output);
  output->write("new");
  EXPECT_EQ(text_of(path()), "old");
  ASSERT_TRUE(output->finish());
  EXPECT_EQ(text_of(path()), "new");
}

TEST_F(OutputFile, AFolderKeepsForeignFiles) {
  const auto write = [&](bool overwrite) -> Result<void> {
    auto folder = OutputFolder::create(path(), overwrite);
    if (!folder) return folder.error();
    std::ofstream(folder->file("db")) << "data";
    return folder->finish({"db"});
  };
  EXPECT_TRUE(write(false));
  EXPECT_FALSE(write(false));
  EXPECT_TRUE(write(true));
  std::ofstream(path() + "/mine") << "mine";
  EXPECT_FALSE(write(true));
  EXPECT_EQ(text_of(path() + "/mine"), "mine");
  EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace ttmem::exports
