// SPDX-License-Identifier: Apache-2.0
//
// Runs random host programs on every system and compares the dry run with a model that has no free
// lists. Each buffer must be in the first gap. No two buffers may overlap, and no buffer may leave
// its region. A request that does not fit must throw. At the end all memory must be free.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/global_circular_buffer.hpp>
#include <tt-metalium/global_semaphore.hpp>
#include <tt-metalium/sub_device.hpp>
#include <utility>

#include "fixtures.hpp"
#include "system.hpp"

namespace dryrun_test {
namespace {

// The address space of a bank, as a list of taken ranges.
class Space {
 public:
  Space(DeviceAddr begin, DeviceAddr end) : begin_(begin), end_(end) {}

  // Returns the address of the first gap of this size, searched from the bottom or from the top.
  std::optional<DeviceAddr> first_gap(DeviceAddr size, bool bottom_up) const {
    std::optional<DeviceAddr> found;
    DeviceAddr at = begin_;
    for (auto next = taken_.begin();; ++next) {
      const DeviceAddr gap_end = next == taken_.end() ? end_ : next->first;
      if (gap_end >= at + size) found = bottom_up ? at : gap_end - size;
      if (next == taken_.end() || (found && bottom_up)) return found;
      at = next->second;
    }
  }
  // Takes a range. Returns false if it overlaps a taken range or leaves the space.
  bool take(DeviceAddr address, DeviceAddr size) {
    const auto next = taken_.lower_bound(address);
    const bool fits = address >= begin_ && address + size <= end_ &&
                      (next == taken_.end() || next->first >= address + size) &&
                      (next == taken_.begin() || std::prev(next)->second <= address);
    if (fits) taken_[address] = address + size;
    return fits;
  }
  void free(DeviceAddr address) { taken_.erase(address); }
  void begin_at(DeviceAddr begin) { begin_ = begin; }
  bool empty() const { return taken_.empty(); }
  std::optional<DeviceAddr> lowest() const {
    return empty() ? std::nullopt : std::optional(taken_.begin()->first);
  }

 private:
  DeviceAddr begin_;
  DeviceAddr end_;
  std::map<DeviceAddr, DeviceAddr> taken_;  // begin and end of each taken range
};

// Receives every event of a mesh. Compares the event with the model, then updates the model.
class Model final : public IGraphProcessor {
 public:
  explicit Model(const MeshDevice& mesh)
      : alignment_(mesh.allocator()->get_alignment(BufferType::DRAM)),
        base_(mesh.allocator()->get_base_allocator_addr(HalMemType::L1)) {
    const Allocator& allocator = *mesh.allocator();
    const DeviceAddr small = allocator.get_bank_size(BufferType::L1_SMALL);
    const DeviceAddr l1_end = mesh.l1_size_per_core();
    const DeviceAddr dram = allocator.get_base_allocator_addr(HalMemType::DRAM);
    spaces_.emplace(BufferType::DRAM,
                    Space(dram, dram + allocator.get_bank_size(BufferType::DRAM)));
    spaces_.emplace(BufferType::L1, Space(base_, l1_end - small));
    spaces_.emplace(BufferType::L1_SMALL, Space(l1_end - small, l1_end));
  }

  void load(std::size_t sub_devices, DeviceAddr local) {
    local_ = (local + 15) / 16 * 16;
    own_.assign(sub_devices, Space(base_, base_ + local_));
    spaces_.at(BufferType::L1).begin_at(base_ + local_);
  }
  Space& space_of(const Buffer& buffer) {
    const auto sub_device = buffer.sub_device_id();
    return sub_device ? own_.at(**sub_device) : spaces_.at(buffer.buffer_type());
  }
  DeviceAddr rounded(const Buffer& buffer) const {
    return (buffer.aligned_size_per_bank() + alignment_ - 1) / alignment_ * alignment_;
  }

