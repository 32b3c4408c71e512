// SPDX-License-Identifier: Apache-2.0
//
// The C interface: decides once whether this process is tracked, guards the tracker with one lock,
// and keeps exceptions, output and crashes away from the workload.
#include <fcntl.h>
#include <pthread.h>
#include <ttmem/ttmem.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/environment.hpp"
#include "base/open_above_streams.hpp"
#include "base/parse_number.hpp"
#include "base/raw_enum.hpp"
#include "base/thread_state_guard.hpp"
#include "track/job/find_job.hpp"
#include "track/tracker/id_tracker.hpp"
#include "track/tracker/spin_lock.hpp"
#include "track/tracker/text_table.hpp"
#include "track/transport/socket_transport.hpp"

namespace {

using ttmem::environment;
using ttmem::tracker::IdTracker;
using ttmem::tracker::SpinLock;
using ttmem::transport::SocketTransport;

enum class Mode : int {
  undecided,  // no call so far in this process
  off,        // tracking was not requested, the process is ending, or it was forked inside a call
  on,
  failed,  // tracking was requested, but could not start or failed: calls count as dropped
};

// The limits that ttmem.h documents.
static_assert(ttmem::segment::kMaxCbsPerProgram == 1024 && ttmem::segment::kMaxTexts >= 16384);
static_assert(ttmem::segment::kMaxDevices == TTMEM_MESH_MAX_DEVICES);

// The only state that a call reads when tracking is off.
constinit std::atomic<Mode> mode{Mode::undecided};

constinit SpinLock lock;                 // guards the variables below
constinit IdTracker* tracker = nullptr;  // never deleted: another thread may be using it at exit
// Set with TTMEM_TRANSPORT=socket. Only a forked child deletes it.
constinit SocketTransport* transport = nullptr;
constinit std::atomic<std::uint64_t> dropped_calls{0};
// Number of dropped calls that are not yet added to the segment. These calls came from signal
// handlers that interrupted another call of the same thread.
constinit std::atomic<std::uint64_t> interrupting_calls{0};
constinit bool forked_inside_a_call = false;
// Exit status of the process, learned only after a failure was reported; -1 until the exit.
constinit std::atomic<int> exit_status{-1};

// The scopes of one thread. The thread-local variable uses the TLS model initial-exec, for the
// reasons given in spin_lock.hpp.
struct Scopes {
  std::uint32_t current = 0;  // number of the innermost scope; 0: no scope
  std::uint32_t outer = 0;    // number of the scope around `current`, if has_outer
  bool has_outer = false;
  // If has_outer: the counter of the open visits of `current` in the segment, which stays mapped
  // until the process ends. Null if visits are not counted, or if the segment belongs to the parent
  // process.
  std::uint32_t* open_visits = nullptr;
  std::uint32_t depth = 0;    // nesting depth of `current`
  std::uint32_t ignored = 0;  // number of pushed scopes that were ignored
};
[[gnu::tls_model("initial-exec")]] thread_local constinit Scopes scopes;
// Names of the scopes that the parent was in at the fork, outermost first. Null except in a forked
// child.
constinit std::vector<std::string>* inherited_scopes = nullptr;

// The maximum time that an exiting workload waits until a connected server has received the last
// reports.
constexpr std::chrono::milliseconds kFlushAtExit{100};

// Writes a warning to the target in TTMEM_LOG: a file, or "stderr". Writes nothing if TTMEM_LOG is
// not set.
void log(const char* message, const char* detail) noexcept {
  const ttmem::ThreadStateGuard guard;
  const char* target = environment("TTMEM_LOG");
  if (*target == '\0') return;
  const bool to_stderr = std::strcmp(target, "stderr") == 0;
  ttmem::UniqueFd file;
  if (!to_stderr) file = ttmem::open_above_streams(target, O_WRONLY | O_CREAT | O_APPEND, 0666);
  ::dprintf(to_stderr ? STDERR_FILENO : file.get(), "warning libttmem: %s reason=\"%s\" pid=%d\n",
            message, detail, static_cast<int>(::getpid()));
}

// Saves the names of the scopes that this thread is in. The child needs the names, because the
// numbers of scopes are valid only in the parent's segment. If memory runs out, the child starts in
// no scope.
void keep_scopes_in_child() noexcept {
  std::uint32_t at = std::exchange(scopes, {}).current;
  if (tracker == nullptr || at == 0) return;
  try {
    auto names = std::make_unique<std::vector<std::string>>();
    for (; at != 0; at = tracker->texts().parent_of(at)) {
      names->emplace(names->begin(), tracker->texts().name_of(at));
    }
    inherited_scopes = names.release();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): see above
  }
}

