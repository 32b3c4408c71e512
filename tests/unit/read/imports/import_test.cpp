// SPDX-License-Identifier: Apache-2.0
#include "read/imports/import.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "read/imports/core_range_set.hpp"
#include "read/imports/graph_file.hpp"
#include "read/imports/upstream_peaks.hpp"
#include "read/recording/file/reader.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::imports {
namespace {

TEST(CoreRangeSet, IsReadInBothSpellings) {
  const std::vector<CoreRange> two = {{0, 0, 7, 3}, {8, 1, 8, 2}};
  EXPECT_EQ(parse_core_range_set("{[0-0 - 7-3], [8-1 - 8-2]}"), two);
  EXPECT_EQ(parse_core_range_set("{[(x=0,y=0) - (x=7,y=3)], [(x=8,y=1) - (x=8,y=2)]}"), two);
  EXPECT_EQ(parse_core_range_set("{}"), std::vector<CoreRange>{});
  for (const char* wrong :
       {"", "{", "[0-0 - 7-7]", "{[0-0 - 7-7]", "{[0-0 - 7-7]} x", "{[7-7 - 0-0]}", "{[0-0 - 7]}",
        "{[0-0 - 7-7],}", "{[0-0 - 99999999999-7]}"}) {
    EXPECT_FALSE(parse_core_range_set(wrong)) << wrong;
  }
}

Node node(NodeType type, std::uint64_t bytes = 0, bool is_view = false) {
  Node made;
  made.type = type;
  made.bytes = bytes;
  made.is_view = is_view;
  return made;
}

Node buffer(NodeType type, Kind kind, std::uint64_t bytes_per_bank) {
  Node made = node(type, bytes_per_bank * 64);
  made.kind = kind;
  made.bytes_per_bank = bytes_per_bank;
  return made;
}

std::vector<Node> counted(std::vector<Node> nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].counter = i;
  return nodes;
}

TEST(UpstreamPeaks, AreTheMaximumOfEachSumAndOfTheTotal) {
  const auto nodes = counted({
      buffer(NodeType::buffer_allocate, Kind::l1, 1000),
      buffer(NodeType::buffer_allocate, Kind::dram, 77777),
      buffer(NodeType::buffer_allocate, Kind::l1_small, 24),
      node(NodeType::circular_buffer_deallocate_all),
      node(NodeType::circular_buffer_allocate, 300),
      node(NodeType::circular_buffer_allocate, 5000, true),  // a view of a buffer
      node(NodeType::circular_buffer_allocate, 200),  // makes the total 1524, its highest value
      buffer(NodeType::buffer_deallocate, Kind::l1, 1000),
      node(NodeType::circular_buffer_deallocate_all),
      node(NodeType::circular_buffer_allocate, 450),
      node(NodeType::dataflow_buffer_allocate, 60),
      node(NodeType::dataflow_buffer_allocate, 9000, true),
      node(NodeType::scratchpad_allocate, 7),
  });
  const UpstreamPeaks peaks = upstream_peaks(nodes);
  EXPECT_EQ(peaks.cb, 500U);
  EXPECT_EQ(peaks.l1, 1024U);
  EXPECT_EQ(peaks.dataflow_buffer, 60U);
  EXPECT_EQ(peaks.scratchpad, 7U);
  EXPECT_EQ(peaks.total, 1524U);
  EXPECT_EQ(to_json(peaks),
            R"({"peak_cb":500,"peak_l1":1024,"peak_total":1524,"peak_dataflow_buffer":60,)"
            R"("peak_scratchpad":7})");
}

TEST(UpstreamPeaks, DoNotFallBelowZero) {
  const auto nodes = counted({buffer(NodeType::buffer_deallocate, Kind::l1, 32768),
                              buffer(NodeType::buffer_allocate, Kind::l1, 100)});
  EXPECT_EQ(upstream_peaks(nodes).l1, 100U);
  EXPECT_EQ(upstream_peaks(nodes).total, 100U);
}

