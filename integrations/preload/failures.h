/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TTMEM_ADAPTER_FAILURES_H
#define TTMEM_ADAPTER_FAILURES_H

/* Told of a failure while the thread that throws is inside the runtime. True: the adapter reports
 * it, after what it has to record first. Null: there is none. */
extern int (*ttmem_preload_adapter_failed)(const char *text) __attribute__((visibility("hidden")));

#endif
