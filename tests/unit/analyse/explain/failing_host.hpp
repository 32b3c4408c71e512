// SPDX-License-Identifier: Apache-2.0
//
// Host code that runs out of memory, and the same code with a suggestion applied.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/host_api.hpp>
#include <vector>

#include "analyse/explain/explanation.hpp"

namespace ttmem::explain {

namespace tm = ::tt::tt_metal;

// Arguments with which a host program opens the device.
struct Settings {
  std::size_t l1_small_size = 32768;
  std::size_t trace_region_size = 0;
};

// A tracked device of the dry run, with the tensors and programs of a host program. A suggestion
// changes how the host allocates.
class Host {
 public:
  Host(const std::string& system, Settings settings, const Suggestion* suggestion);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // Allocates a tensor, interleaved over all banks. The size is per bank, so that it fits every
  // board.
  void tensor(const std::string& name, tm::BufferType type, std::uint64_t bytes_per_bank);
  // Allocates a tensor on some cores only. The tensor takes the same range in every bank.
  void sharded(const std::string& name, tm::BufferType type, std::uint32_t bytes_per_core,
               const tm::CoreRange& cores);
  void free(const std::string& name) { tensors_.erase(name); }

  // Call this before the call that fails. A suggestion frees, moves or shrinks buffers here.
  void failing_call_is_next();

  // Runs a program whose circular buffers have these sizes on each core.
  void run(std::vector<std::uint32_t> cbs, const tm::CoreRange& cores);
  // Captures a trace of this number of programs.
  void capture(std::size_t programs);

  [[nodiscard]] tm::CoreRange all_cores() const;
  // Returns the size of a bank with the original settings, even if the suggestion changes them.
  [[nodiscard]] std::uint64_t bank_bytes(tm::BufferType type) const;

 private:
  using Tensor = std::shared_ptr<tm::distributed::MeshBuffer>;
  [[nodiscard]] bool asks_for(const char* action) const;

  const Settings settings_;
  const Suggestion* suggestion_;
  bool is_now_ = false;
  std::shared_ptr<tm::distributed::MeshDevice> device_;
  std::map<std::string, std::function<Tensor()>> makers_;
  std::map<std::string, Tensor> tensors_;
  std::vector<std::unique_ptr<tm::distributed::MeshWorkload>> workloads_;
};

}  // namespace ttmem::explain