TEST(UpstreamPeaks, AreUnknownWhereTheProgramCacheHidCbs) {
  const auto nodes = counted({buffer(NodeType::buffer_allocate, Kind::l1, 100),
                              node(NodeType::circular_buffer_deallocate_all)});
  EXPECT_FALSE(shows_programs(nodes));
  EXPECT_EQ(to_json(upstream_peaks(nodes)),
            R"({"peak_cb":null,"peak_l1":100,"peak_total":null,"peak_dataflow_buffer":null,)"
            R"("peak_scratchpad":null})");
}

TEST(UpstreamPeaks, AreUnknownWhereTheOriginalThrows) {
  auto nodes = counted({buffer(NodeType::buffer_allocate, Kind::l1, 100)});
  nodes[0].bytes_per_bank.reset();
  EXPECT_FALSE(upstream_peaks(nodes).l1);
  EXPECT_FALSE(upstream_peaks(nodes).total);
  EXPECT_EQ(upstream_peaks(nodes).cb, 0U);  // known, because no program ran
  nodes[0].counter = 5;
  EXPECT_FALSE(upstream_peaks(nodes).cb);
}

Result<Graph> graph_of(const std::string& text) {
  std::istringstream input(text);
  return read_graph(input, "g.json");
}

TEST(GraphFile, ReadsEverySpellingOfAFlag) {
  const auto is_view = [](const std::string& spelled) {
    const auto graph = graph_of(
        R"([{"counter":0,"node_type":"dataflow_buffer_allocate",
             "params":{"size":"16","core_range_set":"{[0-0 - 1-0]}","borrows_memory":)" +
        spelled + "}}]");
    return graph ? std::optional(graph->nodes[0].is_view) : std::nullopt;
  };
  for (const char* no : {"0", "\"0\"", "false", "\"false\"", "null"}) {
    EXPECT_EQ(is_view(no), false) << no;
  }
  for (const char* yes : {"1", "\"1\"", "true", "\"true\""}) EXPECT_EQ(is_view(yes), true) << yes;
  for (const char* wrong : {"2", "-1", "\"\"", "\"no\"", "[]", "0.5"}) {
    EXPECT_EQ(is_view(wrong), std::nullopt) << wrong;
  }
}

TEST(GraphFile, ReadsNumbersAsTextAndAsNumbers) {
  const std::string as_text =
      R"([{"counter":0,"node_type":"capture_start","params":null},
          {"counter":1,"node_type":"buffer_allocate","connections":[0],
           "params":{"size":"64","address":"4096","type":"L1","max_size_per_bank":"32"}},
          {"counter":2,"node_type":"circular_buffer_allocate","connections":[],
           "params":{"size":"16","address":"128","core_range_set":"{[(x=0,y=0) - (x=1,y=0)]}",
                     "globally_allocated":"1"}}])";
  const std::string as_numbers =
      R"({"version":1,"buffer_pages":[[{"counter":9}]],"graph":[{"counter":0,"node_type":"capture_start","params":{}},
          {"counter":1,"node_type":"buffer_allocate","connections":[0],
           "params":{"size":64,"address":4096,"type":"L1","buffer_type":3,"max_size_per_bank":32}},
          {"counter":2,"node_type":"circular_buffer_allocate","connections":[],
           "params":{"size":16,"address":128,"core_range_set":"{[0-0 - 1-0]}",
                     "globally_allocated":"1"}}],
          "devices":[{"arch":"BLACKHOLE","num_x_compute_cores":13}]})";
  for (const std::string& text : {as_text, as_numbers}) {
    const auto graph = graph_of(text);
    ASSERT_TRUE(graph) << graph.error().message;
    ASSERT_EQ(graph->nodes.size(), 3U);
    const Node& allocated = graph->nodes[1];
    EXPECT_EQ(allocated.bytes, 64U);
    EXPECT_EQ(allocated.address, 4096U);
    EXPECT_EQ(allocated.bytes_per_bank, 32U);
    EXPECT_EQ(allocated.connection, 0U);
    EXPECT_EQ(allocated.kind, text == as_text ? Kind::l1 : Kind::l1_small);
    EXPECT_TRUE(graph->nodes[2].is_view);
    EXPECT_EQ(graph->core_sets[graph->nodes[2].cores], (std::vector<CoreRange>{{0, 0, 1, 0}}));
  }
  EXPECT_EQ(graph_of(as_numbers)->devices.at(0).grid_x, 13);
}

