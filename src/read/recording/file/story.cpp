// SPDX-License-Identifier: Apache-2.0
#include "read/recording/file/story.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <queue>
#include <type_traits>
#include <utility>
#include <vector>

#include "read/recording/file/schema.hpp"

namespace ttmem::recording {
namespace {

constexpr const char* kAllocationRows =
    "SELECT id, devices, request, number, address, begin_ns, end_ns, ending "
    "FROM allocations ORDER BY id";
constexpr const char* kPartialEndRows =
    "SELECT allocation, position, devices, rest, end_ns, ending "
    "FROM partial_ends ORDER BY allocation, position";
constexpr const char* kProgramRows =
    "SELECT id, device, layout, number, name, scope, begin_ns, end_ns, ending "
    "FROM programs ORDER BY id";
constexpr const char* kDispatchRows =
    "SELECT id, time_ns, devices, launch FROM dispatches ORDER BY id";
constexpr const char* kNoDispatchRows =
    "SELECT id, time_ns, devices, launch FROM dispatches WHERE 0";

// Limits how many things all rows of a table may refer to: devices of allocations and of partial
// ends, or circular buffers on the cores of programs. A row takes a few bytes of the file, but each
// reference takes time and memory. A real run on 128 devices has 4 references for each byte of its
// file; a real run of programs with 64 buffers on 140 cores has 100 references for each byte.
struct Breadth {
  const char* what;
  std::uint64_t always;
  std::uint64_t per_byte;
};
constexpr Breadth kDevicesOfAllocations{"its allocations are on too many devices", 1 << 20, 8};
constexpr Breadth kBuffersOfPrograms{"its programs have too many circular buffers", 16 << 20, 128};
// The maximum number of programs of one dispatch, multiplied by the number of its devices.
constexpr std::uint64_t kMaxDispatched = 1 << 20;

// Reads the partial ends of the allocations, in step with the rows of the allocations. Not needed
// for other rows.
class PartialEndReader {
 public:
  PartialEndReader(Database& database, const Tables& tables)
      : database_(database), tables_(tables) {
    if (!tables.has_partial_ends) return;
    auto prepared = database.prepare(kPartialEndRows);
    if (!prepared) {
      failed_ = prepared.error();
      return;
    }
    statement_ = std::move(*prepared);
    advance();
  }

  // Moves the partial ends of an allocation into its row. Returns false if they make no sense.
  bool read(RecordedAllocation& row) {
    if (failed_ || (has_row_ && allocation() < row.id)) return false;
    Time earliest = row.begin_ns;
    while (has_row_ && allocation() == row.id) {
      PartialEnd& part = row.partial_ends.emplace_back();
      part.devices = statement_.integer(2);
      part.rest = statement_.integer(3);
      part.end_ns = std::max(earliest, statement_.integer(4));
      part.ending = ending_named(statement_.text(5)).value_or(Ending::freed);
      earliest = part.end_ns;
      const RowId before = row.partial_ends.size() == 1
                               ? row.devices
                               : row.partial_ends[row.partial_ends.size() - 2].rest;
      if (!is_possible(part.end_ns) || !divides(before, part)) return false;
      const std::pair key(allocation(), statement_.integer(1));
      advance();
      // The keys must grow, because the pages of a damaged file may form a loop.
      if (has_row_ && std::pair(allocation(), statement_.integer(1)) <= key) return false;
    }
    if (row.end_ns) row.end_ns = std::max(earliest, *row.end_ns);
    return !failed_;
  }
  // Returns true if no partial end is left.
  [[nodiscard]] bool is_done() const { return !has_row_; }
  [[nodiscard]] const std::optional<Error>& failed() const { return failed_; }

 private:
  [[nodiscard]] RowId allocation() const { return statement_.integer(0); }
  void advance() {
    const std::optional<bool> there = statement_.step();
    has_row_ = there.value_or(false);
    if (!there) failed_ = database_.error();
  }
  // Returns true if the two sets of a partial end have each device of `before` once.
  [[nodiscard]] bool divides(RowId before, const PartialEnd& part) const {
    const auto known = [&](RowId set) {
      return set > 0 && static_cast<std::uint64_t>(set) <= tables_.device_sets.size();
    };
    if (!known(part.devices) || !known(part.rest)) return false;
    const std::vector<RowId>& ended = tables_.device_set(part.devices);
    const std::vector<RowId>& rest = tables_.device_set(part.rest);
    std::vector<RowId> both;
    std::merge(ended.begin(), ended.end(), rest.begin(), rest.end(), std::back_inserter(both));
    return both == tables_.device_set(before);
  }

