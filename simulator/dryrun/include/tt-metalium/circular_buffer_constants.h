// SPDX-License-Identifier: Apache-2.0
#pragma once

// The largest number of circular buffers a core of any architecture has.
#define NUM_CIRCULAR_BUFFERS 64
