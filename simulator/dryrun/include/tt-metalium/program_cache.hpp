// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tt-metalium/mesh_workload.hpp>
#include <tt-metalium/program.hpp>
#include <tt_stl/unique_any.hpp>
#include <unordered_map>
#include <utility>

namespace tt::tt_metal::program_cache::detail {

// A program, and the values that its creator needs to run the program with other arguments.
template <typename shared_variables_t>
struct CachedProgram {
 private:
  std::optional<tt::tt_metal::Program> owned_program;
  std::optional<shared_variables_t> owned_shared_variables;

 public:
  tt::tt_metal::Program& program;
  shared_variables_t& shared_variables;

  CachedProgram(tt::tt_metal::Program&& program_, shared_variables_t&& shared_variables_)
      : owned_program(std::move(program_)),
        owned_shared_variables(std::move(shared_variables_)),
        program(*owned_program),
        shared_variables(*owned_shared_variables) {}
  CachedProgram(CachedProgram&& other) noexcept
      : owned_program(std::move(other.owned_program)),
        owned_shared_variables(std::move(other.owned_shared_variables)),
        program(*owned_program),
        shared_variables(*owned_shared_variables) {}
  CachedProgram(const CachedProgram&) = delete;
  CachedProgram& operator=(const CachedProgram&) = delete;
  CachedProgram& operator=(CachedProgram&&) = delete;
};

template <typename shared_variables_t>
struct CachedMeshWorkload {
  tt::tt_metal::distributed::MeshWorkload workload;
  shared_variables_t shared_variables;

  CachedMeshWorkload(tt::tt_metal::distributed::MeshWorkload&& workload_,
                     shared_variables_t&& shared_variables_)
      : workload(std::move(workload_)), shared_variables(std::move(shared_variables_)) {}
};

// Holds a CachedProgram or a CachedMeshWorkload, whatever the type of its shared variables is.
struct CachedProgramFactory {
  static constexpr auto MAX_SIZE = 4096;
  static constexpr auto ALIGNMENT = 32;

  ttsl::unique_any<MAX_SIZE, ALIGNMENT> cached_program;
  std::size_t program_factory_index = 0;

  template <typename shared_variables_t>
  CachedProgramFactory(CachedProgram<shared_variables_t>&& program, std::size_t index)
      : cached_program(std::move(program)), program_factory_index(index) {}
  template <typename shared_variables_t>
  CachedProgramFactory(CachedMeshWorkload<shared_variables_t>&& workload, std::size_t index)
      : cached_program(std::move(workload)), program_factory_index(index) {}
};

// The key of a cached program. Keys are equal only if all members are equal, because hashes can
// collide.
struct ProgramCacheKey {
  std::uint64_t hash = 0;
  std::string canonical = {};

  friend auto operator<=>(const ProgramCacheKey&, const ProgramCacheKey&) = default;
};

struct ProgramCacheKeyHasher {
  std::size_t operator()(const ProgramCacheKey& key) const {
    return static_cast<std::size_t>(key.hash);
  }
};

// Keeps programs alive between runs, and with them their circular buffers. Closing the device
// clears its cache. Not thread-safe.
struct ProgramCache {
  bool contains(const ProgramCacheKey& key) const { return cache_.contains(key); }
  // Throws std::out_of_range if the key is unknown.
  CachedProgramFactory& get(const ProgramCacheKey& key) { return cache_.at(key); }
  // Does nothing if the key already has a program.
  void insert(const ProgramCacheKey& key, CachedProgramFactory&& program) {
    cache_.insert({key, std::move(program)});
  }

  void enable() { is_enabled_ = true; }
  void disable() { is_enabled_ = false; }
  bool is_enabled() const { return is_enabled_; }
  void set_cache_misses_allowed(bool allowed) { allow_cache_misses_ = allowed; }
  bool cache_misses_allowed() const { return allow_cache_misses_; }
  void clear() { cache_.clear(); }
  std::size_t num_entries() const { return cache_.size(); }

 private:
  bool is_enabled_ = true;
  bool allow_cache_misses_ = true;
  std::unordered_map<ProgramCacheKey, CachedProgramFactory, ProgramCacheKeyHasher> cache_;
};

}  // namespace tt::tt_metal::program_cache::detail
