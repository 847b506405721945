// The models of backends/tile as backends: right where their contracts say so, in both forms, and wrong on request.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <set>

#include "backends/tile/knobs.h"
#include "harness/run/run_case.h"
#include "tests/run/program.h"

namespace attest {
namespace {

using test::contracts;
using test::host_options;

const std::vector<std::string>& shapes() {
  static const std::vector<std::string> all{
      "h=12:3/d=64/page=16/seq=1x1,1x127,1x129,1x300/scales=seq_head/splits=3/in=peaky",
      "h=4:2/d=80/page=24/seq=1x400,1x31/mask=window:40,0/cap=20/sink=f32/scales=head",
      "h=6:2/d=64/dv=48/page=16/seq=1x260,1x0/mask=full/scales=odd/strides=padded_out/in=mass",
      "h=7:1/d=64/page=16/seq=2x150,3x33/mask=chunk:48/in=sentinel"};
  return all;
}

Case of(const std::string& backend, const std::string& shape) {
  const std::string kinds = backend == "tile_b"     ? "q=bf16/kv=fp8_e4m3"
                            : backend == "tile_c"   ? "q=fp8_e4m3/kv=auto"
                            : backend == "tile_f16" ? "q=f16/kv=auto"
                                                    : "q=bf16/kv=auto";
  return parse_token(fmt::format("decode/{}/{}/{}#3", backend, kinds, shape));
}

TEST(Tile, BothFormsGiveTheSameBits) {
  for (const char* backend : {"tile_a", "tile_b", "tile_c", "tile_rpa", "tile_f16"}) {
    Contract scalar = contracts().find(backend);
    scalar.options.emplace_back("form", "scalar");
    Host vector_host(contracts().find(backend), host_options()), scalar_host(scalar, host_options());
    for (const auto& shape : shapes()) {
      CaseTrace one, other;
      if (run_case(of(backend, shape), vector_host, {}, &one).outcome == Outcome::Unsupported) continue;
      run_case(of(backend, shape), scalar_host, {}, &other);
      ASSERT_EQ(one.left.size(), other.left.size());
      for (std::size_t i = 0; i < one.left.size(); ++i) {
        const auto a = one.left[i].bytes(), b = other.left[i].bytes();
        EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end())) << backend << " " << shape;
      }
    }
  }
}

TEST(Tile, OptionsAreReadOrRefused) {
  const auto opened = [](const std::string& key, const std::string& value) {
    Contract contract = contracts().find("tile_a");
    contract.options.emplace_back(key, value);
    Host host(contract, host_options());
    return host.open().ok();
  };
  EXPECT_TRUE(opened("tile", "48"));
  EXPECT_TRUE(opened("pv_acc", "mma:13,32"));
  EXPECT_TRUE(opened("partial", "none"));
  EXPECT_TRUE(opened("exp", "cubic"));
  for (const auto& [key, value] : {std::pair{"tile", "0"},
                                   {"pv_acc", "mma:28,32"},
                                   {"pv_acc", "mma:13"},
                                   {"p", "i32"},
                                   {"order", "up"},
                                   {"tiles", "48"},
                                   {"exp", "best"},
                                   {"form", "matrix"}})
    EXPECT_FALSE(opened(key, value)) << key << "=" << value;
}

TEST(Tile, FaultsHaveNamesOfTheirOwnAndAnUnknownOneIsDeclined) {
  std::set<std::string_view> names;
  for (const tile::Fault& fault : tile::faults()) EXPECT_TRUE(names.insert(fault.name).second) << fault.name;
  Host host(contracts().find("tile_a"), host_options());
  Case c = of("tile_a", "h=4:2/d=64/page=16/seq=1x33,1x16");
  EXPECT_EQ(run_case(c, host, {}).outcome, Outcome::Pass);
  c.fault = "no_such_fault";
  EXPECT_EQ(run_case(c, host, {}).outcome, Outcome::Unsupported);
  c.fault = "next_kv_head";
  EXPECT_EQ(run_case(c, host, {}).outcome, Outcome::Fail);
}

}  // namespace
}  // namespace attest
