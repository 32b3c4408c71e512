// SPDX-License-Identifier: Apache-2.0
#include "cli/attach/compiler.hpp"

#include <charconv>
#include <chrono>
#include <string_view>

#include "base/environment.hpp"
#include "cli/attach/child.hpp"
#include "cli/attach/ninja_flags.hpp"

namespace ttmem::attach {
namespace {

// The oldest versions that can compile the headers. The headers omit `typename` at places where
// only C++20 allows this, and older compilers refuse the code.
constexpr int kOldestClang = 16;
constexpr int kOldestGcc = 11;

// Returns the value of a macro, or 0 if the macro is not defined.
int value_of(std::string_view macros, const std::string& name) {
  const std::string define = "#define " + name + " ";
  const std::size_t at = macros.find(define);
  if (at == std::string_view::npos) return 0;
  const std::string_view value = macros.substr(at + define.size());
  int number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

}  // namespace

bool new_enough(std::string_view macros) {
  // Checks clang first, because clang also defines __GNUC__, with the version of an old GCC.
  const int clang = value_of(macros, "__clang_major__");
  return clang > 0 ? clang >= kOldestClang : value_of(macros, "__GNUC__") >= kOldestGcc;
}

Result<std::vector<std::string>> find_compiler() {
  std::vector<std::vector<std::string>> candidates;
  if (auto chosen = arguments_of(environment("CXX")); !chosen.empty()) {
    candidates.push_back(std::move(chosen));  // $CXX may contain arguments: "ccache g++"
  }
  for (const char* name : {"g++", "clang++", "c++"}) candidates.push_back({name});
  for (std::vector<std::string>& candidate : candidates) {
    std::vector<std::string> question = candidate;
    question.insert(question.end(), {"-dM", "-E", "-x", "c++", "/dev/null"});
    const Result<Ended> answer = run_child(question, {}, std::chrono::seconds(20));
    if (answer && answer->succeeded() && new_enough(answer->output)) return std::move(candidate);
  }
  return Error{
      "no compiler (g++ 11 or clang++ 16, or later); install one and run `ttmem adapter build`"};
}

}  // namespace ttmem::attach
