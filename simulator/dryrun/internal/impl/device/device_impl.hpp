// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tt-metalium/device_impl.hpp>
