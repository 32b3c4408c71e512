/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#ifdef __cplusplus
extern "C"
#endif
    __attribute__((visibility("default"))) void
    empty_call(unsigned device, const void *buffer);
