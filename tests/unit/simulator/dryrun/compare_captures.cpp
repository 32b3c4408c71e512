// SPDX-License-Identifier: Apache-2.0
//
// `ttmem_dryrun_compare FILE...` replays captures of the real runtime on the dry run and prints the
// differences. The exit status is 0 if there is no difference. It is 1 if there is a difference or
// a file cannot be replayed, and 2 if the usage is wrong.
#include <exception>
#include <iostream>

#include "replay.hpp"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: ttmem_dryrun_compare FILE...\n"
                 "Replays captures of the real runtime on the dry run, for example\n"
                 "  ttmem_dryrun_compare tests/data/captures/*.jsonl\n";
    return 2;
  }
  bool same = true;
  for (int i = 1; i < argc; ++i) {
    try {
      const auto report = dryrun_test::replay(dryrun_test::read_capture(argv[i]));
      std::cout << argv[i] << ": " << report.text() << "\n";
      same = same && report.same();
    } catch (const std::exception& error) {
      std::cerr << argv[i] << ": " << error.what() << "\n";
      same = false;
    }
  }
  return same ? 0 : 1;
}
