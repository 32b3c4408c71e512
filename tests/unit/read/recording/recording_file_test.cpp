// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/limits.hpp"
#include "base/unique_fd.hpp"
#include "read/recording/file/core_text.hpp"
#include "read/recording/file/database.hpp"
#include "read/recording/file/reader.hpp"
#include "read/recording/file/writer.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::recording {
namespace {

class RecordingFile : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return directory_.path() + "/run.ttmem"; }
  [[nodiscard]] std::unique_ptr<Writer> writer(bool aggregate = false, bool overwrite = false) {
    recording::Run run;
    run.command = "model";
    run.aggregate = aggregate;
    auto made = Writer::create(path(), run, overwrite);
    EXPECT_TRUE(made) << made.error().message;
    return std::move(*made);
  }
  [[nodiscard]] std::unique_ptr<Reader> reader() const {
    auto opened = Reader::open(path());
    EXPECT_TRUE(opened) << opened.error().message;
    return std::move(*opened);
  }

  TemporaryDirectory directory_;
};

// Runs SQL on a file, as an attacker could.
void change(const std::string& path, const char* sql) {
  auto database = Database::open(path, Database::Mode::create);
  ASSERT_TRUE(database);
  const auto done = database->execute(sql);
  ASSERT_TRUE(done) << done.error().message;
}

// Adds a process with one device. Returns the id of the set that has only that device.
RowId one_device(Writer& writer) {
  const RowId process = writer.begin(RecordedProcess{.pid = 7, .name = "model"});
  const RowId device = writer.begin(RecordedDevice{.process = process, .number = 3, .uid = 0xabc});
  return writer.device_set(std::vector<RowId>{device});
}

// Returns lines such as "allocate 5", where 5 is the number of the buffer.
std::vector<std::string> story(const Reader& reader) {
  std::vector<std::string> lines;
  const auto done = reader.for_each_event([&](const Event& event) {
    const std::string at = " @" + std::to_string(event.time_ns);
    if (event.type == Event::Type::allocate) {
      lines.push_back("allocate " + std::to_string(event.allocation->number) + at);
    } else if (event.type == Event::Type::free) {
      lines.push_back("free " + std::to_string(event.allocation->number) + at);
    } else if (event.type == Event::Type::mark) {
      lines.push_back("mark " + event.mark->name + at);
    }
    return true;
  });
  EXPECT_TRUE(done);
  return lines;
}

TEST_F(RecordingFile, KeepsHowAProcessEnded) {
  const auto writer = this->writer();
  RecordedProcess process{.pid = 7, .end_ns = 9};
  for (const std::optional<bool> killed : {std::optional(true), std::optional(false), {}}) {
    process.id = writer->begin(process);
    process.killed = killed;
    process.signal = killed == true ? SIGSEGV : 0;
    writer->change(process);
  }
  ASSERT_TRUE(writer->finish({}));
  const auto reader = this->reader();
  EXPECT_EQ(reader->tables().process(1).killed, true);
  EXPECT_EQ(reader->tables().process(1).signal, SIGSEGV);
  EXPECT_EQ(reader->tables().process(2).killed, false);
  EXPECT_EQ(reader->tables().process(3).killed, std::nullopt);
  EXPECT_EQ(reader->tables().process(3).signal, 0);
}

