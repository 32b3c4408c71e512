/* SPDX-License-Identifier: Apache-2.0
 *
 * A function of another shared object that does nothing: the minimum cost of any call. */
#include "empty_call.h"

void empty_call(uint32_t device, const ttmem_buffer *buffer) {
  (void)device;
  (void)buffer;
}