  bool is_capture_processor() const override { return false; }
  void track_allocate(const Buffer* buffer) override {
    Space& space = space_of(*buffer);
    EXPECT_EQ(space.first_gap(rounded(*buffer), buffer->bottom_up()), buffer->address());
    EXPECT_TRUE(space.take(buffer->address(), rounded(*buffer))) << buffer->address();
    ++buffers;
  }
  void track_deallocate(Buffer* buffer) override { space_of(*buffer).free(buffer->address()); }
  void track_allocate_cb(const CoreRangeSet&, std::uint64_t address, std::uint64_t size,
                         bool globally_allocated, const IDevice*) override {
    ++cbs;
    if (globally_allocated) return;
    EXPECT_EQ(address % alignment_, 0u);
    EXPECT_GE(address, base_);
    cb_end = std::max(cb_end, address + size);
  }

  // Returns the address below which the circular buffers of a program on this sub-device must end.
  std::optional<DeviceAddr> lowest(std::size_t sub_device) const {
    auto lowest = spaces_.at(BufferType::L1).lowest();
    if (sub_device >= own_.size()) return lowest;
    const auto own = own_[sub_device].lowest();
    return lowest && own ? std::min(lowest, own) : (own ? own : lowest);
  }
  bool sub_devices_hold_buffers() const {
    return std::any_of(own_.begin(), own_.end(), [](const Space& own) { return !own.empty(); });
  }
  DeviceAddr base() const { return base_; }
  void expect_empty() const {
    for (const auto& [type, space] : spaces_) EXPECT_TRUE(space.empty());
    EXPECT_FALSE(sub_devices_hold_buffers());
  }

  std::size_t buffers = 0;
  std::size_t cbs = 0;
  std::uint64_t cb_end = 0;  // highest end of the CBs that were placed since the last reset to 0

 private:
  const DeviceAddr alignment_;
  const DeviceAddr base_;
  DeviceAddr local_ = 0;
  std::map<BufferType, Space> spaces_;
  std::vector<Space> own_;  // indexed by sub-device
};

// Makes random calls and keeps the objects that the calls return.
class Player {
 public:
  Player(const std::string& system, unsigned seed)
      : random_(seed),
        mesh_(open(system)),
        grid_(mesh_->compute_with_storage_grid_size()),
        whole_({0, 0}, {grid_.x - 1, grid_.y - 1}),
        halves_{CoreRange({0, 0}, {grid_.x / 2 - 1, grid_.y - 1}),
                CoreRange({grid_.x / 2, 0}, {grid_.x - 1, grid_.y - 1})},
        model_(std::make_shared<Model>(*mesh_)) {
    GraphTracker::instance().push_processor(model_);
  }
  ~Player() { GraphTracker::instance().pop_processor(); }

  void step() {
    switch (below(12)) {
      case 0:
      case 1:
      case 2:
        return make_buffer();
      case 3:
        return make_sharded();
      case 4:
        return make_semaphore();
      case 5:
        return make_global_circular_buffer();
      case 6:
      case 7:
      case 8:
        return run_program();
      case 9:
        return switch_manager();
      case 10:
        return look_at_a_view();
      default:
        return drop_something();
    }
  }

  void end() {
    programs_.clear();
    semaphores_.clear();
    globals_.clear();
    buffers_.clear();
    mesh_->clear_loaded_sub_device_manager();
    model_->expect_empty();
    for (const BufferType type : {BufferType::DRAM, BufferType::L1, BufferType::L1_SMALL}) {
      const Statistics of = mesh_->allocator()->get_statistics(type);
      EXPECT_EQ(of.total_allocated_bytes, 0u);
      EXPECT_EQ(of.largest_free_block_bytes, of.total_allocatable_size_bytes);
    }
    for (const IDevice* chip : mesh_->get_devices()) {
      EXPECT_EQ(dynamic_cast<const Device&>(*chip).num_registered_programs(), 0u);
    }
  }

  const Model& model() const { return *model_; }
  std::size_t refused() const { return refused_; }

 private:
  static std::shared_ptr<MeshDevice> open(const std::string& system) {
    use_system(system);
    return MeshDevice::create(MeshDeviceConfig(std::nullopt), 32768);
  }
  std::uint32_t below(std::size_t end) { return static_cast<std::uint32_t>(random_() % end); }