TEST(GraphFile, NamesTheFaultOfAHostileFile) {
  const auto message = [](const std::string& text) {
    const auto graph = graph_of(text);
    return graph ? "no error" : graph.error().message;
  };
  EXPECT_EQ(message("{}"), "g.json is no graph of ttnn: it has no list of nodes");
  EXPECT_EQ(message(R"({"graph":3})"), "g.json is no graph of ttnn: it has no list of nodes");
  EXPECT_EQ(message("[]"), "g.json is no graph of ttnn: it has no list of nodes");
  for (const char* text : {"[1]", "[[]]", R"({"graph":["x"]})"}) {
    EXPECT_NE(message(text).find("node 0: "), std::string::npos) << text;
  }
  EXPECT_EQ(message("[{}]"),
            "g.json is no graph of ttnn: node 0: 'counter' or 'node_type' is missing");
  EXPECT_EQ(message(R"([{"counter":3,"node_type":"x"},{"counter":3,"node_type":"x"}])"),
            "g.json is no graph of ttnn: node 1: its counter 3 does not follow 3");
  EXPECT_EQ(
      message(R"([{"counter":0,"node_type":"buffer_allocate","params":{"type":"L1","size":-1}}])"),
      "g.json is no graph of ttnn: node 0: buffer_allocate: parameter 'size' is not a whole "
      "number from 0 to 281474976710656");
  EXPECT_NE(message("[{\"counter\":0,").find("parse error at line 1"), std::string::npos);
  EXPECT_NE(message(std::string(100'000, '[')).find("parse error"), std::string::npos);
}

class ImportFile : public ::testing::Test {
 protected:
  void write(const std::string& text) const { std::ofstream(file()) << text; }
  [[nodiscard]] std::string file() const { return directory_.path() + "/in"; }
  [[nodiscard]] std::string out() const { return directory_.path() + "/out.ttmem"; }
  [[nodiscard]] std::string failure() const {
    const auto imported = import_file(file(), out(), false);
    return imported ? "none" : imported.error().message;
  }

  TemporaryDirectory directory_;
};

TEST_F(ImportFile, LeavesNoOutputForAnUnknownFormat) {
  EXPECT_NE(failure().find("No such file"), std::string::npos);
  for (const char* text : {"", "hello", "{\"a\": 1}", "[1, 2", "{\"ev\": \"device\"}\n"}) {
    write(text);
    EXPECT_NE(failure(), "none") << text;
    EXPECT_FALSE(std::ifstream(out())) << text;
  }
  write(R"([{"counter":0,"node_type":"circular_buffer_allocate",
             "params":{"size":1,"core_range_set":"{[0-0 - 4294967295-4294967295]}"}}])");
  EXPECT_NE(failure().find("no device has more than 256"), std::string::npos) << failure();
}

// The graph has functions that never end, deeply nested functions, and ends of functions that never
// began.
TEST_F(ImportFile, AcceptsFunctionsWithoutMatchingEnds) {
  std::string nodes;
  int counter = 0;
  const auto add = [&](const std::string& type, const std::string& name) {
    nodes += (nodes.empty() ? "[" : ",\n") + std::string("{\"counter\":") +
             std::to_string(counter++) + ",\"node_type\":\"" + type + "\",\"params\":{\"name\":\"" +
             name + "\"}}";
  };
  add("function_end", "stranger");
  for (int i = 0; i < 200; ++i) add("function_start", "f" + std::to_string(i));
  add("function_end", "f100");
  write(nodes + "]");
  const auto imported = import_file(file(), out(), false);
  ASSERT_TRUE(imported) << imported.error().message;
  ASSERT_EQ(imported->notes.size(), 1U);
  EXPECT_EQ(imported->notes[0], "199 functions never ended, the innermost is f199");
  EXPECT_TRUE(recording::Reader::open(out()));
}

}  // namespace
}  // namespace ttmem::imports
