// SPDX-License-Identifier: Apache-2.0
#include "show/exports/proto_writer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace ttmem::exports {
namespace {

using namespace std::string_literals;

// The expected bytes are from https://protobuf.dev/programming-guides/encoding/.
TEST(ProtoWriter, WritesAVarint) {
  ProtoMessage message;
  message.add(1, std::uint64_t{150});
  EXPECT_EQ(message.bytes(), "\x08\x96\x01"s);
}

TEST(ProtoWriter, WritesText) {
  ProtoMessage message;
  message.add(2, "testing");
  EXPECT_EQ(message.bytes(), "\x12\x07testing"s);
}

TEST(ProtoWriter, WritesAMessageInAMessage) {
  ProtoMessage inner;
  inner.add(1, std::uint64_t{150});
  ProtoMessage message;
  message.add(3, inner);
  EXPECT_EQ(message.bytes(), "\x1a\x03\x08\x96\x01"s);
}

TEST(ProtoWriter, PacksNumbers) {
  ProtoMessage message;
  message.add_packed(6, std::array<std::uint64_t, 3>{3, 270, 86942});
  EXPECT_EQ(message.bytes(), "\x32\x06\x03\x8e\x02\x9e\xa7\x05"s);
  message.clear();
  message.add_packed(6, {});
  EXPECT_EQ(message.bytes(), "");
}

TEST(ProtoWriter, WritesANegativeNumberInTenBytes) {
  ProtoMessage message;
  message.add_signed(1, -2);
  EXPECT_EQ(message.bytes(), "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"s);
}

TEST(ProtoWriter, WritesADoubleLowestByteFirst) {
  ProtoMessage message;
  message.add_double(57, 1.0);
  EXPECT_EQ(message.bytes(), "\xc9\x03\0\0\0\0\0\0\xf0\x3f"s);
}

TEST(ProtoWriter, WritesFieldNumbersOfTwoBytes) {
  ProtoMessage message;
  message.add(60, "a");
  EXPECT_EQ(message.bytes(), "\xe2\x03\x01"s + "a");
}

}  // namespace
}  // namespace ttmem::exports
