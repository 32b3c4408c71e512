// SPDX-License-Identifier: Apache-2.0
#include "read/recording/file/writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"
#include "read/recording/file/core_text.hpp"
#include "read/recording/file/database.hpp"
#include "read/recording/file/schema.hpp"

namespace ttmem::recording {
namespace {

// The maximum number of rows that wait for the next commit.
constexpr std::size_t kMaxPending = 100'000;

struct HashOf {
  std::size_t operator()(const RecordedRequest& r) const {
    std::size_t seed = boost::hash_value(r.bytes);
    for (const std::uint64_t part :
         {r.bytes_per_bank, std::uint64_t{r.banks} << 32 | r.cores,
          std::uint64_t{r.label} << 32 | r.scope, std::uint64_t{static_cast<std::uint8_t>(r.kind)},
          std::uint64_t{r.role}, r.layout.page_bytes}) {
      boost::hash_combine(seed, part);
    }
    return seed;
  }
  std::size_t operator()(const CoreMask& cores) const {
    return boost::hash_range(cores.words.begin(), cores.words.end());
  }
  std::size_t operator()(const Layout& layout) const {
    std::size_t seed = layout.size();
    for (const RecordedCb& cb : layout) {
      boost::hash_combine(seed, cb.address);
      boost::hash_combine(seed, cb.bytes);
      boost::hash_combine(seed, (*this)(cb.cores));
    }
    return seed;
  }
  std::size_t operator()(const Launch& launch) const {
    return boost::hash_range(launch.programs.begin(), launch.programs.end());
  }
  std::size_t operator()(const std::vector<RowId>& rows) const {
    return boost::hash_range(rows.begin(), rows.end());
  }
  std::size_t operator()(const std::string& text) const { return boost::hash_value(text); }
};

std::optional<Time> possible_end(std::optional<Time> time) {
  return time ? std::optional(possible(*time)) : std::nullopt;
}

// The rows of values. Equal values share one row, and rows count from 1.
template <typename Value>
class Known {
 public:
  // Returns the row of `value`, and true if the row is new.
  std::pair<RowId, bool> find_or_add(const Value& value) {
    const auto [at, is_new] = rows_.try_emplace(value, static_cast<RowId>(rows_.size() + 1));
    return {at->second, is_new};
  }

 private:
  boost::unordered_flat_map<Value, RowId, HashOf> rows_;
};

// Rows that begin and end. Keeps the rows that began since the last commit; older rows are in the
// file.
template <typename Row>
class Lives {
 public:
  RowId begin(Row row) {
    row.begin_ns = last_ = std::max(last_, possible(row.begin_ns));
    row.id = first_ + static_cast<RowId>(waiting_.size());
    waiting_.push_back(std::move(row));
    return waiting_.back().id;
  }
  // Returns null if the row is already in the file.
  [[nodiscard]] Row* waiting(RowId row) {
    return row >= first_ ? &waiting_[static_cast<std::size_t>(row - first_)] : nullptr;
  }
  [[nodiscard]] bool full() const { return waiting_.size() >= kMaxPending; }
  [[nodiscard]] const std::vector<Row>& rows() const { return waiting_; }
  void written() {
    first_ += static_cast<RowId>(waiting_.size());
    waiting_.clear();
  }

 private:
  RowId first_ = 1;
  std::vector<Row> waiting_;
  Time last_ = -kMaxTime;
};

// A value that is stored as null if it is 0 or an empty text.
template <typename T>
struct OrNull {
  T value;
};
OrNull<std::string_view> or_null(Ending ending) { return {name_of(ending)}; }
template <typename T>
OrNull<T> or_null(T value) {
  return {std::move(value)};
}

template <typename T>
void bind(Statement& statement, int at, const T& value) {
  statement.bind(at, value);
}
template <typename T>
void bind(Statement& statement, int at, const OrNull<T>& value) {
  statement.bind_or_null(at, value.value);
}

}  // namespace

class Writer::File {
 public:
  File(Database database, bool aggregate) : database_(std::move(database)), aggregate_(aggregate) {}