// Takes the lock. If a signal handler forks inside a call, this thread already has the lock and
// keeps it.
void before_fork() noexcept { forked_inside_a_call = !lock.lock_unless_held_here(); }
void in_parent() noexcept {
  if (!forked_inside_a_call) lock.unlock();
}
// Resets the state in the child. The child has none of the parent's devices, and its tracking
// starts again at its first call. The tracker is not destroyed, because its destructor would write
// into the parent's segment.
void in_child() noexcept {
  if (forked_inside_a_call) {
    // The interrupted call may continue in the child, so the objects that the call uses stay. No
    // other call in the child is tracked.
    mode.store(Mode::off);
    scopes.open_visits = nullptr;
    if (tracker != nullptr) tracker->segment().close_file();
    return;
  }
  keep_scopes_in_child();
  if (tracker != nullptr) tracker->segment().abandon();
  tracker = nullptr;
  // The child needs a new transport, because the transport's thread and connection belong to the
  // parent.
  delete transport;
  transport = nullptr;
  dropped_calls.store(0);
  interrupting_calls.store(0);
  if (mode.load(std::memory_order_relaxed) != Mode::off) mode.store(Mode::undecided);
  lock.unlock();
}

// Runs at load time, so that a fork during the first call finds the handlers.
__attribute__((constructor)) void prepare() noexcept {
  ::pthread_atfork(before_fork, in_parent, in_child);
}

// Moves the count of interrupting calls to the dropped calls of the segment. The caller holds the
// lock.
void count_interrupting_calls() noexcept {
  tracker->count_dropped_calls(interrupting_calls.exchange(0, std::memory_order_relaxed));
}

// Runs when the process exits or the library is unloaded.
__attribute__((destructor)) void finish() noexcept {
  // This thread may hold the lock already: a signal handler interrupted a call of this thread and
  // then called exit(). try_lock_for() then returns false at once.
  if (!lock.try_lock_for(1000)) return;
  std::unique_lock guard(lock, std::adopt_lock);
  if (mode.exchange(Mode::off) == Mode::on) {
    count_interrupting_calls();
    if (exit_status.load() == 0) tracker->forget_failure();
    tracker->segment().finish();
  }
  if (transport != nullptr) {
    transport->end();
    guard.unlock();
    const ttmem::ThreadStateGuard state;
    if (!transport->wait_until_ended(kFlushAtExit)) transport->say_goodbye_now();
  }
  if (const std::uint64_t count = dropped_calls.load(); count > 0) {
    char text[32];
    std::snprintf(text, sizeof text, "%llu calls", static_cast<unsigned long long>(count));
    log("calls were not tracked; an earlier line says why", text);
  }
}

// Makes the process store its exit status when it exits. finish() runs afterwards. If the exit
// status is 0, finish() removes the copy of the segment that was made after a failure. Otherwise
// the copy stays, because it helps to explain why the process failed.
void learn_exit_status() noexcept {
  static constinit std::atomic<bool> asked{false};
  if (asked.exchange(true)) return;
  ::on_exit([](int status, void*) { exit_status.store(status); }, nullptr);
}

// Reads TTMEM_KEEP_FOR, such as "4711:4026531836": the pid of a reader, and the reader's pid
// namespace.
void read_kept_for(std::string_view text, ttmem::segment::SegmentWriter::Options& options) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  options.kept_for = ttmem::parse_number<pid_t>(text.substr(0, colon)).value_or(0);
  const std::string_view space = text.substr(std::min(colon + 1, text.size()));
  options.kept_for_namespace = ttmem::parse_number<std::uint32_t>(space).value_or(0);
}

