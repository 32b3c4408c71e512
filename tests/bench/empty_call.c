/* SPDX-License-Identifier: Apache-2.0
 *
 * An empty function in another shared object. A call of this function shows the minimum cost of a
 * call. */
#include "empty_call.h"

void empty_call(uint32_t device, const ttmem_buffer *buffer) {
  (void)device;
  (void)buffer;
}