TEST_F(RecordingFile, KeepsEverythingThatWasWritten) {
  const auto writer = this->writer();
  const RowId process = writer->begin(RecordedProcess{
      .pid = 7, .name = "model", .command = "model --big", .user = "ada", .begin_ns = 5});
  const RowId device = writer->begin(RecordedDevice{.process = process,
                                                    .number = 3,
                                                    .uid = 0xfedc'ba98'7654'3210,
                                                    .arch = "blackhole",
                                                    .grid_x = 14,
                                                    .grid_y = 10});
  CoreMask cores;
  cores.set(0);
  cores.set(1);
  cores.set(17);
  const RecordedRequest request{
      .kind = Kind::l1,
      .own_banks = true,
      .has_bytes_per_bank = true,
      .banks = 3,
      .cores = writer->core_set(cores),
      .label = writer->text("wqkv"),
      .scope = writer->scope("decoder.0/attention"),
      .bytes = 6000,
      .bytes_per_bank = 2048,
      .layout = {BufferLayout::Spread::sharded, BufferLayout::Direction::bottom_up, 7, 1088}};
  writer->begin(RecordedAllocation{.devices = writer->device_set(std::vector<RowId>{device}),
                                   .request = writer->request(request),
                                   .number = ~std::uint64_t{0},
                                   .address = 0x8000'0000'0000'0000});
  const Layout layout{{.address = 100, .bytes = 64, .global = true, .cores = cores}};
  writer->begin(RecordedProgram{.device = device, .layout = writer->layout(layout), .number = 9});
  writer->add(Dispatch{
      .time_ns = 8, .devices = 1, .launch = writer->launch({.trace = true, .programs = {9, 9}})});
  recording::Run run;
  run.ended_ns = 99;
  run.exit_code = 3;
  ASSERT_TRUE(writer->finish(run));

  const auto reader = this->reader();
  const Tables& tables = reader->tables();
  EXPECT_EQ(tables.run.ended_ns, 99);
  EXPECT_EQ(tables.run.exit_code, 3);
  EXPECT_EQ(tables.process(1).command, "model --big");
  EXPECT_EQ(tables.device(1).uid, 0xfedc'ba98'7654'3210);
  EXPECT_EQ(tables.request(1), request);
  EXPECT_EQ(tables.core_set(1), cores);
  EXPECT_EQ(tables.text(1), "wqkv");
  EXPECT_EQ(tables.scope(1), "decoder.0/attention");
  EXPECT_EQ(tables.layout(1), layout);
  EXPECT_EQ(tables.launch(1), (Launch{.trace = true, .programs = {9, 9}}));
  std::size_t seen = 0;
  ASSERT_TRUE(reader->for_each_event([&](const Event& event) {
    if (event.type != Event::Type::allocate) return true;
    ++seen;
    EXPECT_EQ(event.allocation->number, ~std::uint64_t{0});
    EXPECT_EQ(event.allocation->address, 0x8000'0000'0000'0000);
    return true;
  }));
  EXPECT_EQ(seen, 1U);
}

// The reader shortens long names, because thousands of rows may share one name.
TEST_F(RecordingFile, AnOverlongNameLosesItsMiddle) {
  const std::string longest(4096, 'x');
  const std::string longer = "begin" + std::string(100'000, 'x') + "end";
  {
    const auto writer = this->writer();
    const RowId process = writer->begin(
        RecordedProcess{.pid = 7, .name = longer, .command = longer, .user = longest});
    writer->begin(RecordedDevice{.process = process, .arch = longer, .board = longer});
    EXPECT_EQ(writer->text(longest), 1U);
    EXPECT_EQ(writer->text(longer), 2U);
    EXPECT_EQ(writer->scope(longer), 1U);
    ASSERT_TRUE(writer->commit());
  }
  const auto reader = this->reader();
  const Tables& tables = reader->tables();
  EXPECT_EQ(tables.text(1), longest);
  EXPECT_EQ(tables.process(1).user, longest);
  const std::string_view cut = tables.text(2);
  EXPECT_LE(cut.size(), longest.size());
  EXPECT_TRUE(cut.starts_with("beginx") && cut.ends_with("xend"));
  EXPECT_NE(cut.find("…"), std::string_view::npos);
  EXPECT_EQ(tables.scope(1), cut);
  EXPECT_EQ(tables.process(1).name, cut);
  EXPECT_EQ(tables.process(1).command, cut);
  EXPECT_EQ(tables.device(1).arch, cut);
  EXPECT_EQ(tables.device(1).board, cut);
}

TEST_F(RecordingFile, AnImpossiblePageSizeIsUnknown) {
  const auto writer = this->writer();
  const auto with_pages = [&](std::uint64_t page_bytes) {
    RecordedRequest request{.bytes = 4096};
    request.layout.page_bytes = page_bytes;
    return writer->request(request);
  };
  const RowId largest = with_pages(kMaxBytes);
  const RowId larger = with_pages(kMaxBytes + 1);
  const RowId negative = with_pages(~std::uint64_t{0});
  ASSERT_TRUE(writer->commit());
  const auto reader = this->reader();
  EXPECT_EQ(reader->tables().request(largest).layout.page_bytes, kMaxBytes);
  EXPECT_EQ(reader->tables().request(larger).layout.page_bytes, 0U);
  EXPECT_EQ(reader->tables().request(negative).layout.page_bytes, 0U);
}

TEST_F(RecordingFile, ReturnsEventsInOrder) {
  const auto writer = this->writer();
  const RowId devices = one_device(*writer);
  const RowId request = writer->request({.bytes = 10});
  const auto begin = [&](std::uint64_t number, Time time) {
    return writer->begin(RecordedAllocation{
        .devices = devices, .request = request, .number = number, .begin_ns = time});
  };
  const RowId long_life = begin(1, 10);
  const RowId short_life = begin(2, 20);
  writer->end_allocation(short_life, 30, Ending::freed);
  ASSERT_TRUE(writer->commit());
  writer->add(Mark{.time_ns = 35, .name = "half"});
  const RowId next = begin(3, 40);
  writer->end_allocation(long_life, 40, Ending::freed);
  writer->end_allocation(next, 41, Ending::freed);
  ASSERT_TRUE(writer->commit());
  EXPECT_EQ(story(*reader()), (std::vector<std::string>{"allocate 1 @10", "allocate 2 @20",
                                                        "free 2 @30", "mark half @35", "free 1 @40",
                                                        "allocate 3 @40", "free 3 @41"}));
}

TEST_F(RecordingFile, AnAggregateKeepsLiveAllocations) {
  const auto writer = this->writer(true);
  const RowId devices = one_device(*writer);
  const RowId request = writer->request({.bytes = 10});
  std::vector<RowId> rows;
  for (std::uint64_t i = 0; i < 4; ++i) {
    rows.push_back(writer->begin(
        RecordedAllocation{.devices = devices, .request = request, .number = i, .begin_ns = 1}));
  }
  writer->end_allocation(rows[0], 2, Ending::freed);
  ASSERT_TRUE(writer->commit());
  writer->end_allocation(rows[1], 3, Ending::freed);
  ASSERT_TRUE(writer->commit());
  EXPECT_EQ(story(*reader()), (std::vector<std::string>{"allocate 2 @1", "allocate 3 @1"}));
}

// A process with three devices, and a buffer of the mesh of all three.
struct BufferOfThree {
  explicit BufferOfThree(Writer& to) : writer(to) {
    const RowId process = writer.begin(RecordedProcess{.pid = 7, .name = "model"});
    for (std::uint32_t number = 0; number < 3; ++number) {
      devices.push_back(writer.begin(RecordedDevice{.process = process, .number = number}));
    }
    row = writer.begin(RecordedAllocation{.devices = set({0, 1, 2}),
                                          .request = writer.request({.bytes = 10}),
                                          .number = 5,
                                          .begin_ns = 10});
  }
  RowId set(const std::vector<std::size_t>& numbers) {
    std::vector<RowId> rows;
    for (const std::size_t number : numbers) rows.push_back(devices[number]);
    return writer.device_set(rows);
  }
  void end_on(const std::vector<std::size_t>& gone, const std::vector<std::size_t>& rest, Time time,
              Ending ending = Ending::device_closed) {
    writer.end_part(row,
                    {.devices = set(gone), .rest = set(rest), .end_ns = time, .ending = ending});
  }

  Writer& writer;
  std::vector<RowId> devices;
  RowId row = 0;
};

// Returns lines such as "free 1,2 of 0,1,2 rest 0 @5", with the numbers of the devices.
std::vector<std::string> mesh_story(const Reader& reader) {
  const auto numbers = [&](RowId set) {
    std::string text;
    if (set == 0) return text;
    for (const RowId device : reader.tables().device_set(set)) {
      text += (text.empty() ? "" : ",") + std::to_string(reader.tables().device(device).number);
    }
    return text;
  };
  std::vector<std::string> lines;
  const auto done = reader.for_each_event([&](const Event& event) {
    if (event.type == Event::Type::allocate) {
      lines.push_back("allocate " + numbers(event.allocation->devices) + " @" +
                      std::to_string(event.time_ns));
    } else if (event.type == Event::Type::free) {
      EXPECT_EQ(event.time_ns, event.allocation->end_ns);
      lines.push_back("free " + numbers(event.allocation->devices) + " of " +
                      numbers(event.before) + " rest " + numbers(event.rest) + " " +
                      std::to_string(static_cast<int>(event.allocation->ending)) + " @" +
                      std::to_string(event.time_ns));
    }
    return true;
  });
  EXPECT_TRUE(done);
  return lines;
}

TEST_F(RecordingFile, ABufferOfAMeshIsOneRowThatEndsInParts) {
  for (const bool committed : {false, true}) {
    const auto writer = this->writer(false, true);
    BufferOfThree mesh(*writer);
    const auto commit = [&] { EXPECT_TRUE(!committed || writer->commit()); };
    commit();
    mesh.end_on({1}, {0, 2}, 20);
    commit();
    mesh.end_on({0}, {2}, 20, Ending::freed);
    writer->end_allocation(mesh.row, 30, Ending::process_ended);
    ASSERT_TRUE(writer->commit());
    const auto reader = this->reader();
    EXPECT_EQ(mesh_story(*reader),
              (std::vector<std::string>{"allocate 0,1,2 @10", "free 1 of 0,1,2 rest 0,2 3 @20",
                                        "free 0 of 0,2 rest 2 1 @20", "free 2 of 2 rest  4 @30"}));
    std::size_t rows = 0;
    EXPECT_TRUE(reader->for_each_allocation([&](const RecordedAllocation& row) {
      ++rows;
      EXPECT_EQ(end_on(reader->tables(), row, mesh.devices[0]).ending, Ending::freed);
      EXPECT_EQ(end_on(reader->tables(), row, mesh.devices[1]).end_ns, 20);
      EXPECT_EQ(end_on(reader->tables(), row, mesh.devices[2]).ending, Ending::process_ended);
      EXPECT_EQ(left_on(reader->tables(), row),
                (std::vector<RowId>{mesh.devices[1], mesh.devices[2]}));
    }));
    EXPECT_EQ(rows, 1U);
  }
}

TEST_F(RecordingFile, ABufferOfAMeshMayStayLiveOnSomeDevices) {
  const auto writer = this->writer();
  BufferOfThree mesh(*writer);
  mesh.end_on({1, 2}, {0}, 40);
  ASSERT_TRUE(writer->commit());
  EXPECT_EQ(mesh_story(*reader()),
            (std::vector<std::string>{"allocate 0,1,2 @10", "free 1,2 of 0,1,2 rest 0 3 @40"}));
  EXPECT_EQ(reader()->end_ns(), 40) << "the last event of a recording without an end";
}

TEST_F(RecordingFile, AnAggregateKeepsABufferThatWasLeftOnOneDevice) {
  for (const bool committed : {false, true}) {
    const auto writer = this->writer(true, true);
    BufferOfThree left(*writer);
    BufferOfThree freed(*writer);
    for (BufferOfThree* const mesh : {&left, &freed}) {
      if (committed) {
        ASSERT_TRUE(writer->commit());
      }
      mesh->end_on({1}, {0, 2}, 20, mesh == &left ? Ending::device_closed : Ending::freed);
      if (committed) {
        ASSERT_TRUE(writer->commit());
      }
      writer->end_allocation(mesh->row, 30, Ending::freed);
    }
    ASSERT_TRUE(writer->commit());
    std::vector<RowId> rows;
    EXPECT_TRUE(reader()->for_each_allocation(
        [&](const RecordedAllocation& row) { rows.push_back(row.id); }));
    EXPECT_EQ(rows, std::vector<RowId>{left.row});
  }
}

TEST_F(RecordingFile, PartialEndsThatContradictTheDevicesAreAnError) {
  for (const char* sql :
       {"UPDATE partial_ends SET rest = devices", "UPDATE partial_ends SET rest = 99",
        "UPDATE partial_ends SET devices = 0", "UPDATE partial_ends SET end_ns = 1 << 62",
        "UPDATE partial_ends SET allocation = 0", "UPDATE partial_ends SET allocation = 2",
        "INSERT INTO partial_ends SELECT allocation, 7, devices, rest, end_ns, ending "
        "FROM partial_ends"}) {
    {
      const auto writer = this->writer(false, true);
      BufferOfThree mesh(*writer);
      mesh.end_on({1}, {0, 2}, 20);
      ASSERT_TRUE(writer->finish(recording::Run{.ended_ns = 100}));
    }
    ASSERT_TRUE(reader()->for_each_event([](const Event&) { return true; }));
    change(path(), sql);
    EXPECT_FALSE(reader()->for_each_event([](const Event&) { return true; })) << sql;
  }
}

// A recording of an older version has another row for the devices that kept the buffer.
TEST_F(RecordingFile, WithoutTheTableNoAllocationEndsInParts) {
  {
    const auto writer = this->writer();
    BufferOfThree mesh(*writer);
    ASSERT_TRUE(writer->finish(recording::Run{.ended_ns = 100}));
  }
  change(path(), "DROP VIEW allocation_list; DROP TABLE partial_ends");
  EXPECT_EQ(mesh_story(*reader()), std::vector<std::string>{"allocate 0,1,2 @10"});
}

TEST_F(RecordingFile, OverwritesOnlyWhenAsked) {
  { const auto first = writer(); }
  const auto second = Writer::create(path(), recording::Run{}, false);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message, path() + " is there already; use -f to overwrite it");
  EXPECT_TRUE(writer(false, true));
}

TEST_F(RecordingFile, OverwritesOnlyRegularFiles) {
  for (const bool overwrite : {false, true}) {
    std::filesystem::create_symlink("/dev/null", path());
    EXPECT_EQ(Writer::create(path(), recording::Run{}, overwrite).error().message,
              "cannot write " + path() + ": it is a folder, a link or a device; name a file");
    EXPECT_TRUE(std::filesystem::is_symlink(path()));
    std::filesystem::remove(path());
    ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
    EXPECT_FALSE(Writer::create(path(), recording::Run{}, overwrite));
    EXPECT_TRUE(std::filesystem::is_fifo(path()));
    std::filesystem::remove(path());
  }
}

TEST_F(RecordingFile, ARecorderContinuesWhileOthersRead) {
  const auto writer = this->writer();
  const RowId devices = one_device(*writer);
  const auto allocate = [&](std::uint64_t number) {
    writer->begin(RecordedAllocation{
        .devices = devices, .request = writer->request({.bytes = number}), .number = number});
    return writer->commit();
  };
  ASSERT_TRUE(allocate(1));
  const auto reader = this->reader();
  const auto paused = reader->story();
  EXPECT_TRUE(allocate(2));
  std::size_t rows = 0;
  EXPECT_TRUE(reader->for_each_allocation([&](const RecordedAllocation&) { ++rows; }));
  EXPECT_EQ(rows, 1U) << "all of it is of one moment";
}

TEST_F(RecordingFile, AnUnknownSetMemberIsAnError) {
  {
    const auto writer = this->writer();
    one_device(*writer);
    ASSERT_TRUE(writer->commit());
  }
  change(path(), "UPDATE device_sets SET id = 0");
  EXPECT_FALSE(Reader::open(path()));
}

// The reader never evaluates views and generated columns of a hostile file, because their queries
// might never return.
TEST_F(RecordingFile, NoSqlOfAFileIsEvaluated) {
  for (const char* sql :
       {"DROP TABLE texts; CREATE VIEW texts AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT "
        "id + 1 FROM n) SELECT id, 'x' AS text FROM n WHERE id < 0",
        "DROP TABLE run; CREATE VIEW run AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + "
        "1 "
        "FROM n) SELECT i AS schema, 1 AS ended_ns FROM n WHERE i < 0",
        "ALTER TABLE texts ADD COLUMN more AS (zeroblob(900000000))",
        "DROP TABLE texts; CREATE VIRTUAL TABLE texts USING fts4(id, text)"}) {
    {
      const auto writer = this->writer(false, true);
      one_device(*writer);
      ASSERT_TRUE(writer->finish(recording::Run{.ended_ns = 100}));
    }
    ASSERT_TRUE(Reader::open(path()));
    change(path(), sql);
    EXPECT_FALSE(Reader::open(path())) << sql;
  }
}

// Impossible figures and times would overflow in calculations, so the reader refuses them.
TEST_F(RecordingFile, ImpossibleNumbersAreAnError) {
  for (const char* sql :
       {"UPDATE allocations SET begin_ns = -9223372036854775808",
        "UPDATE allocations SET end_ns = 9223372036854775807",
        "UPDATE marks SET time_ns = 9223372036854775807",
        "UPDATE requests SET bytes = 9223372036854775807",
        "UPDATE requests SET bytes_per_bank = -1", "UPDATE requests SET banks = 4294967295",
        "UPDATE run SET ended_ns = 9223372036854775807"}) {
    {
      const auto writer = this->writer(false, true);
      const RowId devices = one_device(*writer);
      writer->begin(
          RecordedAllocation{.devices = devices, .request = writer->request({.bytes = 64})});
      writer->add(Mark{.process = 1, .name = "step"});
      ASSERT_TRUE(writer->finish(recording::Run{.ended_ns = 100}));
    }
    change(path(), sql);
    const auto reader = Reader::open(path());
    EXPECT_FALSE(reader && (*reader)->for_each_event([](const Event&) { return true; })) << sql;
  }
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A recorder that is killed during a commit leaves a journal. Each reader rolls the commit back in
// its own memory.
TEST_F(RecordingFile, AnUnfinishedCommitIsRolledBackInMemory) {
  const std::string copy = directory_.path() + "/copy.ttmem";
  {
    const auto writer = this->writer();
    const RowId devices = one_device(*writer);
    for (std::uint64_t i = 0; i < 5000; ++i) {
      writer->begin(RecordedAllocation{
          .devices = devices, .request = writer->request({.bytes = 64}), .number = i});
    }
    ASSERT_TRUE(writer->finish(recording::Run{.ended_ns = 100}));
  }
  auto database = Database::open(path(), Database::Mode::create);
  ASSERT_TRUE(database && database->execute("PRAGMA cache_size=1; PRAGMA cache_spill=1; BEGIN; "
                                            "UPDATE allocations SET number = number + 1000000"));
  std::filesystem::copy_file(path(), copy);
  std::filesystem::copy_file(path() + "-journal", copy + "-journal");
  const std::string half_written = bytes_of(copy);
  const std::string journal = bytes_of(copy + "-journal");
  const auto reader = Reader::open(copy);
  ASSERT_TRUE(reader) << reader.error().message;
  std::uint64_t next = 0;
  EXPECT_TRUE((*reader)->for_each_allocation(
      [&](const RecordedAllocation& allocation) { EXPECT_EQ(allocation.number, next++); }));
  EXPECT_EQ(next, 5000U);
  EXPECT_TRUE(bytes_of(copy) == half_written);
  EXPECT_TRUE(bytes_of(copy + "-journal") == journal);
}

// Returns true if a reader's lock prevents writes at this moment.
bool is_locked(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = 0x40000000 + 2;  // the bytes that SQLite's readers share
  lock.l_len = 510;
  EXPECT_EQ(::fcntl(file.get(), F_OFD_GETLK, &lock), 0);
  return lock.l_type != F_UNLCK;
}

TEST_F(RecordingFile, IsLockedOnlyWhileItIsRead) {
  {
    const auto writer = this->writer();
    RecordedAllocation buffer{.devices = one_device(*writer)};
    buffer.request = writer->request({.bytes = 64});
    for (int i = 0; i < 10; ++i) writer->begin(buffer);
    ASSERT_TRUE(writer->finish(recording::Run{.ended_ns = 100}));
  }
  const auto reader = this->reader();
  EXPECT_FALSE(is_locked(path()));
  {
    const auto story = reader->story();
    ASSERT_NE(story->next(), nullptr);
    EXPECT_TRUE(is_locked(path()));
    this->reader().reset();  // closes a second reader; the first reader keeps its lock
    EXPECT_TRUE(is_locked(path()));
  }
  EXPECT_FALSE(is_locked(path()));
}

TEST_F(RecordingFile, OldJournalsBesideTheFileAreRemovedOrNamed) {
  std::ofstream(path() + "-journal") << "of another recording";
  std::ofstream(path() + "-wal") << "of another recording";
  ASSERT_TRUE(writer()->finish(recording::Run{.ended_ns = 100}));
  EXPECT_EQ(reader()->end_ns(), 100);
  EXPECT_FALSE(std::filesystem::exists(path() + "-wal"));
  std::filesystem::create_directory(path() + "-journal");
  const auto made = Writer::create(path(), recording::Run{}, true);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find(path() + "-journal"), std::string::npos);
}

TEST_F(RecordingFile, WithoutAnEndTheRecordingEndsWithItsLastEvent) {
  const auto writer = this->writer();
  RecordedAllocation buffer{.devices = one_device(*writer), .number = 5, .begin_ns = 10};
  buffer.request = writer->request({.kind = Kind::dram, .bytes = 64});
  const RowId row = writer->begin(buffer);
  const RowId program = writer->begin(RecordedProgram{.device = 1, .number = 6, .begin_ns = 20});
  ASSERT_TRUE(writer->commit());
  EXPECT_EQ(reader()->end_ns(), 20);
  writer->end_allocation(row, 30, Ending::freed);
  ASSERT_TRUE(writer->commit());
  EXPECT_EQ(reader()->end_ns(), 30);
  writer->end_program(program, 40, Ending::freed);
  ASSERT_TRUE(writer->commit());
  EXPECT_EQ(reader()->end_ns(), 40);
}

TEST_F(RecordingFile, RefusesFilesThatAreNoRecording) {
  EXPECT_EQ(Reader::open(path()).error().message,
            "cannot open " + path() + ": No such file or directory");
  std::ofstream(path()) << std::string(10'000, 'x');
  EXPECT_EQ(Reader::open(path()).error().message, path() + " is not a recording of ttmem");
  std::ofstream(path(), std::ios::trunc) << "";
  EXPECT_NE(Reader::open(path()).error().message.find(" ended before it wrote anything"),
            std::string::npos);
}

TEST_F(RecordingFile, ACutFileIsAnErrorOrEndsEarly) {
  {
    const auto writer = this->writer();
    const RowId devices = one_device(*writer);
    const RowId request = writer->request({.bytes = 10});
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      writer->begin(RecordedAllocation{.devices = devices, .request = request, .number = i});
    }
    ASSERT_TRUE(writer->commit());
  }
  const auto whole = std::filesystem::file_size(path());
  for (auto size = whole; size > 5000; size -= std::min<std::uintmax_t>(size, 50'001)) {
    std::filesystem::resize_file(path(), size);
    const auto reader = Reader::open(path());
    if (!reader) continue;
    const auto done = (*reader)->for_each_event([](const Event&) { return true; });
    EXPECT_EQ(static_cast<bool>(done), size == whole);
  }
}

TEST(CoreText, ReadsWhatItWrites) {
  rc::check([](const std::vector<std::uint8_t>& numbers) {
    CoreMask cores;
    for (const std::uint8_t number : numbers) cores.set(number);
    RC_ASSERT(parse_cores(core_text(cores)) == cores);
  });
  EXPECT_FALSE(parse_cores("256"));
  EXPECT_FALSE(parse_cores("3-1"));
  EXPECT_FALSE(parse_cores("a"));
}

// Makes random histories with random commits. At any time, the live buffers of the recording must
// equal the list that the test keeps.
RC_GTEST_PROP(RecordingFileProperty, HasTheLiveBuffersOfAnyTime, ()) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/run.ttmem";
  std::map<std::uint64_t, std::pair<Time, Time>> lives;  // keyed by the buffer's number
  {
    const auto made = Writer::create(path, recording::Run{}, false);
    RC_ASSERT(static_cast<bool>(made));
    Writer& writer = **made;
    const RowId devices = one_device(writer);
    std::vector<std::pair<std::uint64_t, RowId>> live;
    Time time = 0;
    const int steps = *rc::gen::inRange(0, 60);
    for (int i = 0; i < steps; ++i) {
      time += *rc::gen::inRange(1, 3);
      const int what = *rc::gen::inRange(0, 10);
      if (what == 0) {
        RC_ASSERT(static_cast<bool>(writer.commit()));
      } else if (what < 5 && !live.empty()) {
        const auto at = *rc::gen::inRange<std::size_t>(0, live.size());
        lives[live[at].first].second = time;
        writer.end_allocation(live[at].second, time, Ending::freed);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
      } else {
        const auto number = static_cast<std::uint64_t>(i);
        const RowId request = writer.request({.bytes = number % 4});
        live.emplace_back(
            number,
            writer.begin(RecordedAllocation{
                .devices = devices, .request = request, .number = number, .begin_ns = time}));
        lives[number] = {time, 1 << 20};
      }
    }
    RC_ASSERT(static_cast<bool>(writer.commit()));
  }
  const auto reader = Reader::open(path);
  RC_ASSERT(static_cast<bool>(reader));
  std::map<std::uint64_t, std::pair<Time, Time>> read;
  Time last = 0;
  RC_ASSERT(static_cast<bool>((*reader)->for_each_event([&](const Event& event) {
    RC_ASSERT(event.time_ns >= last);
    last = event.time_ns;
    if (event.type == Event::Type::allocate) {
      read[event.allocation->number] = {event.time_ns, 1 << 20};
    } else if (event.type == Event::Type::free) {
      read[event.allocation->number].second = event.time_ns;
    }
    return true;
  })));
  RC_ASSERT(read == lives);
}

}  // namespace
}  // namespace ttmem::recording
