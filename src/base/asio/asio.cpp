// SPDX-License-Identifier: Apache-2.0
//
// Compiles the non-template parts of Boost.Asio and Boost.Beast once, instead of in every file that
// includes them.
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
