// SPDX-License-Identifier: Apache-2.0
// Replaces uPlot in a build without uPlot.
export default null;
