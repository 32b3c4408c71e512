// SPDX-License-Identifier: Apache-2.0
// Stands in for uPlot in a build that does not have it.
export default null;
