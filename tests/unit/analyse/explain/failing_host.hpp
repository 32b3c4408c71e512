// SPDX-License-Identifier: Apache-2.0
//
// Host code that runs out of memory. The same code can also follow a suggestion of the explanation.
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

// A tracked device of the dry run, with the tensors and programs of a host program. The constructor
// gets the suggestion that the host follows in its allocations.
class Host {
 public:
  Host(const std::string& system, Settings settings, const Suggestion* suggestion);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // Allocates a tensor that is interleaved over all banks. The parameter is the size per bank and
  // not the whole size, so that the tensor fits every board.
  void tensor(const std::string& name, tm::BufferType type, std::uint64_t bytes_per_bank);
  // Allocates a tensor whose bytes are only on the given cores. Its address range is taken in every
  // bank.
  void sharded(const std::string& name, tm::BufferType type, std::uint32_t bytes_per_core,
               const tm::CoreRange& cores);
  void free(const std::string& name) { tensors_.erase(name); }

  // Call this function before the call that fails. Frees, moves or shrinks buffers if the
  // suggestion says so.
  void failing_call_is_next();

  // Runs a program whose circular buffers have these sizes on each core.
  void run(std::vector<std::uint32_t> cbs, const tm::CoreRange& cores);
  // Captures a trace of this number of programs.
  void capture(std::size_t programs);

  [[nodiscard]] tm::CoreRange all_cores() const;
  // Returns the size of a bank under the original settings. A suggestion that changes the settings
  // does not change this size.
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