  Database& database_;
  const Tables& tables_;
  Statement statement_;
  bool has_row_ = false;
  std::optional<Error> failed_;
};

// Reads the rows of a table in the order of their ids, which is also the order of their begin.
template <typename Row>
class RowCursor {
 public:
  RowCursor(Database& database, const Tables& tables, const char* sql)
      : database_(database), tables_(tables) {
    if constexpr (std::is_same_v<Row, RecordedAllocation>) partial_ends_.emplace(database, tables);
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
    const RowId before = std::exchange(row_, {}).id;
    if (!has_row_) {
      if (!failed_ && partial_ends_ && !partial_ends_->is_done()) fail_at(before + 1);
      return;
    }
    row_.id = statement_.integer(0);
    // The ids must grow, because the pages of a damaged file may form a loop.
    if (row_.id > before && read()) return;
    has_row_ = false;
    if (!failed_ && partial_ends_) failed_ = partial_ends_->failed();
    if (!failed_) fail_at(row_.id);
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
    if (statement_.is_null(begin_column + 1)) return is_possible(row_.begin_ns);
    row_.end_ns = std::max(row_.begin_ns, statement_.integer(begin_column + 1));
    row_.ending = ending_named(statement_.text(begin_column + 2)).value_or(Ending::freed);
    return is_possible(row_.begin_ns) && is_possible(*row_.end_ns);
  }
  bool read();
  void fail_at(RowId row) {
    failed_ =
        Error{fmt::format("{} is damaged: row {} is impossible, or refers to what is not there",
                          database_.path(), row)};
  }
  // Returns false if the rows so far have more references than a recording of this size can have.
  bool spend(const Breadth& breadth, std::uint64_t count) {
    spent_ += count;
    if (spent_ <= breadth.always + breadth.per_byte * database_.file_bytes()) return true;
    failed_ = Error{fmt::format("{} is damaged, or made to be slow: {} for a file of its size",
                                database_.path(), breadth.what)};
    return false;
  }

  Database& database_;
  const Tables& tables_;
  Statement statement_;
  Row row_;
  bool has_row_ = false;
  std::uint64_t spent_ = 0;
  std::optional<PartialEndReader> partial_ends_;  // only for allocations
  std::optional<Error> failed_;
};

std::uint64_t buffers_on_cores(const Layout& layout) {
  std::uint64_t count = 0;
  for (const RecordedCb& cb : layout) count += cb.cores.count();
  return count;
}

template <>
bool RowCursor<RecordedAllocation>::read() {
  row_.number = static_cast<std::uint64_t>(statement_.integer(3));
  if (!statement_.is_null(4)) row_.address = static_cast<std::uint64_t>(statement_.integer(4));
  if (!refer(1, tables_.device_sets, row_.devices) || !refer(2, tables_.requests, row_.request) ||
      !read_life(5) || !partial_ends_->read(row_)) {
    return false;
  }
  std::size_t devices = tables_.device_set(row_.devices).size();
  for (const PartialEnd& part : row_.partial_ends) devices += tables_.device_set(part.rest).size();
  return spend(kDevicesOfAllocations, devices);
}

template <>
bool RowCursor<RecordedProgram>::read() {
  row_.number = static_cast<std::uint64_t>(statement_.integer(3));
  return refer(1, tables_.devices, row_.device) && refer(2, tables_.layouts, row_.layout, true) &&
         refer(4, tables_.texts, row_.name, true) && refer(5, tables_.scopes, row_.scope, true) &&
         read_life(6) &&
         (row_.layout == 0 ||
          spend(kBuffersOfPrograms, buffers_on_cores(tables_.layout(row_.layout))));
}

template <>
bool RowCursor<Dispatch>::read() {
  row_.time_ns = statement_.integer(1);
  return is_possible(row_.time_ns) && refer(2, tables_.device_sets, row_.devices) &&
         refer(3, tables_.launches, row_.launch) &&
         tables_.launch(row_.launch).programs.size() * tables_.device_set(row_.devices).size() <=
             kMaxDispatched;
}

std::size_t partial_ends_of(const RecordedProgram&) { return 0; }
std::size_t partial_ends_of(const RecordedAllocation& row) { return row.partial_ends.size(); }

// Returns the time of an end of a row: of a partial end, or of the last end, which may be unknown.
std::optional<Time> end_of(const RecordedProgram& row, std::size_t) { return row.end_ns; }
std::optional<Time> end_of(const RecordedAllocation& row, std::size_t end) {
  return end < row.partial_ends.size() ? row.partial_ends[end].end_ns : row.end_ns;
}

// The live rows, ordered by their next end; rows with the same end are ordered by their id.
template <typename Row>
class Ends {
 public:
  struct EndingRow {
    Row row;
    std::size_t next = 0;  // how many of the partial ends are over
  };

