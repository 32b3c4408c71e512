// SPDX-License-Identifier: Apache-2.0
//
// Host code that fails for want of memory, and the same with a suggestion applied.
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

// What a host program opens the device with.
struct Settings {
  std::size_t l1_small_size = 32768;
  std::size_t trace_region_size = 0;
};

// A device of the dry run, tracked, and the tensors and programs of a host program. A suggestion
// changes how it does what the program says.
class Host {
 public:
  Host(const std::string& system, Settings settings, const Suggestion* suggestion);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // Bytes of L1 or DRAM in each bank, whatever the board; interleaved over all banks.
  void tensor(const std::string& name, tm::BufferType type, std::uint64_t bytes_per_bank);
  // On some cores only; it takes as much of every bank.
  void sharded(const std::string& name, tm::BufferType type, std::uint32_t bytes_per_core,
               const tm::CoreRange& cores);
  void free(const std::string& name) { tensors_.erase(name); }

  // What comes next is what fails: the suggestion frees, moves or shrinks something before.
  void now();

  // Runs a program with circular buffers of so many bytes a core.
  void run(std::vector<std::uint32_t> cbs, const tm::CoreRange& cores);
  // Captures a trace of so many programs.
  void capture(std::size_t programs);

  [[nodiscard]] tm::CoreRange all_cores() const;
  // What a bank has with the settings of the program, whatever the suggestion sets.
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
