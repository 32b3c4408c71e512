// SPDX-License-Identifier: Apache-2.0
#include "show/tui/screen/theme.hpp"

#include <array>

namespace ttmem::tui {
namespace {

struct InkColor {
  int basic;
  int palette;
  int direct;
};

// One entry for each Ink, in the order of Ink. The array's size follows from its entries, so that a
// missing entry is a compile error.
using InkColors = std::array<InkColor, kInks>;

constexpr InkColors kInkColors = std::to_array<InkColor>({
    {-1, -1, -1},         // plain
    {-1, 244, 0x848484},  // dim
    {6, 31, 0x0a87b0},    // title
    {2, 34, 0x1fa84a},    // good
    {3, 172, 0xcf8a00},   // warn
    {1, 196, 0xe5383b},   // bad
    {-1, 242, 0x777777},  // track
    {4, 33, 0x2f81f7},    // buffers
    {4, 67, 0x5f87af},    // lockstep
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
    {-1, -1, -1},         // unused: colors_of() chooses black or white
});

// Text colours have a contrast of at least 4.5:1 against white.
constexpr InkColors kLightInkColors = std::to_array<InkColor>({
    {0, 16, 0x101010},   // plain
    {0, 240, 0x5c5c5c},  // dim
    {4, 24, 0x075985},   // title
    {2, 28, 0x14722f},   // good
    {3, 130, 0x9a5b00},  // warn
    {1, 160, 0xc1121f},  // bad
    {7, 252, 0xd0d0d0},  // track
    {4, 25, 0x1d5fbf},   // buffers
    {4, 110, 0x87a9d4},  // lockstep
    {6, 30, 0x0b7c7c},   // small
    {5, 91, 0x7a2fb0},   // cbs
    {3, 130, 0xa3541e},  // kernels
    {7, 248, 0xa8a8a8},  // reserved
    {7, 231, 0xffffff},  // heat0
    {2, 194, 0xd7f5dc},  // heat1
    {2, 157, 0xa6e3b0},  // heat2
    {2, 114, 0x74c98a},  // heat3
    {3, 221, 0xf6d365},  // heat4
    {1, 203, 0xf47c7c},  // heat5
    {1, 160, 0xc1121f},  // heat6
    {-1, -1, -1},        // unused: colors_of() chooses black or white
});

constexpr InkColor kBlack = {0, 16, 0x101010};
constexpr InkColor kWhite = {7, 231, 0xffffff};

int number_of(const InkColor& tone, Depth depth) {
  if (depth == Depth::basic) return tone.basic;
  return depth == Depth::palette ? tone.palette : tone.direct;
}

bool is_bright(Ink fill, Depth depth, Theme theme) {
  if (depth == Depth::basic) return fill != Ink::heat5 && fill != Ink::heat6;
  if (theme == Theme::light) return fill != Ink::heat6;
  return fill == Ink::heat3 || fill == Ink::heat4;
}

}  // namespace

Colors colors_of(Style style, Depth depth, Theme theme) {
  const bool grey = style.ink == Ink::dim || style.ink == Ink::track || style.ink == Ink::reserved;
  if (depth == Depth::none) return {-1, -1, grey};
  const bool light = theme == Theme::light;
  const InkColors& tones = light ? kLightInkColors : kInkColors;
  const InkColor& ink = style.ink == Ink::on_fill
                            ? (is_bright(style.fill, depth, theme) ? kBlack : kWhite)
                            : tones[static_cast<std::size_t>(style.ink)];
  const bool ground = light && style.fill == Ink::plain;
  const InkColor& fill = ground ? kWhite : tones[static_cast<std::size_t>(style.fill)];
  return {number_of(ink, depth), number_of(fill, depth), grey && !light && depth == Depth::basic};
}

}  // namespace ttmem::tui