  [[nodiscard]] static Result<std::unique_ptr<File>> make(const std::string& path, const Run& run);
  [[nodiscard]] Result<void> prepare();

  // Executes a statement with these arguments, unless an earlier call failed.
  template <typename... Values>
  void run(Statement& statement, const Values&... values) {
    if (failed_) return;
    int at = 0;
    (bind(statement, ++at, values), ...);
    if (!statement.run()) failed_ = database_.error();
  }
  // Executes a statement at the next commit. This keeps transactions short: readers hardly wait,
  // and a kill hardly ever leaves a transaction that must be undone.
  template <typename... Values>
  void later(Statement& statement, Values... values) {
    if (failed_) return;
    waiting_.push_back([this, &statement, values...] { run(statement, values...); });
  }
  void execute(const char* sql) {
    if (failed_) return;
    const auto done = database_.execute(sql);
    if (!done) failed_ = done.error();
  }

  template <typename Row>
  RowId begin(Lives<Row>& lives, const Row& row) {
    // If this commit fails, the next commit() reports the failure.
    if (lives.full()) static_cast<void>(commit());
    return lives.begin(row);
  }
  // Sets the end of a row. Returns false if the row is already in the file.
  template <typename Row>
  [[nodiscard]] bool end_waiting(Lives<Row>& lives, RowId row, Time time, Ending ending) {
    Row* const waiting = lives.waiting(row);
    if (waiting == nullptr) return false;
    waiting->end_ns = std::max(possible(time), waiting->begin_ns);
    waiting->ending = ending;
    return true;
  }
  void end_allocation(RowId row, Time time, Ending ending);
  void end_program(RowId row, Time time, Ending ending);
  void end_part(RowId row, PartialEnd part);
  // Returns true if a row with this ending is left out. An aggregate keeps only the rows of objects
  // that were not freed.
  [[nodiscard]] bool drops(Ending ending) const {
    return aggregate_ && ending != Ending::none && !was_left(ending);
  }
  [[nodiscard]] bool drops(const RecordedProgram& row) const { return drops(row.ending); }
  // Keeps an allocation that was left on one of its devices, even if it was freed on the others.
  [[nodiscard]] bool drops(const RecordedAllocation& row) const {
    return drops(row.ending) &&
           std::none_of(row.partial_ends.begin(), row.partial_ends.end(),
                        [](const PartialEnd& part) { return was_left(part.ending); });
  }
  template <typename Row>
  void write(Lives<Row>& lives) {
    for (const Row& row : lives.rows()) {
      if (!drops(row)) insert(row);
    }
    lives.written();
  }
  void note(RowId row, const PartialEnd& part);
  void insert(const RecordedAllocation& row);
  void insert(const RecordedProgram& row);
  void write_run(const Run& run);
  Result<void> commit();
  // Writes all waiting rows and ends the transaction.
  Result<void> end_transaction();

  Database database_;
  bool aggregate_;
  std::optional<Error> failed_;
  std::vector<std::function<void()>> waiting_;  // calls for the next commit

  Known<std::string> texts_;
  Known<std::string> scopes_;
  Known<CoreMask> core_sets_;
  Known<RecordedRequest> requests_;
  Known<Layout> layouts_;
  Known<Launch> launches_;
  Known<std::vector<RowId>> device_sets_;
  RowId processes_ = 0;
  RowId devices_ = 0;
  Lives<RecordedAllocation> allocations_;
  Lives<RecordedProgram> programs_;
  // The live allocations in the file of an aggregate that have partial ends: true if the allocation
  // was left on one of these devices.
  boost::unordered_flat_map<RowId, bool> ended_in_part_;

