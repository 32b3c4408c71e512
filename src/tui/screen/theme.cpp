// SPDX-License-Identifier: Apache-2.0
#include "tui/screen/theme.hpp"

#include <array>

namespace ttmem::tui {
namespace {

struct Tone {
  int basic;
  int palette;
  int direct;
};

// In the order of Ink.
constexpr std::array<Tone, kInks> kTones = {{
    {-1, -1, -1},         // plain
    {-1, 244, 0x848484},  // dim
    {6, 31, 0x0a87b0},    // title
    {2, 34, 0x1fa84a},    // good
    {3, 172, 0xcf8a00},   // warn
    {1, 196, 0xe5383b},   // bad
    {-1, 242, 0x777777},  // track
    {4, 33, 0x2f81f7},    // buffers
    {6, 37, 0x14a5a5},    // small
    {5, 134, 0xa95cd8},   // cbs
    {3, 173, 0xd4834f},   // kernels
    {-1, 242, 0x777777},  // reserved
    {-1, -1, -1},         // heat0
    {2, 22, 0x0b5f1f},    // heat1
    {2, 28, 0x14822f},    // heat2
    {2, 34, 0x1fa84a},    // heat3
    {3, 178, 0xe0ae10},   // heat4
    {1, 160, 0xcc2936},   // heat5
    {1, 196, 0xff1f2d},   // heat6
    {-1, -1, -1},         // on_fill: see below
}};

constexpr Tone kBlack = {0, 16, 0x101010};
constexpr Tone kWhite = {7, 231, 0xffffff};

int number_of(const Tone& tone, Depth depth) {
  if (depth == Depth::basic) return tone.basic;
  return depth == Depth::palette ? tone.palette : tone.direct;
}

bool is_bright(Ink fill, Depth depth) {
  if (depth == Depth::basic) return fill != Ink::heat5 && fill != Ink::heat6;
  return fill == Ink::heat3 || fill == Ink::heat4;
}

}  // namespace

Colors colors_of(Style style, Depth depth) {
  const bool grey = style.ink == Ink::dim || style.ink == Ink::track || style.ink == Ink::reserved;
  if (depth == Depth::none) return {-1, -1, grey};
  const Tone& ink = style.ink == Ink::on_fill ? (is_bright(style.fill, depth) ? kBlack : kWhite)
                                              : kTones[static_cast<std::size_t>(style.ink)];
  return {number_of(ink, depth), number_of(kTones[static_cast<std::size_t>(style.fill)], depth),
          grey && depth == Depth::basic};
}

}  // namespace ttmem::tui
