// SPDX-License-Identifier: Apache-2.0
#include "show/tui/screen/frame.hpp"

#include <algorithm>

#include "base/utf8.hpp"
#include "text/text.hpp"

namespace ttmem::tui {
namespace {

Rect clipped(Rect rect, Rect within) {
  const int x = std::clamp(rect.x, within.x, within.x + within.width);
  const int y = std::clamp(rect.y, within.y, within.y + within.height);
  const int right = std::clamp(rect.x + rect.width, x, within.x + within.width);
  const int bottom = std::clamp(rect.y + rect.height, y, within.y + within.height);
  return {x, y, right - x, bottom - y};
}

}  // namespace

void append_utf8(std::string& text, char32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
    return;
  }
  // Number of bytes after the first byte of the UTF-8 sequence.
  const int rest = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  text += static_cast<char>(((0xff << (7 - rest)) & 0xff) | (code >> (6 * rest)));
  for (int i = rest - 1; i >= 0; --i) text += static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3f));
}

Frame::Frame(Size size) : size_{std::max(size.width, 0), std::max(size.height, 0)} {
  cells_.resize(static_cast<std::size_t>(size_.width) * static_cast<std::size_t>(size_.height));
}

void Frame::set(int x, int y, const Cell& cell) {
  if (!Rect{0, 0, size_.width, size_.height}.contains(x, y)) return;
  if (!cell.tail && at(x, y).tail && x > 0) cells_[index(x - 1, y)] = Cell{};
  if (x + 1 < size_.width && at(x + 1, y).tail) cells_[index(x + 1, y)] = Cell{};
  cells_[index(x, y)] = cell;
}

std::string Frame::row_text(int y) const {
  std::string line;
  for (int x = 0; x < size_.width; ++x) {
    const Cell& cell = at(x, y);
    if (cell.tail) continue;
    append_utf8(line, cell.code);
    if (cell.mark != 0) append_utf8(line, cell.mark);
  }
  return line;
}

std::string Frame::text() const {
  std::string text;
  for (int y = 0; y < size_.height; ++y) {
    std::string line = row_text(y);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

Pane::Pane(Frame& frame, Rect rect, Display display)
    : frame_(&frame),
      rect_(clipped(rect, {0, 0, frame.size().width, frame.size().height})),
      display_(display) {}

Pane Pane::part(Rect inner) const {
  const Rect moved{rect_.x + inner.x, rect_.y + inner.y, inner.width, inner.height};
  return {*frame_, clipped(moved, rect_), display_};
}

int Pane::put(int x, int y, std::string_view text, Style style, int limit) {
  if (y < 0 || y >= rect_.height || x < 0 || x >= rect_.width) return x;
  const int room = limit < 0 ? rect_.width - x : std::min(limit, rect_.width - x);
  if (room <= 0) return x;
  const std::string shown = text::cut(text::printable(text, display_.unicode),
                                      static_cast<std::size_t>(room), display_.unicode);
  std::string_view rest = shown;
  while (!rest.empty()) {
    const Utf8Character next = decode_utf8(rest);
    const auto cells = static_cast<int>(text::display_width(rest.substr(0, next.bytes)));
    rest.remove_prefix(std::max<std::size_t>(next.bytes, 1));
    const int px = rect_.x + x;
    if (cells == 0) {
      if (x == 0) continue;
      Cell head = frame_->at(px - 1, rect_.y + y);
      head.mark = next.code;
      if (!head.tail) frame_->set(px - 1, rect_.y + y, head);
      continue;
    }
    frame_->set(px, rect_.y + y, {next.code, 0, style, false});
    if (cells == 2) frame_->set(px + 1, rect_.y + y, {U' ', 0, style, true});
    x += cells;
  }
  return x;
}

int Pane::put_right(int end, int y, std::string_view text, Style style) {
  const auto cells = static_cast<int>(text::display_width(text::printable(text, display_.unicode)));
  const int x = std::max(0, std::min(end, rect_.width) - cells);
  put(x, y, text, style, std::min(end, rect_.width) - x);
  return x;
}

void Pane::repeat(int x, int y, int count, std::string_view glyph, Style style) {
  const Utf8Character character = decode_utf8(glyph);
  if (y < 0 || y >= rect_.height) return;
  for (int i = std::max(x, 0); i < std::min(x + count, rect_.width); ++i) {
    frame_->set(rect_.x + i, rect_.y + y, {character.code, 0, style, false});
  }
}

}  // namespace ttmem::tui
