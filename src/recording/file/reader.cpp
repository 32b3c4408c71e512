// SPDX-License-Identifier: Apache-2.0
#include "recording/file/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "recording/file/database.hpp"
#include "recording/file/schema.hpp"

namespace ttmem::recording {

struct Reader::State {
  Database database;
  Tables tables;
  std::uint64_t rows = 0;
  Time end_ns = 0;
  std::function<void(double)> progress;
};

namespace {

constexpr std::uint64_t kRowsPerProgress = 1 << 16;

// The rows of a table in the order of their numbers, which is that of their begin.
template <typename Row>
class Cursor {
 public:
  Cursor(Database& database, const Tables& tables, const char* sql)
      : database_(database), tables_(tables) {
    auto prepared = database.prepare(sql);
    if (prepared) {
      statement_ = std::move(*prepared);
      advance();
    } else {
      failed_ = prepared.error();
    }
  }

  [[nodiscard]] const Row* row() const { return has_row_ ? &row_ : nullptr; }
  [[nodiscard]] const std::optional<Error>& failed() const { return failed_; }

  void advance() {
    const std::optional<bool> there = statement_.step();
    has_row_ = there.value_or(false);
    if (!there) failed_ = database_.error();
    if (!has_row_) return;
    row_ = {};
    if (read()) return;
    failed_ = Error{fmt::format("{} is damaged: row {} refers to what is not there",
                                database_.path(), statement_.integer(0))};
    has_row_ = false;
  }

 private:
  template <typename Rows, typename T>
  bool refer(int column, const Rows& rows, T& out, bool may_miss = false) const {
    const std::int64_t id = statement_.integer(column);
    out = static_cast<T>(id);
    return (id > 0 || (may_miss && id == 0)) && static_cast<std::uint64_t>(id) <= rows.size();
  }
  bool read_life(int begin_column) {
    row_.begin_ns = statement_.integer(begin_column);
    if (statement_.is_null(begin_column + 1)) return true;
    row_.end_ns = std::max(row_.begin_ns, statement_.integer(begin_column + 1));
    row_.ending = ending_named(statement_.text(begin_column + 2)).value_or(Ending::freed);
    return true;
  }
  bool read();

  Database& database_;
  const Tables& tables_;
  Statement statement_;
  Row row_;
  bool has_row_ = false;
  std::optional<Error> failed_;
};

template <>
bool Cursor<Allocation>::read() {
  row_.id = statement_.integer(0);
  row_.number = static_cast<std::uint64_t>(statement_.integer(3));
  if (!statement_.is_null(4)) row_.address = static_cast<std::uint64_t>(statement_.integer(4));
  return refer(1, tables_.device_sets, row_.devices) && refer(2, tables_.requests, row_.request) &&
         read_life(5);
}

template <>
bool Cursor<Program>::read() {
  row_.id = statement_.integer(0);
  row_.number = static_cast<std::uint64_t>(statement_.integer(3));
  return refer(1, tables_.devices, row_.device) && refer(2, tables_.layouts, row_.layout, true) &&
         refer(4, tables_.texts, row_.name, true) && refer(5, tables_.scopes, row_.scope, true) &&
         read_life(6);
}

template <>
bool Cursor<Dispatch>::read() {
  row_.id = statement_.integer(0);
  row_.time_ns = statement_.integer(1);
  return refer(2, tables_.device_sets, row_.devices) && refer(3, tables_.launches, row_.launch);
}

// What will end, the next first; of those that end together, the oldest.
template <typename Row>
class Ends {
 public:
  void add(const Row& row) {
    if (row.end_ns) heap_.push(row);
  }
  [[nodiscard]] const Row* next() const { return heap_.empty() ? nullptr : &heap_.top(); }
  void pop() { heap_.pop(); }

 private:
  struct Later {
    bool operator()(const Row& a, const Row& b) const {
      return *a.end_ns != *b.end_ns ? *a.end_ns > *b.end_ns : a.id > b.id;
    }
  };
  std::priority_queue<Row, std::vector<Row>, Later> heap_;
};

// What is in memory and has a moment, in the order of time.
std::vector<Event> rare_events(const Tables& tables) {
  std::vector<Event> events;
  const auto add = [&](Event::Type type, Time time) -> Event& {
    Event& event = events.emplace_back();
    event.type = type;
    event.time_ns = time;
    return event;
  };
  for (const Process& process : tables.processes) {
    add(Event::Type::process_begin, process.begin_ns).process = &process;
    if (process.end_ns) add(Event::Type::process_end, *process.end_ns).process = &process;
  }
  for (const Device& device : tables.devices) {
    add(Event::Type::device_open, device.begin_ns).device = &device;
    if (device.end_ns) add(Event::Type::device_close, *device.end_ns).device = &device;
  }
  for (const Mark& mark : tables.marks) add(Event::Type::mark, mark.time_ns).mark = &mark;
  for (const Gap& gap : tables.gaps) add(Event::Type::gap, gap.begin_ns).gap = &gap;
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::pair(a.time_ns, a.type) < std::pair(b.time_ns, b.type);
  });
  return events;
}

// Merges all that has a moment.
class Pass {
 public:
  Pass(Database& database, const Tables& tables)
      : allocations_(database, tables,
                     "SELECT id, devices, request, number, address, begin_ns, end_ns, ending "
                     "FROM allocations ORDER BY id"),
        programs_(database, tables,
                  "SELECT id, device, layout, number, name, scope, begin_ns, end_ns, ending "
                  "FROM programs ORDER BY id"),
        dispatches_(database, tables,
                    "SELECT id, time_ns, devices, launch FROM dispatches ORDER BY id"),
        rare_(rare_events(tables)) {}