// Reads TTMEM_EVENTS, the number of events in the ring. A recorder sets this variable, so events
// then have details.
void read_events(const char* text, ttmem::segment::SegmentWriter::Options& options) {
  constexpr std::uint32_t per_chunk =
      ttmem::segment::kChunkBytes / sizeof(ttmem::segment::EventRecord);
  constexpr std::uint32_t fewest = 1 << 16;
  // The maximum number of events. A ring with so many events takes half of the largest segment.
  constexpr std::uint32_t most = 1 << 22;
  const auto events = ttmem::parse_number<std::uint32_t>(text);
  if (!events) {
    log("TTMEM_EVENTS is not a number of events such as 1048576; ignored", text);
    return;
  }
  options.event_chunks = std::bit_ceil(std::clamp(*events, fewest, most)) / per_chunk;
  options.event_details = true;
}

ttmem::segment::SegmentWriter::Options options_from_environment() {
  ttmem::segment::SegmentWriter::Options options;
  options.directory = ttmem::segment_directory();
  read_kept_for(environment("TTMEM_KEEP_FOR"), options);
  options.run = environment("TTMEM_RUN");
  options.job = ttmem::job::own_job();
  if (const char* text = environment("TTMEM_EVENTS"); *text != '\0') read_events(text, options);
  if (const char* text = environment("TTMEM_MODE"); *text != '\0') {
    const auto value = ttmem::parse_number<mode_t>(text, 8);
    if (value && *value <= 0777) {
      options.mode = (*value & 0444) | 0600;  // readers get no right to write
    } else {
      log("TTMEM_MODE is not an octal file mode such as 0640; using 0600", text);
    }
  }
  return options;
}

bool wants_socket() {
  const char* text = ttmem::environment_or("TTMEM_TRANSPORT", "shm");
  if (std::strcmp(text, "shm") == 0) return false;
  if (std::strcmp(text, "socket") == 0) return true;
  log("TTMEM_TRANSPORT is neither shm nor socket; using shm", text);
  return false;
}

// Starts the reports to the server. The tracker's segment is then memory without a file.
void start_transport() {
  SocketTransport::Options options;
  options.paths = ttmem::socket_paths();
  options.keep_stderr = std::strcmp(environment("TTMEM_LOG"), "stderr") == 0;
  options.log = log;
  transport = SocketTransport::start(tracker->segment(), lock, std::move(options)).release();
  if (transport != nullptr) tracker->set_observer(&transport->observer());
}

// Decides the mode at the first call of the process. The caller holds the lock.
Mode decide() {
  const ttmem::ThreadStateGuard guard;
  if (std::strcmp(environment("TT_ALLOC_TRACKING_ENABLED"), "1") != 0) return Mode::off;
  auto options = options_from_environment();
  options.in_memory = wants_socket();
  auto started = IdTracker::start(options);
  if (!started) {
    log("cannot track this process", started.error().message.c_str());
    return Mode::failed;
  }
  tracker = started->release();
  if (options.in_memory) start_transport();
  return Mode::on;
}

// Enters a scope, or counts it as ignored. The caller holds the lock.
void push_scope(IdTracker& t, const char* name) {
  const bool nameless = name == nullptr || *name == '\0';
  const bool too_deep = scopes.ignored != 0 || scopes.depth == ttmem::segment::kMaxScopeDepth;
  const std::uint32_t number =
      too_deep ? 0 : t.texts().scope_in(scopes.current, nameless ? "(unnamed)" : name);
  if (number == 0) {
    ++scopes.ignored;
    return;
  }
  scopes.outer = std::exchange(scopes.current, number);
  scopes.has_outer = true;
  scopes.open_visits = t.texts().enter_scope(number);
  ++scopes.depth;
}

// Enters the scopes that the parent was in at the fork. The caller holds the lock.
void enter_inherited_scopes(IdTracker& t) {
  const std::unique_ptr<std::vector<std::string>> names(std::exchange(inherited_scopes, nullptr));
  for (const std::string& name : *names) {
    t.set_scope(scopes.current);
    push_scope(t, name.c_str());
  }
}

