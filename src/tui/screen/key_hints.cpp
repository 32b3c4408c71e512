// SPDX-License-Identifier: Apache-2.0
#include "tui/screen/keys.hpp"

namespace ttmem::tui {
namespace {

std::vector<KeyHint> hints_of_view(const ViewState& state) {
  switch (state.view) {
    case View::detailed:
      break;
    case View::charts:
      return {{"1-4", "view"}, {"arrows", "device"}, {"t", "window"}};
    case View::cores:
      return {{"1-4", "view"}, {"arrows hjkl", "core"}, {"[ ]", "device"}, {"PgUp PgDn", "list"}};
    case View::processes:
      return {state.opened ? KeyHint{"Esc", "back"} : KeyHint{"1-4", "view"},
              state.opened ? KeyHint{"PgUp PgDn", "page"} : KeyHint{"Enter", "allocations"},
              {"s", "sort"},
              {"r", "reverse"},
              {"/", "filter"},
              {"left right", "device"}};
  }
  return {{"1-4", "view"}, {"arrows", "device"}};
}

}  // namespace

std::vector<KeyHint> hints_of(const ViewState& state) {
  if (state.typing_filter) return {{"Enter", "keep"}, {"Esc", "clear"}};
  if (state.help) return {{"any key", "back"}};
  std::vector<KeyHint> hints = hints_of_view(state);
  hints.push_back({"p", state.paused ? "resume" : "pause"});
  hints.push_back({"+ -", "rate"});
  hints.push_back({state.view == View::cores ? "?" : "h", "help"});
  hints.push_back({"q", "quit"});
  return hints;
}

}  // namespace ttmem::tui
