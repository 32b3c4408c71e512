/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TTMEM_ADAPTER_FAILURES_H
#define TTMEM_ADAPTER_FAILURES_H

/* The adapter's function to call before a failure is reported; null if there is no adapter. The
 * stub calls the function while the throwing thread is inside the runtime. */
extern void (*ttmem_preload_adapter_failing)(void) __attribute__((visibility("hidden")));

#endif
