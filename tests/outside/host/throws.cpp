// SPDX-License-Identifier: Apache-2.0
//
// Throws and catches exceptions of many kinds, none of them from TT-Metal. Prints the messages of
// the exceptions that main()'s thread catches.
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Left : virtual std::exception {};
struct Right : virtual std::exception {};
struct Both : Left, Right {
  [[nodiscard]] const char* what() const noexcept override { return "Out of Memory: both"; }
};
struct Later : std::runtime_error {
  using std::runtime_error::runtime_error;
  // The message of some exceptions comes from Python, so the stub must not call what().
  [[nodiscard]] const char* what() const noexcept override {
    ++asked;
    return "Out of Memory: later";
  }
  static inline int asked = 0;
};

int before_main() {
  try {
    throw std::runtime_error("Out of Memory: before main");
  } catch (const std::exception& exception) {
    std::puts(exception.what());
  }
  return 0;
}
const int begun = before_main();

template <typename Thrown>
void caught(const Thrown& thrown) {
  try {
    throw thrown;
  } catch (const std::exception& exception) {
    std::puts(exception.what());
  } catch (const char* text) {
    std::puts(text);
  } catch (...) {
    std::puts("?");
  }
}

void nested() {
  try {
    try {
      throw std::runtime_error("inner");
    } catch (...) {
      std::throw_with_nested(std::runtime_error("outer"));
    }
  } catch (const std::exception& exception) {
    std::puts(exception.what());
    try {
      std::rethrow_if_nested(exception);
    } catch (const std::exception& inner) {
      std::puts(inner.what());
    }
  }
}

}  // namespace

int main() {
  caught(std::runtime_error("Out of Memory: plain"));
  caught(std::runtime_error(std::string(100000, 'x')));
  caught(std::logic_error("logic"));
  caught(Both());
  caught(7);
  caught("text");
  nested();
  try {
    throw Later("");
  } catch (const Later&) {
    std::printf("asked %d times\n", Later::asked);
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([] {
      for (int n = 0; n < 1000; ++n) {
        try {
          throw std::runtime_error("Out of Memory: in a thread");
        } catch (const std::runtime_error&) {
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return begun;
}
