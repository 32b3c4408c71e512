/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TTMEM_ADAPTER_FAILURES_H
#define TTMEM_ADAPTER_FAILURES_H

/* Called while the thread that throws is inside the runtime. Returns true if the adapter reports
 * the failure itself, after it has recorded other things. Null: there is no adapter. */
extern int (*ttmem_preload_adapter_failed)(const char *text) __attribute__((visibility("hidden")));

#endif