  Statement delete_run_, insert_run_, insert_not_tracked_, count_, insert_text_, insert_scope_,
      insert_visits_, insert_core_set_, insert_request_, insert_layout_, insert_cb_, insert_launch_,
      insert_launch_program_, insert_member_, insert_process_, insert_device_, insert_allocation_,
      insert_program_, insert_dispatch_, insert_mark_, insert_failure_, insert_gap_, insert_sample_,
      insert_partial_end_, end_allocation_, end_program_, remove_allocation_, remove_partial_ends_,
      remove_program_;
};

// Creates the tables in one transaction: a killed recorder leaves a recording or an empty file.
Result<std::unique_ptr<Writer::File>> Writer::File::make(const std::string& path, const Run& run) {
  auto database = Database::open(path, Database::Mode::create);
  if (!database) return database.error();
  // SQLite does not wait for the disk. The journal still protects the file if the recorder is
  // killed. Waiting would only help if the machine fails.
  for (const char* sql : {"PRAGMA synchronous=OFF; PRAGMA page_size=8192; BEGIN", kCreateTables}) {
    if (const auto done = database->execute(sql); !done) return done.error();
  }
  auto file = std::make_unique<File>(std::move(*database), run.aggregate);
  if (const auto done = file->prepare(); !done) return done.error();
  file->write_run(run);
  if (const auto done = file->end_transaction(); !done) return done.error();
  return file;
}

Result<void> Writer::File::prepare() {
  const std::pair<Statement&, const char*> statements[] = {
      {delete_run_, "DELETE FROM run"},
      {insert_run_, "INSERT INTO run VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12)"},
      {count_, "UPDATE run SET events=?1, lost_events=?2"},
      {insert_not_tracked_, "INSERT OR REPLACE INTO not_tracked VALUES (?1,?2)"},
      {insert_text_, "INSERT INTO texts VALUES (?1,?2)"},
      {insert_scope_, "INSERT INTO scopes VALUES (?1,?2)"},
      {insert_visits_, "INSERT OR REPLACE INTO scope_visits VALUES (?1,?2,?3,?4,?5,?6)"},
      {insert_core_set_, "INSERT INTO core_sets VALUES (?1,?2)"},
      {insert_request_,
       "INSERT INTO requests VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15)"},
      {insert_layout_, "INSERT INTO layouts VALUES (?1,?2)"},
      {insert_cb_, "INSERT INTO circular_buffers VALUES (?1,?2,?3,?4,?5,?6)"},
      {insert_launch_, "INSERT INTO launches VALUES (?1,?2)"},
      {insert_launch_program_, "INSERT INTO launch_programs VALUES (?1,?2,?3)"},
      {insert_member_, "INSERT INTO device_sets VALUES (?1,?2)"},
      {insert_process_, "INSERT OR REPLACE INTO processes VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9)"},
      {insert_device_,
       "INSERT OR REPLACE INTO devices "
       "VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20)"},
      {insert_allocation_, "INSERT INTO allocations VALUES (?1,?2,?3,?4,?5,?6,?7,?8)"},
      {insert_partial_end_,
       "INSERT INTO partial_ends SELECT ?1, count(*), ?2, ?3, ?4, ?5 FROM partial_ends "
       "WHERE allocation=?1"},
      {insert_program_, "INSERT INTO programs VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9)"},
      {insert_dispatch_, "INSERT INTO dispatches VALUES (NULL,?1,?2,?3)"},
      {insert_mark_, "INSERT INTO marks VALUES (NULL,?1,?2,?3)"},
      {insert_failure_, "INSERT INTO failures VALUES (NULL,?1,?2,?3)"},
      {insert_gap_, "INSERT INTO gaps VALUES (NULL,?1,?2,?3,?4)"},
      {insert_sample_, "INSERT INTO timeline VALUES (NULL,?1,?2,?3,?4,?5)"},
      {end_allocation_, "UPDATE allocations SET end_ns=?1, ending=?2 WHERE id=?3"},
      {end_program_, "UPDATE programs SET end_ns=?1, ending=?2 WHERE id=?3"},
      {remove_allocation_, "DELETE FROM allocations WHERE id=?1"},
      {remove_partial_ends_, "DELETE FROM partial_ends WHERE allocation=?1"},
      {remove_program_, "DELETE FROM programs WHERE id=?1"},
  };
  for (const auto& [statement, sql] : statements) {
    auto prepared = database_.prepare(sql);
    if (!prepared) return prepared.error();
    statement = std::move(*prepared);
  }
  return {};
}

void Writer::File::insert(const RecordedAllocation& row) {
  run(insert_allocation_, row.id, row.devices, row.request, row.number, row.address, row.begin_ns,
      row.end_ns, or_null(row.ending));
  for (const PartialEnd& part : row.partial_ends) {
    run(insert_partial_end_, row.id, part.devices, part.rest, part.end_ns, or_null(part.ending));
    note(row.id, part);
  }
}

void Writer::File::insert(const RecordedProgram& row) {
  run(insert_program_, row.id, row.device, or_null(row.layout), row.number, or_null(row.name),
      or_null(row.scope), row.begin_ns, row.end_ns, or_null(row.ending));
}

void Writer::File::note(RowId row, const PartialEnd& part) {
  if (aggregate_) ended_in_part_[row] |= was_left(part.ending);
}

void Writer::File::end_part(RowId row, PartialEnd part) {
  part.end_ns = possible(part.end_ns);
  if (RecordedAllocation* const waiting = allocations_.waiting(row)) {
    part.end_ns = std::max(part.end_ns, waiting->begin_ns);
    waiting->partial_ends.push_back(part);
    return;
  }
  later(insert_partial_end_, row, part.devices, part.rest, part.end_ns, or_null(part.ending));
  note(row, part);
}

void Writer::File::end_allocation(RowId row, Time time, Ending ending) {
  if (end_waiting(allocations_, row, time, ending)) return;
  const auto parts = ended_in_part_.find(row);
  const bool has_parts = parts != ended_in_part_.end();
  const bool was_left_in_part = has_parts && parts->second;
  if (has_parts) ended_in_part_.erase(parts);
  if (!drops(ending) || was_left_in_part) {
    return later(end_allocation_, possible(time), or_null(ending), row);
  }
  later(remove_allocation_, row);
  if (has_parts) later(remove_partial_ends_, row);
}

void Writer::File::end_program(RowId row, Time time, Ending ending) {
  if (end_waiting(programs_, row, time, ending)) return;
  if (drops(ending)) return later(remove_program_, row);
  later(end_program_, possible(time), or_null(ending), row);
}

void Writer::File::write_run(const Run& run) {
  later(delete_run_);
  later(insert_run_, kSchema, run.version, run.source, or_null(run.command), run.host,
        run.started_unix_ns, possible_end(run.ended_ns), run.exit_code, run.events, run.lost_events,
        run.aggregate, or_null(run.imported));
  for (const auto& [reason, processes] : run.not_tracked) {
    later(insert_not_tracked_, reason, processes);
  }
}

Result<void> Writer::File::commit() {
  execute("BEGIN");
  return end_transaction();
}

Result<void> Writer::File::end_transaction() {
  for (const auto& statement : waiting_) statement();
  waiting_.clear();
  write(allocations_);
  write(programs_);
  execute("COMMIT");
  if (failed_) return *failed_;
  return {};
}

Result<void> Writer::may_create(const std::string& path, bool overwrite) {
  struct stat there {};
  if (::lstat(path.c_str(), &there) != 0) {
    if (errno == ENOENT) return {};
    return Error{fmt::format("cannot write {}: {}", path, std::strerror(errno))};
  }
  if (!S_ISREG(there.st_mode)) {
    return Error{
        fmt::format("cannot write {}: it is a folder, a link or a device; name a file", path)};
  }
  if (!overwrite) return Error{fmt::format("{} is there already; use -f to overwrite it", path)};
  return {};
}

namespace {

// Removes the files beside the recording that SQLite would mistake for its own files. SQLite would
// delete or change such files.
Result<void> remove_sidecars(const std::string& path) {
  for (const char* const suffix : {"-journal", "-wal"}) {
    const std::string sidecar = path + suffix;
    struct stat there {};
    if (::lstat(sidecar.c_str(), &there) != 0 && errno == ENOENT) continue;
    if (::unlink(sidecar.c_str()) == 0 || errno == ENOENT) continue;
    return Error{
        fmt::format("cannot write {}: {} is in the way, and cannot be removed: {}; name "
                    "another file",
                    path, sidecar, std::strerror(errno))};
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Writer>> Writer::create(const std::string& path, const Run& run,
                                               bool overwrite) {
  if (const auto may = may_create(path, overwrite); !may) return may.error();
  if (const auto removed = remove_sidecars(path); !removed) return removed.error();
  if (overwrite) ::unlink(path.c_str());
  const UniqueFd claimed(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644));
  if (!claimed) return Error{fmt::format("cannot write {}: {}", path, std::strerror(errno))};
  // Catches SIGXFSZ. A write beyond the file size limit of the shell then returns an error, like a
  // write to a full disk. A started command does not inherit the handler.
  std::signal(SIGXFSZ, [](int) {});
  auto file = File::make(path, run);
  if (!file) {
    ::unlink(path.c_str());
    return file.error();
  }
  return std::unique_ptr<Writer>(new Writer(std::move(*file)));
}

Writer::Writer(std::unique_ptr<File> file) : file_(std::move(file)) {}
Writer::~Writer() = default;

std::uint32_t Writer::text(std::string_view text) {
  if (text.empty()) return 0;
  std::string own(text);
  const auto [row, is_new] = file_->texts_.find_or_add(own);
  if (is_new) file_->later(file_->insert_text_, row, std::move(own));
  return static_cast<std::uint32_t>(row);
}

std::uint32_t Writer::scope(std::string_view path) {
  if (path.empty()) return 0;
  std::string own(path);
  const auto [row, is_new] = file_->scopes_.find_or_add(own);
  if (is_new) file_->later(file_->insert_scope_, row, std::move(own));
  return static_cast<std::uint32_t>(row);
}

std::uint32_t Writer::core_set(const CoreMask& cores) {
  const auto [row, is_new] = file_->core_sets_.find_or_add(cores);
  if (is_new) file_->later(file_->insert_core_set_, row, core_text(cores));
  return static_cast<std::uint32_t>(row);
}

RowId Writer::request(const RecordedRequest& request) {
  const auto [row, is_new] = file_->requests_.find_or_add(request);
  if (!is_new) return row;
  const auto role = request.kind == Kind::kernel ? std::optional<int>(request.role) : std::nullopt;
  const auto per_bank =
      request.has_bytes_per_bank ? std::optional(request.bytes_per_bank) : std::nullopt;
  file_->later(file_->insert_request_, row, name_of(request.kind), role, request.bytes, per_bank,
               or_null(request.banks), or_null(request.cores), request.own_banks, request.estimate,
               or_null(request.label), or_null(request.scope),
               or_null(name_of(request.layout.spread)), or_null(name_of(request.layout.direction)),
               or_null(request.layout.page_bytes), or_null(request.layout.shard_banks));
  return row;
}

RowId Writer::layout(const Layout& layout) {
  const auto [row, is_new] = file_->layouts_.find_or_add(layout);
  if (!is_new) return row;
  file_->later(file_->insert_layout_, row, std::uint64_t{layout.size()});
  std::uint64_t position = 0;
  for (const RecordedCb& cb : layout) {
    file_->later(file_->insert_cb_, row, position++, cb.address, cb.bytes, core_text(cb.cores),
                 cb.global);
  }
  return row;
}

RowId Writer::launch(const Launch& launch) {
  const auto [row, is_new] = file_->launches_.find_or_add(launch);
  if (!is_new) return row;
  file_->later(file_->insert_launch_, row, launch.trace);
  std::uint64_t position = 0;
  for (const std::uint64_t program : launch.programs) {
    file_->later(file_->insert_launch_program_, row, position++, program);
  }
  return row;
}

RowId Writer::device_set(std::span<const RowId> devices) {
  const auto [row, is_new] =
      file_->device_sets_.find_or_add(std::vector<RowId>(devices.begin(), devices.end()));
  if (!is_new) return row;
  for (const RowId device : devices) file_->later(file_->insert_member_, row, device);
  return row;
}

RowId Writer::begin(const RecordedProcess& process) {
  RecordedProcess row = process;
  row.id = ++file_->processes_;
  change(row);
  return row.id;
}

void Writer::change(const RecordedProcess& row) {
  const auto killed = row.killed ? std::optional<int>(*row.killed) : std::nullopt;
  file_->later(file_->insert_process_, row.id, row.pid, row.name, row.command, row.user,
               possible(row.begin_ns), possible_end(row.end_ns), killed, or_null(row.signal));
}

RowId Writer::begin(const RecordedDevice& device) {
  RecordedDevice row = device;
  row.id = ++file_->devices_;
  change(row);
  return row.id;
}

void Writer::change(const RecordedDevice& row) {
  // The sizes of the L1_SMALL region and the trace region are known only if the process reported
  // the L1 size. A known size of 0 means that the process asked for no such region.
  const auto region = [&](std::uint64_t bytes) {
    return row.l1_bytes_per_core != 0 ? std::optional(bytes) : std::nullopt;
  };
  file_->later(file_->insert_device_, row.id, row.process, row.number,
               or_null(row.uid != 0 ? fmt::format("{:#x}", row.uid) : ""), or_null(row.arch),
               or_null(row.board), or_null(std::uint32_t{row.grid_x}),
               or_null(std::uint32_t{row.grid_y}), or_null(row.l1_bytes_per_core),
               or_null(row.l1_base), region(row.l1_small_bytes_per_core),
               or_null(row.dram_channels), or_null(row.dram_bytes_per_channel),
               region(row.trace_region_bytes), row.known_kinds, row.resident_known, row.cb_estimate,
               possible(row.begin_ns), possible_end(row.end_ns), row.l1_peak_bytes);
}

RowId Writer::begin(const RecordedAllocation& row) {
  return file_->begin(file_->allocations_, row);
}
RowId Writer::begin(const RecordedProgram& row) { return file_->begin(file_->programs_, row); }
void Writer::end_allocation(RowId row, Time time, Ending ending) {
  file_->end_allocation(row, time, ending);
}
void Writer::end_part(RowId allocation, const PartialEnd& part) {
  file_->end_part(allocation, part);
}
void Writer::end_program(RowId row, Time time, Ending ending) {
  file_->end_program(row, time, ending);
}

void Writer::change(const ScopeOfProcess& row) {
  const auto before =
      row.visits.entered > 1 ? std::optional(possible(row.visits.before_ns)) : std::nullopt;
  file_->later(file_->insert_visits_, row.process, row.scope, row.visits.entered, row.visits.open,
               possible(row.visits.last_ns), before);
}

void Writer::add(const Dispatch& row) {
  if (file_->aggregate_) return;
  file_->later(file_->insert_dispatch_, possible(row.time_ns), row.devices, row.launch);
}
void Writer::add(const Mark& row) {
  file_->later(file_->insert_mark_, possible(row.time_ns), or_null(row.process), row.name);
}
void Writer::add(const RecordedFailure& row) {
  file_->later(file_->insert_failure_, possible(row.time_ns), row.process, or_null(row.text));
}
void Writer::add(const Gap& row) {
  file_->later(file_->insert_gap_, row.process, possible(row.begin_ns), possible(row.end_ns),
               row.lost_events);
}
void Writer::add(const RecordedSample& row) {
  file_->later(file_->insert_sample_, possible(row.time_ns), row.device, name_of(row.kind),
               row.used_bytes, row.peak_bytes);
}

void Writer::count(std::uint64_t events, std::uint64_t lost_events) {
  file_->later(file_->count_, events, lost_events);
}

Result<void> Writer::commit() { return file_->commit(); }

Result<void> Writer::finish(const Run& run) {
  file_->write_run(run);
  return file_->commit();
}

}  // namespace ttmem::recording
