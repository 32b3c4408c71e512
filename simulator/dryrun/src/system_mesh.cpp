// SPDX-License-Identifier: Apache-2.0
#include <tt-metalium/mesh_device_view.hpp>
#include <tt-metalium/system_mesh.hpp>

#include "cluster.hpp"
#include "error.hpp"
#include "mapped_devices.hpp"

namespace tt::tt_metal::distributed {

using dryrun::fail;
using dryrun::require;

namespace {

bool fits(const MeshCoordinate& offset, std::uint32_t rows, std::uint32_t columns,
          const MeshShape& system) {
  return offset[0] + rows <= system[0] && offset[1] + columns <= system[1];
}

std::vector<MeshCoordinate> places_of(const MeshShape& requested, const MeshCoordinate& offset,
                                      const MeshShape& system) {
  if (requested.is_line_topology()) {
    return MeshDeviceView::get_line_coordinates(
        requested.mesh_size(), Shape2D(system[0], system[1]), Shape2D(offset[0], offset[1]));
  }
  require(requested.dims() == system.dims(),
          "Requested mesh shape dimensions mismatch: ", requested, " != ", system);
  std::vector<MeshCoordinate> places;
  if (fits(offset, requested[0], requested[1], system)) {
    for (const MeshCoordinate& coord : MeshCoordinateRange(requested)) {
      places.emplace_back(offset[0] + coord[0], offset[1] + coord[1]);
    }
  } else if (fits(offset, requested[1], requested[0], system)) {
    // The mesh is turned, so its rows run along the columns of the system. As the offset is not
    // used, the mesh begins at the corner of the system.
    for (const MeshCoordinate& coord : MeshCoordinateRange(requested)) {
      places.emplace_back(coord[1], coord[0]);
    }
  } else {
    fail("Requested mesh is too big and is not rotatable: ", requested, " and SystemMesh ", system,
         ", offset ", offset);
  }
  return places;
}

}  // namespace

SystemMesh& SystemMesh::instance() {
  static SystemMesh mesh;
  return mesh;
}

MeshShape SystemMesh::shape() const { return dryrun::Cluster::instance().system().mesh_shape; }

std::vector<int> mapped_devices(const std::optional<MeshShape>& shape,
                                const std::optional<MeshCoordinate>& offset) {
  const dryrun::System system = dryrun::Cluster::instance().system();
  const MeshShape& system_shape = system.mesh_shape;
  const MeshShape requested = shape.value_or(system_shape);
  require(requested.mesh_size() > 0, "Requested mesh shape ", requested,
          " has zero devices (mesh_size=0). MeshShape must have at least one device.");
  require(requested.mesh_size() <= system_shape.mesh_size(), "Requested mesh shape ", requested,
          " requires ", requested.mesh_size(), " devices, but only ", system_shape.mesh_size(),
          " devices are available in the system mesh ", system_shape, ".");
  const MeshCoordinate start = offset.value_or(MeshCoordinate(0, 0));
  require(MeshCoordinateRange(system_shape).contains(start), "The specified offset ", start,
          " is out of bounds for the system mesh shape ", system_shape);

  std::vector<int> chips;
  for (const MeshCoordinate& place : places_of(requested, start, system_shape)) {
    chips.push_back(system.chips.at(place.to_linear_index(system_shape)));
  }
  return chips;
}

}  // namespace tt::tt_metal::distributed