  void add(const Row& row) {
    if (!end_of(row, 0)) return;
    std::uint32_t place = static_cast<std::uint32_t>(rows_.size());
    if (free_.empty()) {
      rows_.push_back({row});
    } else {
      place = free_.back();
      free_.pop_back();
      rows_[place] = {row};
    }
    push(place);
  }
  [[nodiscard]] const EndingRow* next() const {
    return heap_.empty() ? nullptr : &rows_[heap_.top().place];
  }
  [[nodiscard]] Time time() const { return heap_.top().time; }
  void pop() {
    const std::uint32_t place = heap_.top().place;
    heap_.pop();
    EndingRow& ending = rows_[place];
    if (ending.next++ < partial_ends_of(ending.row)) {
      push(place);
    } else {
      free_.push_back(place);
    }
  }

 private:
  void push(std::uint32_t place) {
    const EndingRow& ending = rows_[place];
    if (const auto time = end_of(ending.row, ending.next)) {
      heap_.push({*time, ending.row.id, place});
    }
  }

  struct End {
    Time time = 0;
    RowId id = 0;
    // Index into rows_. The heap does not contain the rows, because rows are large and a heap moves
    // its elements.
    std::uint32_t place = 0;
    bool operator>(const End& other) const {
      return time != other.time ? time > other.time : id > other.id;
    }
  };
  std::priority_queue<End, std::vector<End>, std::greater<>> heap_;
  std::vector<EndingRow> rows_;
  std::vector<std::uint32_t> free_;
};

// Returns the events of the tables that are in memory, in order of time.
std::vector<Event> rare_events(const Tables& tables) {
  std::vector<Event> events;
  const auto add = [&](Event::Type type, Time time) -> Event& {
    Event& event = events.emplace_back();
    event.type = type;
    event.time_ns = time;
    return event;
  };
  for (const RecordedProcess& process : tables.processes) {
    add(Event::Type::process_begin, process.begin_ns).process = &process;
    if (process.end_ns) add(Event::Type::process_end, *process.end_ns).process = &process;
  }
  for (const RecordedDevice& device : tables.devices) {
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

}  // namespace

// Merges the events of all sources by time.
class Story::Pass {
 public:
  Pass(Database& database, const Tables& tables, Telling telling)
      : allocations_(database, tables, kAllocationRows),
        programs_(database, tables, kProgramRows),
        dispatches_(database, tables,
                    telling == Telling::everything ? kDispatchRows : kNoDispatchRows),
        rare_(rare_events(tables)) {
    for (std::size_t source = 0; source < kSources; ++source) look_at(source);
    choose();
  }

  [[nodiscard]] const Event* next() const { return has_event_ ? &event_ : nullptr; }

  void advance() {
    switch (event_.type) {
      case Event::Type::free:
        allocation_ends_.pop();
        look_at(kAllocationEnds);
        break;
      case Event::Type::remove:
        program_ends_.pop();
        look_at(kProgramEnds);
        break;
      case Event::Type::allocate:
        allocation_ends_.add(*allocations_.row());
        look_at(kAllocationEnds);
        take(allocations_, kAllocations);
        break;
      case Event::Type::place:
        program_ends_.add(*programs_.row());
        look_at(kProgramEnds);
        take(programs_, kPrograms);
        break;
      case Event::Type::dispatch:
        take(dispatches_, kDispatches);
        break;
      default:
        ++next_rare_;
        look_at(kRare);
    }
    choose();
  }

  [[nodiscard]] std::uint64_t rows_read() const { return rows_read_; }
  [[nodiscard]] std::optional<Error> failed() const {
    if (allocations_.failed()) return allocations_.failed();
    if (programs_.failed()) return programs_.failed();
    return dispatches_.failed();
  }

 private:
  [[nodiscard]] bool any_failed() const {
    return allocations_.failed() || programs_.failed() || dispatches_.failed();
  }

  enum Source : std::size_t {
    kAllocationEnds,
    kProgramEnds,
    kRare,
    kAllocations,
    kPrograms,
    kDispatches,
  };
  static constexpr std::size_t kSources = 6;
  static constexpr auto kNever = std::pair(std::numeric_limits<Time>::max(), Event::Type::mark);

  template <typename Row>
  void take(RowCursor<Row>& cursor, std::size_t source) {
    cursor.advance();
    ++rows_read_;
    look_at(source);
  }

  // Updates the time of the next event of a source.
  void look_at(std::size_t source) {
    const auto note = [&](Event::Type type, const auto* row, const auto& time) {
      there_[source] = row != nullptr;
      next_[source] = row != nullptr ? std::pair(time(*row), type) : kNever;
    };
    const auto end_in = [](const auto& ends) { return [&](const auto&) { return ends.time(); }; };
    const auto begin = [](const auto& row) { return row.begin_ns; };
    const auto moment = [](const auto& row) { return row.time_ns; };
    const Event* rare = next_rare_ < rare_.size() ? &rare_[next_rare_] : nullptr;
    switch (source) {
      case kAllocationEnds:
        return note(Event::Type::free, allocation_ends_.next(), end_in(allocation_ends_));
      case kProgramEnds:
        return note(Event::Type::remove, program_ends_.next(), end_in(program_ends_));
      case kRare:
        return note(rare != nullptr ? rare->type : Event::Type::mark, rare, moment);
      case kAllocations:
        return note(Event::Type::allocate, allocations_.row(), begin);
      case kPrograms:
        return note(Event::Type::place, programs_.row(), begin);
      default:
        return note(Event::Type::dispatch, dispatches_.row(), moment);
    }
  }

  // Makes the earliest event of all sources the next event.
  void choose() {
    std::size_t first = kSources;
    for (std::size_t source = 0; source < kSources; ++source) {
      if (there_[source] && (first == kSources || next_[source] < next_[first])) first = source;
    }
    has_event_ = first != kSources && !any_failed();
    if (!has_event_) return;
    if (first == kRare) {
      event_ = rare_[next_rare_];
      return;
    }
    event_.time_ns = next_[first].first;
    event_.type = next_[first].second;
    event_.allocation = first == kAllocationEnds ? nullptr : allocations_.row();
    event_.before = event_.rest = 0;
    event_.program = first == kProgramEnds ? &program_ends_.next()->row : programs_.row();
    event_.dispatch = dispatches_.row();
    if (first == kAllocationEnds) set_end(*allocation_ends_.next());
  }

  // Makes the next end of an allocation the event.
  void set_end(const Ends<RecordedAllocation>::EndingRow& ending) {
    const RecordedAllocation& row = ending.row;
    event_.allocation = &row;
    event_.before = row.devices;
    if (row.partial_ends.empty()) return;
    if (ending.next > 0) event_.before = row.partial_ends[ending.next - 1].rest;
    ended_ = row;
    ended_.partial_ends.clear();
    ended_.devices = event_.before;
    if (ending.next < row.partial_ends.size()) {
      const PartialEnd& part = row.partial_ends[ending.next];
      ended_.devices = part.devices;
      ended_.end_ns = part.end_ns;
      ended_.ending = part.ending;
      event_.rest = part.rest;
    }
    event_.allocation = &ended_;
  }

  RowCursor<RecordedAllocation> allocations_;
  RowCursor<RecordedProgram> programs_;
  RowCursor<Dispatch> dispatches_;
  Ends<RecordedAllocation> allocation_ends_;
  Ends<RecordedProgram> program_ends_;
  std::vector<Event> rare_;
  std::size_t next_rare_ = 0;
  std::uint64_t rows_read_ = 0;
  std::array<std::pair<Time, Event::Type>, kSources> next_{};
  std::array<bool, kSources> there_{};
  Event event_;
  RecordedAllocation ended_;  // the part of an allocation that ends on some of its devices
  bool has_event_ = false;
};

Story::Story(Database& database, const Tables& tables, Telling telling)
    : pass_(std::make_unique<Pass>(database, tables, telling)) {}
Story::~Story() = default;

const Event* Story::next() const { return pass_->next(); }
void Story::advance() { pass_->advance(); }
std::uint64_t Story::rows_read() const { return pass_->rows_read(); }
std::optional<Error> Story::failed() const { return pass_->failed(); }

namespace {

template <typename Row>
Result<void> visit_rows(Database& database, const Tables& tables, const char* sql,
                        const std::function<void(const Row&)>& visit) {
  RowCursor<Row> rows(database, tables, sql);
  for (; rows.row() != nullptr; rows.advance()) visit(*rows.row());
  if (rows.failed()) return *rows.failed();
  return {};
}

}  // namespace

Result<void> for_each_row(Database& database, const Tables& tables,
                          const std::function<void(const RecordedAllocation&)>& visit) {
  return visit_rows(database, tables, kAllocationRows, visit);
}

Result<void> for_each_row(Database& database, const Tables& tables,
                          const std::function<void(const RecordedProgram&)>& visit) {
  return visit_rows(database, tables, kProgramRows, visit);
}

}  // namespace ttmem::recording