  CoreRange range_in(const CoreRange& all) {
    const CoreCoord size = all.grid_size();
    const CoreCoord from(below(size.x), below(size.y));
    const CoreCoord to(from.x + below(size.x - from.x), from.y + below(size.y - from.y));
    return CoreRange({all.start_coord.x + from.x, all.start_coord.y + from.y},
                     {all.start_coord.x + to.x, all.start_coord.y + to.y});
  }

  // Runs a call that may fail. The only allowed error is out of memory. A call that fails may leave
  // at most one more buffer in the model, which is the memory of a global circular buffer.
  template <typename Make>
  void make(const Make& attempt) {
    const std::size_t before = model_->buffers;
    try {
      attempt();
    } catch (const std::runtime_error& error) {
      ++refused_;
      EXPECT_NE(std::string(error.what()).find("Out of Memory"), std::string::npos) << error.what();
      EXPECT_LE(model_->buffers, before + 1) << "of a global circular buffer, the memory";
    }
  }

  void make_buffer() {
    const bool l1 = below(2) == 0;
    const DeviceAddr page = 16 * (1 + below(200));
    const DeviceAddr pages = 1 + below(l1 && below(8) == 0 ? 60000 : 500);
    const bool bottom_up = l1 ? below(8) == 0 : below(8) != 0;
    make([&] {
      buffers_.push_back(
          MeshBuffer::create(distributed::ReplicatedBufferConfig{.size = page * pages},
                             {.page_size = page,
                              .buffer_type = l1 ? BufferType::L1 : BufferType::DRAM,
                              .sharding_args = {},
                              .bottom_up = bottom_up},
                             mesh_.get()));
    });
  }

  void make_sharded() {
    distributed::DeviceLocalBufferConfig config{.page_size = 16 * DeviceAddr{1 + below(300)}};
    config.buffer_type = below(4) == 0 ? BufferType::L1_SMALL : BufferType::L1;
    CoreRange all = whole_;
    if (manager_ && config.buffer_type == BufferType::L1 && below(3) != 0) {
      config.sub_device_id = SubDeviceId{static_cast<std::uint8_t>(below(2))};
      all = halves_[**config.sub_device_id];
    }
    const CoreRangeSet cores(range_in(all));
    config.sharding_args =
        height_sharded(cores, 1 + below(4), static_cast<std::uint32_t>(config.page_size));
    const DeviceAddr pages = config.sharding_args.shard_spec()->tensor2d_shape_in_pages[0];
    make([&] {
      buffers_.push_back(
          MeshBuffer::create(distributed::ReplicatedBufferConfig{.size = config.page_size * pages},
                             config, mesh_.get()));
    });
  }

  void make_semaphore() {
    make([&] {
      semaphores_.push_back(
          CreateGlobalSemaphore(*mesh_, CoreRangeSet(range_in(whole_)), below(9)));
    });
  }

  void make_global_circular_buffer() {
    const CoreCoord sender(0, below(grid_.y));
    const CoreRange receivers = range_in(CoreRange({1, 0}, {grid_.x - 1, grid_.y - 1}));
    make([&] {
      globals_.push_back(experimental::CreateGlobalCircularBuffer(
          *mesh_, {{sender, CoreRangeSet(receivers)}}, 16 * (1 + below(4000))));
    });
  }

  Program make_program(const CoreRange& cores) {
    Program program;
    CreateKernelFromString(program, "void kernel_main() {}", CoreRangeSet(cores),
                           DataMovementConfig{});
    const auto cbs = static_cast<std::uint8_t>(1 + below(6));
    for (std::uint8_t index = 0; index < cbs; ++index) {
      add_cb(program, CoreRangeSet(range_in(cores)), 16 * (1 + below(below(9) == 0 ? 40000 : 800)),
             index);
    }
    for (const auto& global : globals_) {
      const CoreRangeSet common = global.all_cores().intersection(CoreRangeSet(cores));
      if (common.empty()) continue;
      CircularBufferConfig config(global.size());
      config.remote_index(31).set_page_size(16).set_data_format(tt::DataFormat::Float16_b);
      experimental::CreateCircularBuffer(program, common, config, global);
      break;
    }
    return program;
  }

