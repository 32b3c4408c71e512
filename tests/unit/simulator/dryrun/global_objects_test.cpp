// SPDX-License-Identifier: Apache-2.0
//
// Tests semaphores, circular buffers that outlive programs, and views of buffers. The expected
// addresses are the addresses that TT-Metal gave for the same calls.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/global_circular_buffer.hpp>
#include <tt-metalium/global_semaphore.hpp>

#include "fixtures.hpp"

namespace dryrun_test {
namespace {

using experimental::CreateGlobalCircularBuffer;
using experimental::GlobalCircularBuffer;

class GlobalObjects : public ::testing::Test {
 protected:
  void open(const char* system, std::size_t l1_small = 32768) {
    listening_.reset();
    mesh_.reset();
    use_system(system);
    mesh_ = MeshDevice::create(MeshDeviceConfig(std::nullopt), l1_small);
    listening_ = std::make_unique<Listening>();
  }
  std::size_t used(BufferType type) {
    return mesh_->allocator()->get_statistics(type).total_allocated_bytes;
  }
  Recorder& heard() { return *listening_->shared(); }

  std::shared_ptr<MeshDevice> mesh_;
  std::unique_ptr<Listening> listening_;
};

using Semaphores = GlobalObjects;

TEST_F(Semaphores, TakeOneAlignedWordAtTheTopOfL1) {
  for (const auto& [system, address] :
       {std::pair("n150", 1466368u - 32), std::pair("p150", 1540096u - 64)}) {
    open(system);
    {
      const auto semaphore = CreateGlobalSemaphore(*mesh_, CoreRangeSet(grid(4, 4)), 0);
      EXPECT_EQ(semaphore.address(), address) << system;
      EXPECT_EQ(semaphore.device(), mesh_.get());
      EXPECT_EQ(heard().take_allocated().size(), 1u);
      semaphore.reset_semaphore_value(7);
      EXPECT_TRUE(heard().take_allocated().empty());
    }
    EXPECT_EQ(used(BufferType::L1), 0u);
    EXPECT_EQ(heard().take_freed().size(), 1u);
  }
}

TEST_F(Semaphores, AreSharedByTheirCopies) {
  open("t3000");
  auto semaphore = std::make_unique<GlobalSemaphore>(
      CreateGlobalSemaphore(*mesh_, CoreRangeSet(grid(8, 7)), 1, BufferType::L1_SMALL));
  const GlobalSemaphore copy = *semaphore;
  EXPECT_EQ(semaphore->address(), 1499136u - 32);
  EXPECT_EQ(std::hash<GlobalSemaphore>{}(*semaphore), std::hash<GlobalSemaphore>{}(copy));
  semaphore.reset();
  EXPECT_EQ(used(BufferType::L1_SMALL), 32u);
  EXPECT_TRUE(heard().take_freed().empty());
  const auto [cores, type] = copy.attribute_values();
  EXPECT_EQ(cores, CoreRangeSet(grid(8, 7)));
  EXPECT_EQ(type, BufferType::L1_SMALL);
}

TEST_F(Semaphores, NeedL1AndACore) {
  open("n150");
  const CoreRangeSet core(grid(1, 1));
  EXPECT_NE(error_of([&] {
              CreateGlobalSemaphore(*mesh_, core, 0, BufferType::DRAM);
            }).find("can only be created for L1 buffer types"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              CreateGlobalSemaphore(*mesh_, CoreRangeSet(), 0);
            }).find("must have at least one core"),
            std::string::npos);
  EXPECT_EQ(CreateGlobalSemaphore(mesh_->get_device(0), core, 0).address(), 1466368u - 32);
}

class GlobalCircularBuffers : public GlobalObjects {
 protected:
  // Returns one sender and its receivers, which are the cores to its right.
  std::vector<std::pair<CoreCoord, CoreRangeSet>> one_sender(std::size_t receivers) {
    return {{CoreCoord(0, 0), CoreRangeSet(CoreRange({1, 0}, {receivers, 0}))}};
  }
  static CircularBufferConfig remote(std::uint32_t bytes) {
    CircularBufferConfig config(bytes);
    config.remote_index(31).set_page_size(16).set_data_format(tt::DataFormat::Float16_b);
    config.index(0).set_page_size(16).set_data_format(tt::DataFormat::Float16_b);
    return config;
  }
};

TEST_F(GlobalCircularBuffers, HaveMemoryAndAConfigurationBelow) {
  open("n150");
  {
    const auto global = CreateGlobalCircularBuffer(*mesh_, one_sender(3), 4096);
    EXPECT_EQ(global.buffer_address(), 1466368u - 4096);
    // The configuration takes 160 bytes: 14 words, rounded up from 56 to 64 bytes, and two counters
    // of 16 bytes for each of the three receivers.
    EXPECT_EQ(global.config_address(), 1466368u - 4096 - 160);
    EXPECT_EQ(global.size(), 4096u);
    EXPECT_EQ(global.all_cores(), CoreRangeSet(grid(4, 1)));
    EXPECT_EQ(global.sender_cores(), CoreRangeSet(grid(1, 1)));
    EXPECT_EQ(global.receiver_cores().num_cores(), 3u);
    EXPECT_EQ(global.cb_buffer().aligned_size_per_bank(), 4096u);
    const GlobalCircularBuffer copy = global;
    EXPECT_EQ(std::hash<GlobalCircularBuffer>{}(copy), std::hash<GlobalCircularBuffer>{}(global));
    EXPECT_EQ(heard().take_allocated().size(), 2u);
  }
  EXPECT_EQ(heard().take_freed().size(), 2u);
  EXPECT_EQ(used(BufferType::L1), 0u);
  // The configuration has 18 words and ten counters.
  EXPECT_EQ(CreateGlobalCircularBuffer(*mesh_, one_sender(5), 4096).config_address(),
            1466368u - 4096 - 256);
}

TEST_F(GlobalCircularBuffers, HoldTheCircularBuffersOfPrograms) {
  open("n300");
  const auto first = CreateGlobalCircularBuffer(*mesh_, one_sender(3), 4096);
  const auto second = CreateGlobalCircularBuffer(*mesh_, one_sender(3), 4096);
  heard().take_cbs();
  Program program;
  const CBHandle handle =
      experimental::CreateCircularBuffer(program, CoreRangeSet(grid(4, 1)), remote(4096), first);
  add_cb(program, CoreRangeSet(grid(8, 7)), 2048, 1);
  auto workload = workload_of(*mesh_, std::move(program));
  run(*mesh_, workload);
  const auto cbs = heard().take_cbs();
  ASSERT_EQ(cbs.size(), 4u);
  EXPECT_TRUE(cbs[0].globally_allocated);
  EXPECT_EQ(cbs[0].address, first.buffer_address());
  EXPECT_EQ(cbs[2].address, 105664u) << "it takes nothing of the program's own memory";
  EXPECT_EQ(cb_bytes(mesh_->get_device(0)), 56u * 2048);
  auto& placed = workload.get_programs().begin()->second;
  experimental::UpdateDynamicCircularBufferAddress(placed, handle, second);
  EXPECT_EQ(GetCircularBufferConfig(placed, handle).globally_allocated_address(),
            second.buffer_address());
  EXPECT_NE(error_of([&] {
              UpdateDynamicCircularBufferAddress(placed, handle, first.cb_buffer());
            }).find("must not be a GlobalCircularBuffer"),
            std::string::npos);
}

TEST_F(GlobalCircularBuffers, NeedARemoteIndexAndTheOtherWayRound) {
  open("n150");
  const auto global = CreateGlobalCircularBuffer(*mesh_, one_sender(3), 4096);
  Program program;
  const CoreRangeSet cores(grid(4, 1));
  EXPECT_NE(error_of([&] {
              CreateCircularBuffer(program, cores, remote(4096));
            }).find("not supported without a GlobalCircularBuffer"),
            std::string::npos);
  CircularBufferConfig local(4096);
  local.index(0).set_page_size(16).set_data_format(tt::DataFormat::Float16_b);
  EXPECT_NE(error_of([&] {
              experimental::CreateCircularBuffer(program, cores, local, global);
            }).find("Remote buffer indices should be specified"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              experimental::CreateCircularBuffer(program, CoreRangeSet(grid(5, 1)), remote(4096),
                                                 global);
            }).find("Specified cores are not contained"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              experimental::CreateCircularBuffer(program, cores, remote(8192), global);
            }).find("larger than the associated dynamically allocated L1 buffer bank size of 4096"),
            std::string::npos);
  CircularBufferConfig twice = remote(4096);
  EXPECT_THROW(twice.remote_index(30), std::runtime_error);
  EXPECT_THROW(twice.remote_index(0), std::runtime_error);
  EXPECT_THROW(twice.index(31), std::runtime_error);
  EXPECT_TRUE(program.circular_buffers().empty());
}

