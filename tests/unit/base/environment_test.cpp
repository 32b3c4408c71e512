// SPDX-License-Identifier: Apache-2.0
#include "base/environment.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

namespace ttmem {
namespace {

void expect(const char* variable, const char* (*reader)() noexcept, const char* otherwise) {
  ::unsetenv(variable);
  EXPECT_STREQ(reader(), otherwise);
  ::setenv(variable, "", 1);
  EXPECT_STREQ(reader(), otherwise);
  ::setenv(variable, "/somewhere", 1);
  EXPECT_STREQ(reader(), "/somewhere");
  ::unsetenv(variable);
}

TEST(Environment, TheDirectoryIsTtmemDirOrSharedMemory) {
  expect("TTMEM_DIR", &segment_directory, "/dev/shm");
}

TEST(Environment, TheSocketIsTtmemSocketOrTheDefault) {
  expect("TTMEM_SOCKET", &socket_path, "/tmp/tt_allocation_server.sock");
}

}  // namespace
}  // namespace ttmem
