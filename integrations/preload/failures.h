/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TTMEM_ADAPTER_FAILURES_H
#define TTMEM_ADAPTER_FAILURES_H

/* The adapter's function for failures; null if there is no adapter. The stub calls the function
 * while the throwing thread is inside the runtime. The function returns true if the adapter will
 * report the failure itself, after it has recorded the placement in which the failure happened. */
extern int (*ttmem_preload_adapter_failed)(const char *text) __attribute__((visibility("hidden")));

#endif
