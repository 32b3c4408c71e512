// SPDX-License-Identifier: Apache-2.0
#pragma once

// The maximum number of circular buffers on a core, on any architecture.
#define NUM_CIRCULAR_BUFFERS 64
