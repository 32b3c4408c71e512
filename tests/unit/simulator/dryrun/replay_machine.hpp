// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fixtures.hpp"
#include "requests.hpp"

namespace dryrun_test {

// The open chips and meshes of a capture. The destructor closes them.
class ReplayMachine {
 public:
  // Throws if the dry run has no such machine.
  explicit ReplayMachine(const Capture& capture);
  ~ReplayMachine();
  ReplayMachine(const ReplayMachine&) = delete;
  ReplayMachine& operator=(const ReplayMachine&) = delete;

  // Throws if the capture has no line for this device.
  IDevice& chip(int id) const;
  const CapturedDevice& captured(int id) const;
  // Returns null if the capture has no line for this mesh.
  MeshDevice* mesh(int id) const;
  // Returns the meshes of exactly these chips, and the chip itself if there is only one.
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

// Returns a sentence for each figure in which the captured device differs from the dry run's
// device.
std::vector<std::string> device_differences(const CapturedDevice& captured, const IDevice& device);

}  // namespace dryrun_test
