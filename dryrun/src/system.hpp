// SPDX-License-Identifier: Apache-2.0
//
// The machines that can be simulated: figures only, all in one table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/device_types.hpp>
#include <tt-metalium/mesh_coord.hpp>
#include <vector>

namespace tt::tt_metal::dryrun {

// What every chip of a board has.
struct Board {
  std::string name;
  tt::ARCH arch;
  CoreCoord noc_grid;                   // places on the die, for cores of any kind
  CoreCoord die_grid;                   // Tensix cores on the die
  CoreCoord tensix_grid;                // of these, not harvested
  CoreCoord compute_grid;               // left for programs when dispatch runs on Tensix cores
  CoreCoord compute_grid_eth_dispatch;  // and when it runs on Ethernet cores
  std::uint32_t l1_bytes_per_core;
  std::uint32_t l1_base;  // of the first circular buffer
  std::uint32_t l1_alignment;
  std::uint32_t dram_channels;
  std::uint64_t dram_bytes_per_channel;
  std::uint64_t dram_base;         // of the first buffer in a bank
  std::uint32_t dram_alignment;    // also that of circular buffers
  std::uint32_t circular_buffers;  // per core
};

struct System {
  Board board;
  distributed::MeshShape mesh_shape;
  std::vector<ChipId> chips;              // in mesh order
  std::vector<ChipId> remote_chips = {};  // those without a PCIe link, reached through others
};

// What TTMEM_DRYRUN_SYSTEM may say, without a grid.
std::vector<std::string_view> system_names();

// `name` as TTMEM_DRYRUN_SYSTEM has it, case and punctuation aside; empty means n150. Throws for a
// name or a grid it does not know, and says which names there are.
System find_system(std::string_view name);

}  // namespace tt::tt_metal::dryrun
