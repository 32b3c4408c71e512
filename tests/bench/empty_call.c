/* SPDX-License-Identifier: Apache-2.0
 *
 * A function of another shared object that does nothing: what no call can cost less than. */
#include "empty_call.h"

void empty_call(uint32_t device, const ttmem_buffer *buffer) {
  (void)device;
  (void)buffer;
}