  void run_program() {
    const std::size_t half = below(2);
    programs_.push_back(workload_of(*mesh_, make_program(manager_ ? halves_[half] : whole_)));
    model_->cb_end = 0;
    const auto lowest = model_->lowest(manager_ ? half : 2);
    bool threw = false;
    try {
      run(*mesh_, programs_.back());
    } catch (const std::runtime_error&) {
      threw = true;
      ++refused_;
    }
    EXPECT_EQ(threw,
              model_->cb_end > mesh_->l1_size_per_core() || (lowest && *lowest < model_->cb_end));
    for (const IDevice* chip : mesh_->get_devices()) {
      EXPECT_EQ(dynamic_cast<const Device&>(*chip).num_registered_programs(), programs_.size());
    }
  }

  void switch_manager() {
    if (model_->sub_devices_hold_buffers()) {
      ++refused_;
      EXPECT_THROW(mesh_->clear_loaded_sub_device_manager(), std::runtime_error);
      return;
    }
    mesh_->clear_loaded_sub_device_manager();
    model_->load(0, 0);
    if (std::exchange(manager_, std::nullopt) || below(3) == 0) return;
    const DeviceAddr local = 1000 + below(100000);
    const auto id =
        mesh_->create_sub_device_manager({SubDevice(std::array{CoreRangeSet(halves_[0])}),
                                          SubDevice(std::array{CoreRangeSet(halves_[1])})},
                                         local);
    const auto lowest = model_->lowest(2);
    if (lowest && *lowest < model_->base() + (local + 15) / 16 * 16) {
      ++refused_;
      EXPECT_THROW(mesh_->load_sub_device_manager(id), std::runtime_error);
      return;
    }
    mesh_->load_sub_device_manager(id);
    manager_ = id;
    model_->load(2, local);
  }

  void look_at_a_view() {
    if (buffers_.empty()) return;
    const auto root = buffers_[below(buffers_.size())]->get_backing_buffer()->shared_from_this();
    const auto view = root->view(BufferRegion(0, root->page_size()));
    EXPECT_EQ(view->address(), root->address());
    EXPECT_EQ(view->root_buffer(), root);
  }

  void drop_something() {
    const auto drop_one = [&](auto& of) {
      if (!of.empty()) of.erase(of.begin() + below(of.size()));
    };
    drop_one(programs_);
    for (int i = 0; i < 4; ++i) drop_one(buffers_);
    drop_one(semaphores_);
    drop_one(globals_);
  }

  std::mt19937 random_;
  const std::shared_ptr<MeshDevice> mesh_;
  const CoreCoord grid_;
  const CoreRange whole_;
  const std::array<CoreRange, 2> halves_;
  const std::shared_ptr<Model> model_;
  std::optional<SubDeviceManagerId> manager_;  // set while the manager of the two halves is loaded
  std::vector<std::shared_ptr<MeshBuffer>> buffers_;
  std::vector<GlobalSemaphore> semaphores_;
  std::vector<experimental::GlobalCircularBuffer> globals_;
  std::vector<MeshWorkload> programs_;
  std::size_t refused_ = 0;
};

class RandomPrograms : public ::testing::TestWithParam<std::string_view> {};

TEST_P(RandomPrograms, LieWhereTheModelSaysAndFreeEverything) {
  std::size_t refused = 0;
  for (const unsigned seed : {1u, 2u, 3u}) {
    Player player(std::string(GetParam()), seed);
    for (int step = 0; step < 300 && !HasFailure(); ++step) player.step();
    EXPECT_GT(player.model().buffers, 50u);
    EXPECT_GT(player.model().cbs, 100u);
    refused += player.refused();
    player.end();
  }
  EXPECT_GT(refused, 20u) << "too few exceptions to have tried them";
}

INSTANTIATE_TEST_SUITE_P(Systems, RandomPrograms, ::testing::ValuesIn(dryrun::system_names()),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace dryrun_test
