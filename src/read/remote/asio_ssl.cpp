// SPDX-License-Identifier: Apache-2.0
// Compiles the non-template parts of Boost.Asio's TLS once. src/base/asio compiles the other parts.
#include <boost/asio/ssl/impl/src.hpp>
