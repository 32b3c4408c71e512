// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tt-metalium/base_types.hpp>
#include <tt-metalium/hal_types.hpp>
#include <unordered_map>
#include <vector>

namespace tt::tt_metal {

enum class DataMovementProcessor {
  RISCV_0 = 0,
  RISCV_1 = 1,
  RISCV_2 = 2,
  RISCV_3 = 3,
  RISCV_4 = 4,
  RISCV_5 = 5,
  RISCV_6 = 6,
  RISCV_7 = 7,
};

enum NOC : std::uint8_t { RISCV_0_default = 0, RISCV_1_default = 1, NOC_0 = 0, NOC_1 = 1 };

enum NOC_MODE : std::uint8_t { DM_DEDICATED_NOC = 0, DM_DYNAMIC_NOC = 1 };

using KernelHandle = std::uint32_t;

enum class KernelBuildOptLevel : std::uint8_t { O1, O2, O3, O0, Os, Ofast, Oz };

struct DataMovementConfig {
  DataMovementProcessor processor = DataMovementProcessor::RISCV_0;
  NOC noc = NOC::RISCV_0_default;
  NOC_MODE noc_mode = NOC_MODE::DM_DEDICATED_NOC;
  std::vector<std::uint32_t> compile_args = {};
  std::map<std::string, std::string> defines = {};
  std::unordered_map<std::string, std::uint32_t> named_compile_args = {};
  KernelBuildOptLevel opt_level = KernelBuildOptLevel::O2;
  std::vector<std::filesystem::path> compiler_include_paths = {};
};

// The configurations of reader and writer kernels. A reader runs on RISCV_1, and a writer runs on
// RISCV_0. Each kernel uses the default NOC of its processor.
struct ReaderDataMovementConfig : public DataMovementConfig {
  ReaderDataMovementConfig(std::vector<std::uint32_t> compile_args = {},
                           std::map<std::string, std::string> defines = {},
                           std::unordered_map<std::string, std::uint32_t> named_compile_args = {},
                           KernelBuildOptLevel opt_level = KernelBuildOptLevel::O2,
                           std::vector<std::filesystem::path> compiler_include_paths = {});
};

struct WriterDataMovementConfig : public DataMovementConfig {
  WriterDataMovementConfig(std::vector<std::uint32_t> compile_args = {},
                           std::map<std::string, std::string> defines = {},
                           std::unordered_map<std::string, std::uint32_t> named_compile_args = {},
                           KernelBuildOptLevel opt_level = KernelBuildOptLevel::O2,
                           std::vector<std::filesystem::path> compiler_include_paths = {});
};

struct ComputeConfig {
  MathFidelity math_fidelity = MathFidelity::HiFi4;
  bool fp32_dest_acc_en = false;
  bool dst_full_sync_en = false;
  std::vector<UnpackToDestMode> unpack_to_dest_mode = {};
  bool bfp8_pack_precise = false;
  bool math_approx_mode = false;
  std::vector<std::uint32_t> compile_args = {};
  std::map<std::string, std::string> defines = {};
  std::unordered_map<std::string, std::uint32_t> named_compile_args = {};
  KernelBuildOptLevel opt_level = KernelBuildOptLevel::O3;
  std::vector<std::filesystem::path> compiler_include_paths = {};
};

namespace detail {

struct KernelBinaryMeta {
  using ProcessorType = std::uint32_t;
  ProcessorType processor_type;
  std::size_t packed_size;
};

// Facts about a kernel. `name` and `source` belong to the program, and are valid until a kernel is
// added to the program.
struct KernelMeta {
  std::string_view name, source;
  HalProcessorClassType processor_class;
  HalProgrammableCoreType programmable_core_type;
  std::optional<MathFidelity> math_fidelity;  // of a compute kernel
  std::vector<KernelBinaryMeta> binary_meta;
};

}  // namespace detail

}  // namespace tt::tt_metal