// Runs `call` with the tracker, if this process is tracked. The caller holds the lock.
template <typename Call>
void run(Call&& call) noexcept {
  try {
    if (mode.load(std::memory_order_relaxed) == Mode::undecided) {
      mode.store(decide());
      if (inherited_scopes != nullptr && tracker != nullptr) enter_inherited_scopes(*tracker);
    }
    const Mode decided = mode.load(std::memory_order_relaxed);
    if (decided == Mode::on) {
      tracker->set_scope(scopes.current);
      call(*tracker);
      if (interrupting_calls.load(std::memory_order_relaxed) != 0) [[unlikely]] {
        count_interrupting_calls();
      }
    } else if (decided == Mode::failed) {
      dropped_calls.fetch_add(1, std::memory_order_relaxed);
    }
  } catch (const std::exception& exception) {
    // Ends the segment and the transport, because the figures may be wrong now. Readers must not
    // see wrong figures.
    log("stopped tracking this process after an internal error", exception.what());
    if (transport != nullptr) transport->give_up();
    if (tracker != nullptr) tracker->segment().discard();
    mode.store(Mode::failed);
  }
}

template <typename Call>
inline void with_tracker(Call&& call) noexcept {
  // Relaxed suffices, because a thread that still sees Mode::undecided loads the mode again under
  // the lock.
  if (mode.load(std::memory_order_relaxed) == Mode::off) [[likely]] {
    return;
  }
  if (!lock.lock_unless_held_here()) [[unlikely]] {
    interrupting_calls.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const std::lock_guard guard(lock, std::adopt_lock);
  const ttmem::ErrnoGuard errno_guard;
  run(call);
}

// Each function sets a pointer field to null if struct_size ends before or inside the field.
void clear_missing_pointers(ttmem_device_info& info) noexcept {
  if (info.struct_size < offsetof(ttmem_device_info, board)) info.arch = nullptr;
  if (info.struct_size < offsetof(ttmem_device_info, grid_x)) info.board = nullptr;
}
void clear_missing_pointers(ttmem_buffer& buffer) noexcept {
  if (buffer.struct_size < offsetof(ttmem_buffer, label)) buffer.cores = nullptr;
  if (buffer.struct_size < offsetof(ttmem_buffer, flags)) buffer.label = nullptr;
}
void clear_missing_pointers(ttmem_placement& placement) noexcept {
  placement.name = nullptr;  // the last field
}

// Calls call() with the structure as this library knows it: fields that a shorter structure lacks
// are zero. A structure of less than `required` bytes lacks mandatory fields, and the call is
// dropped.
template <typename Struct, typename Call>
void with_known_fields(IdTracker& t, const Struct* from, std::size_t required, Call&& call) {
  if (from == nullptr || from->struct_size < required) return t.count_dropped_calls(1);
  if (from->struct_size >= sizeof *from) [[likely]] {
    return call(*from);
  }
  Struct padded{};
  std::memcpy(&padded, from, from->struct_size);
  clear_missing_pointers(padded);
  call(padded);
}

// Calls call() with the CBs, reduced to the fields that this library knows. Drops the call if the
// CBs are shorter than ttmem_cb.
template <typename Call>
void with_known_cbs(IdTracker& t, const ttmem_placement& placement, Call&& call) {
  const ttmem_cb* cbs = placement.cbs;
  const std::size_t count = cbs == nullptr ? 0 : placement.cb_count;
  if (placement.cb_size < sizeof *cbs) return t.count_dropped_calls(1);
  std::vector<ttmem_cb> known;  // the fields that this library knows
  if (placement.cb_size != sizeof *cbs) {
    known.resize(count);
    const auto* from = reinterpret_cast<const char*>(cbs);
    for (ttmem_cb& cb : known) {
      std::memcpy(&cb, from, sizeof cb);
      from += placement.cb_size;
    }
    cbs = known.data();
  }
  call(std::span(cbs, count));
}

// Calls call() with the list. A call with an empty or too long list is dropped.
template <typename Call>
void with_list(IdTracker& t, const std::uint32_t* devices, std::uint32_t count, Call&& call) {
  const bool usable = devices != nullptr && count != 0 && count <= TTMEM_MESH_MAX_DEVICES;
  usable ? call(std::span(devices, count)) : t.count_dropped_calls(1);
}

}  // namespace

