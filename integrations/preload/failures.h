/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TTMEM_ADAPTER_FAILURES_H
#define TTMEM_ADAPTER_FAILURES_H

/* Called while the throwing thread is inside the runtime; null if there is no adapter. Returns true
 * if the adapter will report the failure itself, after it has recorded the placement in which the
 * failure happened. */
extern int (*ttmem_preload_adapter_failed)(const char *text) __attribute__((visibility("hidden")));

#endif
