/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TTMEM_ADAPTER_FAILURES_H
#define TTMEM_ADAPTER_FAILURES_H

/* The adapter's function that the stub calls before it reports a failure; null if there is no
 * adapter. The stub calls the function inside __cxa_throw, so the throwing thread is still inside
 * the runtime. */
extern void (*ttmem_preload_adapter_failing)(void) __attribute__((visibility("hidden")));

#endif