  // The next event; valid until advance(). None at the end.
  [[nodiscard]] std::optional<Event> next() const {
    std::optional<Event> first;
    const auto offer = [&](const Event& event) {
      if (!first || std::pair(event.time_ns, event.type) < std::pair(first->time_ns, first->type)) {
        first = event;
      }
    };
    if (const Allocation* row = allocation_ends_.next()) {
      offer({.type = Event::Type::free, .time_ns = *row->end_ns, .allocation = row});
    }
    if (const Program* row = program_ends_.next()) {
      offer({.type = Event::Type::remove, .time_ns = *row->end_ns, .program = row});
    }
    if (next_rare_ < rare_.size()) offer(rare_[next_rare_]);
    if (const Allocation* row = allocations_.row()) {
      offer({.type = Event::Type::allocate, .time_ns = row->begin_ns, .allocation = row});
    }
    if (const Program* row = programs_.row()) {
      offer({.type = Event::Type::place, .time_ns = row->begin_ns, .program = row});
    }
    if (const Dispatch* row = dispatches_.row()) {
      offer({.type = Event::Type::dispatch, .time_ns = row->time_ns, .dispatch = row});
    }
    return first;
  }

  void advance(Event::Type type) {
    switch (type) {
      case Event::Type::free:
        return allocation_ends_.pop();
      case Event::Type::remove:
        return program_ends_.pop();
      case Event::Type::allocate:
        allocation_ends_.add(*allocations_.row());
        return take(allocations_);
      case Event::Type::place:
        program_ends_.add(*programs_.row());
        return take(programs_);
      case Event::Type::dispatch:
        return take(dispatches_);
      default:
        ++next_rare_;
    }
  }

  [[nodiscard]] std::uint64_t rows_read() const { return rows_read_; }
  [[nodiscard]] std::optional<Error> failed() const {
    if (allocations_.failed()) return allocations_.failed();
    if (programs_.failed()) return programs_.failed();
    return dispatches_.failed();
  }

 private:
  template <typename Row>
  void take(Cursor<Row>& cursor) {
    cursor.advance();
    ++rows_read_;
  }

  Cursor<Allocation> allocations_;
  Cursor<Program> programs_;
  Cursor<Dispatch> dispatches_;
  Ends<Allocation> allocation_ends_;
  Ends<Program> program_ends_;
  std::vector<Event> rare_;
  std::size_t next_rare_ = 0;
  std::uint64_t rows_read_ = 0;
};

Result<std::int64_t> number_from(Database& database, const char* sql) {
  auto statement = database.prepare(sql);
  if (!statement) return statement.error();
  if (!statement->step()) return database.error();
  return statement->integer(0);
}

}  // namespace

Result<std::unique_ptr<Reader>> Reader::open(const std::string& path) {
  auto database = Database::open(path, Database::Mode::read);
  if (!database) return database.error();
  auto tables = read_tables(*database);
  if (!tables) return tables.error();
  auto state = std::make_unique<State>(State{std::move(*database), std::move(*tables), 0, 0, {}});
  for (const char* sql : {"SELECT max(id) FROM allocations", "SELECT max(id) FROM programs",
                          "SELECT max(id) FROM dispatches"}) {
    const auto rows = number_from(state->database, sql);
    if (!rows) return rows.error();
    state->rows += static_cast<std::uint64_t>(*rows);
  }
  // Without an end, what was written last tells it. No index is needed: the numbers ascend.
  const auto last = number_from(
      state->database,
      "SELECT max(coalesce((SELECT begin_ns FROM allocations ORDER BY id DESC LIMIT 1), 0),"
      "           coalesce((SELECT time_ns FROM dispatches ORDER BY id DESC LIMIT 1), 0),"
      "           coalesce((SELECT time_ns FROM timeline ORDER BY id DESC LIMIT 1), 0),"
      "           coalesce((SELECT max(time_ns) FROM marks), 0),"
      "           coalesce((SELECT max(end_ns) FROM processes), 0))");
  if (!last) return last.error();
  state->end_ns = state->tables.run.ended_ns.value_or(*last);
  return std::unique_ptr<Reader>(new Reader(std::move(state)));
}

Reader::Reader(std::unique_ptr<State> state) : state_(std::move(state)) {}
Reader::~Reader() = default;

const Tables& Reader::tables() const { return state_->tables; }
std::uint64_t Reader::rows() const { return state_->rows; }
Time Reader::end_ns() const { return state_->end_ns; }
void Reader::set_progress(std::function<void(double)> progress) {
  state_->progress = std::move(progress);
}

Result<void> Reader::for_each_event(const std::function<bool(const Event&)>& visit) const {
  Pass pass(state_->database, state_->tables);
  std::uint64_t told = 0;
  while (const std::optional<Event> event = pass.next()) {
    if (!visit(*event)) break;
    pass.advance(event->type);
    if (pass.rows_read() - told >= kRowsPerProgress) {
      told = pass.rows_read();
      if (state_->progress) {
        state_->progress(static_cast<double>(told) / static_cast<double>(state_->rows));
      }
    }
  }
  if (const auto failed = pass.failed()) return *failed;
  return {};
}

}  // namespace ttmem::recording
