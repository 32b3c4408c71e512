// SPDX-License-Identifier: Apache-2.0
#include "show/fleet/servers.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ttmem::fleet {
namespace {

std::vector<std::string> names_of(const Result<std::vector<remote::Address>>& servers) {
  std::vector<std::string> names;
  if (!servers) return {servers.error().message};
  for (const remote::Address& server : *servers) names.push_back(shown(server));
  return names;
}

using Names = std::vector<std::string>;

TEST(Servers, AListMayHaveBlanksAndCommas) {
  EXPECT_EQ(names_of(parse_servers("node7,node8:9500, http://node9:9488 https://proxy/node1")),
            (Names{"node7", "node8:9500", "node9", "https://proxy:443/node1"}));
  EXPECT_EQ(names_of(parse_servers(" ,,")), Names{});
  EXPECT_EQ(names_of(parse_servers("[::1]")), Names{"[::1]:9488"});
  EXPECT_FALSE(parse_servers("node7,:::"));
}

TEST(Servers, AFileMayHaveCommentsAndBlankLines) {
  EXPECT_EQ(names_of(parse_server_lines("# all\n\nnode1 # first\r\n  node2,node3\nnode4", "f")),
            (Names{"node1", "node2", "node3", "node4"}));
  EXPECT_EQ(parse_server_lines("a\n\nb://c\n", "f").error().message.substr(0, 4), "f:3:");
}

TEST(Servers, EachServerIsListedOnce) {
  const auto all = parse_servers("a,b,A:9488,http://a,https://a,a:1,b");
  EXPECT_EQ(names_of(each_once(*all)), (Names{"a", "b", "https://a:443", "a:1"}));
}

TEST(Servers, AMissingFileIsAnError) {
  EXPECT_EQ(read_servers("/nonexistent/hosts").error().message,
            "cannot read the servers from /nonexistent/hosts: No such file or directory; it has "
            "one a line");
  EXPECT_FALSE(read_servers("/"));
}

}  // namespace
}  // namespace ttmem::fleet
