// SPDX-License-Identifier: Apache-2.0
//
// For precompiled headers alone. libfmt 9 has this function, but its headers do not say so: every
// file that logs would compile all of fmt's formatting again, three seconds each. Not for clang: it
// spells the name of this function otherwise than GCC, which made the library, and would not find
// it.
#pragma once

#include <fmt/format.h>

#if FMT_VERSION / 10000 == 9 && !defined(FMT_HEADER_ONLY) && !defined(__clang__)
extern template __attribute__((visibility("default"))) void fmt::detail::vformat_to<char>(
    fmt::detail::buffer<char>&, fmt::string_view, fmt::format_args, fmt::detail::locale_ref);
#endif
