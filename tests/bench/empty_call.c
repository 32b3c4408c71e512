/* SPDX-License-Identifier: Apache-2.0
 *
 * An empty function in another shared object. The time of a call of this function
 * is the minimum time of any call. */
#include "empty_call.h"

void empty_call(uint32_t device, const ttmem_buffer *buffer) {
  (void)device;
  (void)buffer;
}
