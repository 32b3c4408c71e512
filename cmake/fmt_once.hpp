// SPDX-License-Identifier: Apache-2.0
//
// For precompiled headers only. libfmt 9 contains this instance of vformat_to(), but its headers do
// not declare the instance as extern. Without the declaration every file that logs would compile
// all of fmt's formatting again, which takes three seconds for each file. Clang does not get the
// declaration: clang mangles the name differently from GCC, which compiled libfmt, so the linker
// would not find the function.
#pragma once

#include <fmt/format.h>

#if FMT_VERSION / 10000 == 9 && !defined(FMT_HEADER_ONLY) && !defined(__clang__)
extern template __attribute__((visibility("default"))) void fmt::detail::vformat_to<char>(
    fmt::detail::buffer<char>&, fmt::string_view, fmt::format_args, fmt::detail::locale_ref);
#endif