extern "C" {

int ttmem_enabled(void) {
  with_tracker([](IdTracker&) {});
  return mode.load(std::memory_order_relaxed) == Mode::on ? 1 : 0;
}

void ttmem_device_open(const ttmem_device_info* info) {
  with_tracker([=](IdTracker& t) {
    with_known_fields(t, info, offsetof(ttmem_device_info, uid),
                      [&](const auto& i) { t.device_open(i); });
  });
}

void ttmem_set_reported(uint32_t device, uint32_t kinds) {
  with_tracker([=](IdTracker& t) { t.set_reported(device, kinds); });
}

void ttmem_set_unseen(uint32_t kinds, const char* why) {
  with_tracker([=](IdTracker& t) { t.set_unseen(kinds, why); });
}

void ttmem_cb_estimate(uint32_t device, int is_estimate) {
  with_tracker([=](IdTracker& t) { t.set_cb_estimate(device, is_estimate != 0); });
}

void ttmem_device_close(uint32_t device) {
  with_tracker([=](IdTracker& t) { t.device_close(device); });
}

void ttmem_buffer_alloc(uint32_t device, const ttmem_buffer* buffer) {
  with_tracker([=](IdTracker& t) {
    with_known_fields(t, buffer, offsetof(ttmem_buffer, bytes_per_bank),
                      [&](const auto& b) { t.buffer_alloc(device, b); });
  });
}

void ttmem_buffer_free(uint32_t device, ttmem_buffer_type type, uint64_t id) {
  with_tracker(
      [=, type = ttmem::raw_value(type)](IdTracker& t) { t.buffer_free(device, type, id); });
}

void ttmem_program_place(uint32_t device, uint64_t program, const ttmem_cb* cbs, uint32_t count) {
  with_tracker([=](IdTracker& t) {
    t.program_place(device, program, {cbs, cbs == nullptr ? 0 : std::size_t{count}});
  });
}

void ttmem_program_place_with(uint32_t device, const ttmem_placement* placement) {
  with_tracker([=](IdTracker& t) {
    with_known_fields(t, placement, offsetof(ttmem_placement, reserved), [&](const auto& p) {
      with_known_cbs(t, p, [&](std::span<const ttmem_cb> cbs) {
        t.program_place(device, p.program, cbs, p.name);
      });
    });
  });
}

void ttmem_program_dispatch(uint32_t device, uint64_t program) {
  with_tracker([=](IdTracker& t) { t.program_dispatch(device, program); });
}

void ttmem_scope_push(const char* name) {
  with_tracker([=](IdTracker& t) { push_scope(t, name); });
}

void ttmem_scope_pop(void) {
  if (scopes.has_outer && scopes.ignored == 0) {
    ttmem::tracker::leave_scope(std::exchange(scopes.open_visits, nullptr));
    scopes.current = scopes.outer;
    scopes.has_outer = false;
    --scopes.depth;
    return;
  }
  with_tracker([](IdTracker& t) {
    if (scopes.ignored != 0) {
      --scopes.ignored;
    } else if (scopes.current != 0) {
      ttmem::tracker::leave_scope(t.texts().open_visits(scopes.current));
      scopes.current = t.texts().parent_of(scopes.current);
      --scopes.depth;
    }
  });
}

void ttmem_mark(const char* name) {
  with_tracker([=](IdTracker& t) { t.mark(name == nullptr ? "" : name); });
}

void ttmem_report_failure(const char* text) {
  with_tracker([=](IdTracker& t) {
    if (text == nullptr || *text == '\0') return t.count_dropped_calls(1);
    t.report_failure(text);
    learn_exit_status();
  });
}

void ttmem_trace_replay(uint32_t device, const uint64_t* programs, uint32_t count) {
  with_tracker([=](IdTracker& t) {
    t.trace_replay(device, {programs, programs == nullptr ? 0 : std::size_t{count}});
  });
}

void ttmem_cb_alloc(uint32_t device, uint64_t id, uint64_t bytes) {
  with_tracker([=](IdTracker& t) { t.cb_alloc(device, id, bytes); });
}

void ttmem_cb_free(uint32_t device, uint64_t id) {
  with_tracker([=](IdTracker& t) { t.cb_free(device, id); });
}

void ttmem_program_destroy(uint64_t program) {
  with_tracker([=](IdTracker& t) { t.program_destroy(program); });
}

void ttmem_kernel_load(uint32_t device, uint64_t kernel, uint64_t bytes, ttmem_kernel_role role) {
  with_tracker([=, role = ttmem::raw_value(role)](IdTracker& t) {
    t.kernel_load(device, kernel, bytes, role, false);
  });
}

void ttmem_kernel_load_estimate(uint32_t device, uint64_t kernel, uint64_t bytes,
                                ttmem_kernel_role role) {
  with_tracker([=, role = ttmem::raw_value(role)](IdTracker& t) {
    t.kernel_load(device, kernel, bytes, role, true);
  });
}

void ttmem_kernel_unload(uint32_t device, uint64_t kernel) {
  with_tracker([=](IdTracker& t) { t.kernel_unload(device, kernel); });
}

// Treats a list of one device as a call for one device, which needs fewer lookups. Most machines
// have one chip.
void ttmem_mesh_buffer_alloc(const uint32_t* devices, uint32_t count, const ttmem_buffer* buffer) {
  if (count == 1 && devices != nullptr) return ttmem_buffer_alloc(devices[0], buffer);
  with_tracker([=](IdTracker& t) {
    with_list(t, devices, count, [&](std::span<const uint32_t> list) {
      with_known_fields(t, buffer, offsetof(ttmem_buffer, bytes_per_bank),
                        [&](const auto& b) { t.mesh_buffer_alloc(list, b); });
    });
  });
}

void ttmem_mesh_buffer_free(const uint32_t* devices, uint32_t count, ttmem_buffer_type type,
                            uint64_t id) {
  if (count == 1 && devices != nullptr) return ttmem_buffer_free(devices[0], type, id);
  with_tracker([=, type = ttmem::raw_value(type)](IdTracker& t) {
    with_list(t, devices, count,
              [&](std::span<const uint32_t> list) { t.mesh_buffer_free(list, type, id); });
  });
}

void ttmem_mesh_program_place(const uint32_t* devices, uint32_t count, uint64_t program,
                              const ttmem_cb* cbs, uint32_t cb_count) {
  with_tracker([=](IdTracker& t) {
    with_list(t, devices, count, [&](std::span<const uint32_t> list) {
      t.mesh_program_place(list, program, {cbs, cbs == nullptr ? 0 : std::size_t{cb_count}});
    });
  });
}

void ttmem_mesh_program_place_with(const uint32_t* devices, uint32_t count,
                                   const ttmem_placement* placement) {
  with_tracker([=](IdTracker& t) {
    with_list(t, devices, count, [&](std::span<const uint32_t> list) {
      with_known_fields(t, placement, offsetof(ttmem_placement, reserved), [&](const auto& p) {
        with_known_cbs(t, p, [&](std::span<const ttmem_cb> cbs) {
          t.mesh_program_place(list, p.program, cbs, p.name);
        });
      });
    });
  });
}

void ttmem_mesh_program_dispatch(const uint32_t* devices, uint32_t count, uint64_t program) {
  with_tracker([=](IdTracker& t) {
    with_list(t, devices, count,
              [&](std::span<const uint32_t> list) { t.mesh_program_dispatch(list, program); });
  });
}

// Former names of three functions above.
void ttmem_reports(uint32_t device, uint32_t what) { ttmem_set_reported(device, what); }
void ttmem_not_seen(uint32_t what, const char* why) { ttmem_set_unseen(what, why); }
void ttmem_failure(const char* text) { ttmem_report_failure(text); }

}  // extern "C"
