// SPDX-License-Identifier: Apache-2.0
//
// The parts of Boost.Asio and Boost.Beast that are no templates, compiled here once and not in
// every file that includes them.
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