TEST_F(GlobalCircularBuffers, HaveEveryCoreOnce) {
  open("n150");
  const CoreRangeSet row(CoreRange({0, 0}, {3, 0}));
  const CoreRangeSet next(CoreRange({0, 1}, {3, 1}));
  EXPECT_NE(
      error_of([&] { CreateGlobalCircularBuffer(*mesh_, {}, 4096); }).find("At least one sender"),
      std::string::npos);
  EXPECT_NE(error_of([&] {
              CreateGlobalCircularBuffer(*mesh_, {{{0, 0}, row}}, 4096);
            }).find("Duplicate cores found"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              CreateGlobalCircularBuffer(*mesh_, {{{5, 0}, row}, {{6, 0}, row}}, 4096);
            }).find("Duplicate receiver cores found"),
            std::string::npos);
  EXPECT_THROW(CreateGlobalCircularBuffer(*mesh_, {{{5, 0}, row}, {{5, 0}, next}}, 4096),
               std::runtime_error);
  // The buffer itself fits, but no room is left for its configuration.
  EXPECT_NE(error_of([&] {
              CreateGlobalCircularBuffer(*mesh_, {{{5, 0}, row}}, 1360704);
            }).find("Out of Memory"),
            std::string::npos);
  EXPECT_EQ(used(BufferType::L1), 0u);
}

