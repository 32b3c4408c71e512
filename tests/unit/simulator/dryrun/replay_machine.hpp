// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fixtures.hpp"
#include "requests.hpp"

namespace dryrun_test {

// The open chips and meshes of a capture. The destructor closes the chips and meshes.
class ReplayMachine {
 public:
  // Throws if the dry run has no machine like that of the capture.
  explicit ReplayMachine(const Capture& capture);
  ~ReplayMachine();
  ReplayMachine(const ReplayMachine&) = delete;
  ReplayMachine& operator=(const ReplayMachine&) = delete;

  // Throws if the capture has no line for this device.
  IDevice& chip(int id) const;
  const CapturedDevice& captured(int id) const;
  // Returns null if the capture has no line for this mesh.
  MeshDevice* mesh(int id) const;
  // Returns the meshes that have exactly these chips. If there is only one chip, also returns the
  // chip itself.
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

// Compares the captured device with the dry run's device. Returns a sentence for each figure that
// differs.
std::vector<std::string> device_differences(const CapturedDevice& captured, const IDevice& device);

}  // namespace dryrun_test
