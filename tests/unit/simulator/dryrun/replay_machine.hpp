// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fixtures.hpp"
#include "requests.hpp"

namespace dryrun_test {

// The chips and meshes of a capture, open for as long as this lives.
class ReplayMachine {
 public:
  // Throws when the dry run knows no such machine.
  explicit ReplayMachine(const Capture& capture);
  ~ReplayMachine();
  ReplayMachine(const ReplayMachine&) = delete;
  ReplayMachine& operator=(const ReplayMachine&) = delete;

  // Throws when the capture has no such device line.
  IDevice& chip(int id) const;
  const CapturedDevice& captured(int id) const;
  // Null when the capture has no such mesh line.
  MeshDevice* mesh(int id) const;
  // The meshes of exactly these chips, and the chip if it is one.
  std::vector<IDevice*> devices_of(std::vector<int> chips) const;
  const std::map<int, std::shared_ptr<MeshDevice>>& meshes() const { return meshes_; }
  const std::map<int, IDevice*>& chips() const { return chips_; }

 private:
  std::shared_ptr<MeshDevice> open_mesh(const std::vector<int>& chips) const;
  std::shared_ptr<MeshDevice> open_submesh(const std::vector<int>& chips) const;
  std::shared_ptr<MeshDevice> open_whole(const std::vector<int>& chips) const;

  std::map<int, CapturedDevice> captured_;
  std::map<int, std::shared_ptr<MeshDevice>> meshes_;
  std::vector<std::shared_ptr<MeshDevice>> in_order_;
  std::map<int, IDevice*> chips_;
};

// How the capture's device differs from the dry run's: a sentence for each figure.
std::vector<std::string> device_differences(const CapturedDevice& captured, const IDevice& device);

}  // namespace dryrun_test