using Views = GlobalObjects;

TEST_F(Views, AreNotASecondAllocation) {
  open("t3000");
  auto root = Buffer::create(mesh_.get(), 16 * 2048, 2048, BufferType::L1);
  heard().take_allocated();
  const std::size_t before = used(BufferType::L1);
  auto view = root->view(BufferRegion(4 * 2048, 8 * 2048));
  EXPECT_EQ(view->address(), root->address());
  EXPECT_EQ(view->size(), 8u * 2048);
  EXPECT_EQ(view->root_buffer(), root);
  EXPECT_EQ(view->root_buffer_region().offset, 4u * 2048);
  auto inner = view->view(BufferRegion(2048, 2048));
  EXPECT_EQ(inner->root_buffer(), root);
  EXPECT_EQ(inner->root_buffer_region().offset, 5u * 2048);
  EXPECT_EQ(used(BufferType::L1), before);
  DeallocateBuffer(*view);
  view.reset();
  EXPECT_EQ(used(BufferType::L1), before);
  EXPECT_TRUE(heard().take_allocated().empty());
  EXPECT_TRUE(heard().take_freed().empty());
  const auto id = root->unique_id();
  root.reset();
  EXPECT_EQ(used(BufferType::L1), before) << "a view keeps its buffer alive";
  inner.reset();
  EXPECT_EQ(used(BufferType::L1), 0u);
  EXPECT_EQ(heard().take_freed(), std::vector{id});
}

TEST_F(Views, OfTheWholeBufferAreTheBufferItself) {
  open("n150");
  const auto root = Buffer::create(mesh_.get(), 16 * 2048, 2048, BufferType::DRAM);
  EXPECT_EQ(root->view(BufferRegion(0, 16 * 2048)), root);
  EXPECT_EQ(root->root_buffer(), root);
}

TEST_F(Views, ConsistOfWholePagesOfTheBuffer) {
  open("n150");
  const auto root = Buffer::create(mesh_.get(), 16 * 2048, 2048, BufferType::DRAM);
  for (const BufferRegion& region :
       {BufferRegion(1024, 2048), BufferRegion(2048, 1024), BufferRegion(15 * 2048, 2 * 2048)}) {
    EXPECT_THROW(root->view(region), std::runtime_error) << region.offset;
  }
}

TEST_F(Views, OfAShardedBufferKeepItsCores) {
  open("n150");
  const auto root = Buffer::create(mesh_.get(), 16 * 2048, 2048, BufferType::L1,
                                   height_sharded(CoreRangeSet(grid(4, 4)), 1, 2048));
  const auto view = root->view(BufferRegion(0, 4 * 2048));
  EXPECT_EQ(view->num_cores(), 16u);
  EXPECT_EQ(view->aligned_size_per_bank(), 2048u);
}

TEST(Shapes, AreMadeFromAnySpan) {
  const std::array<std::uint32_t, 3> sizes{2, 3, 4};
  const std::vector<std::uint32_t> vector(sizes.begin(), sizes.end());
  const Shape shape{2, 3, 4};
  EXPECT_EQ(Shape(ttsl::Span<const std::uint32_t>(sizes)), shape);
  EXPECT_EQ(Shape(sizes), shape);
  EXPECT_EQ(Shape(vector), shape);
  EXPECT_EQ(shape.view().size(), 3u);
  EXPECT_EQ(shape[-1], 4u);
  EXPECT_EQ(shape.volume(), 24u);
}

}  // namespace
}  // namespace dryrun_test
