// SPDX-License-Identifier: Apache-2.0
#include "bank_bytes.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <tt-metalium/buffer.hpp>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/tt_metal.hpp>

namespace ttmem::tt_metal {
namespace {

namespace tm = ::tt::tt_metal;
using tm::distributed::MeshDevice;

// Opens a device that has the DRAM banks of the given board.
std::shared_ptr<MeshDevice> open(const char* board) {
  ::setenv("TTMEM_DRYRUN_SYSTEM", board, 1);
  return MeshDevice::create_unit_mesh(0, 16384, 1U << 20U);
}

// Compares the results of BankBytes with the runtime's figures. Uses more sizes than the cache of
// BankBytes can keep, and each size twice.
void expect_same_as_runtime(BankBytes& bank_bytes, MeshDevice& mesh, std::uint64_t generation) {
  for (const tm::BufferType type :
       {tm::BufferType::DRAM, tm::BufferType::L1, tm::BufferType::TRACE}) {
    for (std::uint64_t pages = 1; pages <= 100; ++pages) {
      for (const std::uint64_t page : {32U, 48U, 64U}) {
        const auto buffer = tm::Buffer::create(&mesh, pages * page, page, type);
        EXPECT_EQ(bank_bytes.of(*buffer, generation), buffer->aligned_size_per_bank());
        EXPECT_EQ(bank_bytes.of(*buffer, generation), buffer->aligned_size_per_bank());
      }
    }
  }
}

TEST(BankBytesTest, EqualsTheRuntimesAnswer) {
  BankBytes bank_bytes;
  const auto mesh = open("n150");
  expect_same_as_runtime(bank_bytes, *mesh, 1);
}

TEST(BankBytesTest, AReopenedDeviceMayHaveOtherBanks) {
  BankBytes bank_bytes;
  expect_same_as_runtime(bank_bytes, *open("n150"), 1);
  expect_same_as_runtime(bank_bytes, *open("p150"), 2);
}

TEST(BankBytesTest, ShardsAreAskedFromTheRuntime) {
  BankBytes bank_bytes;
  const auto mesh = open("n150");
  for (const std::size_t last : {0U, 1U, 3U}) {  // buffers of equal size on 1, 2 and 4 cores
    const tm::CoreRangeSet cores(tm::CoreRange({0, 0}, {last, 0}));
    const auto height = static_cast<std::uint32_t>(128 / (last + 1));
    const tm::ShardSpecBuffer shards(cores, {height, 32}, tm::ShardOrientation::ROW_MAJOR, {32, 32},
                                     {4, 1});
    const auto buffer =
        tm::Buffer::create(mesh.get(), 4 * 2048, 2048, tm::BufferType::L1,
                           tm::BufferShardingArgs(shards, tm::TensorMemoryLayout::HEIGHT_SHARDED));
    EXPECT_EQ(bank_bytes.of(*buffer, 1), buffer->aligned_size_per_bank());
  }
}

}  // namespace
}  // namespace ttmem::tt_metal
