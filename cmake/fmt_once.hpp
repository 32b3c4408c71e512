// SPDX-License-Identifier: Apache-2.0
//
// For precompiled headers alone. libfmt 9 has this function, but its headers do not say so: every
// file that logs would compile all of fmt's formatting again, three seconds each.
#pragma once

#include <fmt/format.h>

#if FMT_VERSION / 10000 == 9 && !defined(FMT_HEADER_ONLY)
extern template __attribute__((visibility("default"))) void fmt::detail::vformat_to<char>(
    fmt::detail::buffer<char>&, fmt::string_view, fmt::format_args, fmt::detail::locale_ref);
#endif
