/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <ttmem/ttmem.h>

#ifdef __cplusplus
extern "C"
#endif
    __attribute__((visibility("default"))) void
    empty_call(uint32_t device, const ttmem_buffer *buffer);
