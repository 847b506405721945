// Contracts from YAML: every section arrives where it belongs, variants and options, and the book that finds them by
// name and alias.
#include "tests/matrix/files.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace attest::test {
namespace {

class ContractFile : public testing::Test {
 protected:
  std::vector<Contract> read(const std::string& text) const {
    return read_contracts(folder_.write("c.yaml", text), "/deps");
  }
  Contract one(const std::string& text) const {
    auto all = read(text);
    EXPECT_EQ(all.size(), 1U);
    return std::move(all.at(0));
  }

  TempFolder folder_;
};

TEST_F(ContractFile, TheLeast) {
  const Contract c = one(kLeastContract);
  EXPECT_EQ(c.backend, "mine");
  EXPECT_EQ(c.about, "a kernel");
  EXPECT_EQ(c.plugin, "mine");
  EXPECT_EQ(c.file, folder_.path("c.yaml"));
  EXPECT_EQ(c.ops, (std::map<Phase, Op>{{Phase::Decode, Op::Attend}}));
  EXPECT_TRUE(c.aliases.empty() && c.takes.empty() && c.rejects.empty() && c.options.empty() && c.layouts.empty());
}

TEST_F(ContractFile, EverySection) {
  const Contract c = one(R"(backend: mine
aliases: [other, third]
about: a kernel
plugin: ./libmine.so
ops: {decode: attend, prefill: attend, mixed: write_attend, write: write, rope: rope}
takes:
  q: [f32, bf16]
  d: {min: 32, max: 256, multiple: 8, not_multiple: 48}
  cap: "30.0"
rejects:
  - when: {kv: "fp8*", group: {min: 3}}
    message: no fp8
    source: there
declines:
  - {when: {d: 80}, because: not built}
divergences:
  - {when: {sink: f32}, what: sinks are bf16, source: issue 1}
ran:
  - kernel: {is: "mine_*", source: s}
rules:
  - out: {is: f32, source: s}
    lse: {is: "true", assumed: nobody says}
  - when: {q: bf16}
    out: {is: bf16, source: t}
arithmetic:
  - exp_rel: {is: 1e-6, source: s}
write:
  - overflow: {is: ieee, source: s}
layout:
  dense: {k: {shape: [page, slot, head, dim]}, v: {shape: [page, slot, head, dim]}}
  fused:
    indexed_by: plugin
    k: {shape: [page, head, slot, dim], storage: [page, head, kv, slot, dim], order: [page, head, kv, dim, slot]}
    v: {shape: [page, head, slot, dim], storage: [page, head, kv, slot, dim]}
)");
  EXPECT_EQ(c.aliases, (std::vector<std::string>{"other", "third"}));
  EXPECT_EQ(c.plugin, "./libmine.so");
  EXPECT_EQ(c.ops.at(Phase::Mixed), Op::WriteAttend);
  EXPECT_EQ(c.ops.size(), 5U);
  ASSERT_EQ(c.takes.size(), 3U);
  EXPECT_EQ(c.takes[0].text(), "q: f32, bf16");
  EXPECT_EQ(c.takes[1].text(), "d: at least 32, at most 256, multiple of 8, no multiple of 48");
  EXPECT_EQ(c.takes[2].text(), "cap: 30") << "as a case prints it";
  ASSERT_EQ(c.rejects.size(), 1U);
  EXPECT_EQ(c.rejects[0].when.size(), 2U);
  EXPECT_EQ(c.rejects[0].text, "no fp8");
  EXPECT_EQ(c.rejects[0].source, "there");
  ASSERT_EQ(c.declines.size(), 1U);
  EXPECT_EQ(c.declines[0].text, "not built");
  ASSERT_EQ(c.divergences.size(), 1U);
  EXPECT_EQ(c.divergences[0].text, "sinks are bf16");
  ASSERT_EQ(c.rules.size(), 2U);
  EXPECT_FALSE(c.rules[0].claims[0].assumed);
  EXPECT_TRUE(c.rules[0].claims[1].assumed);
  EXPECT_EQ(c.rules[0].claims[1].source, "nobody says");

  const Case f32{.backend = "mine", .q = DType::F32, .seq = {{1, 5}}}, bf16{.backend = "mine", .seq = {{1, 5}}};
  EXPECT_EQ(call_rules(c, f32).out, DType::F32);
  EXPECT_EQ(call_rules(c, bf16).out, DType::BF16);
  EXPECT_TRUE(call_rules(c, bf16).lse);
  EXPECT_EQ(arithmetic(c, f32).exp_rel, 1e-6);
  EXPECT_EQ(write_arithmetic(c, f32).overflow, Overflow::Ieee);
  EXPECT_EQ(expected_kernel(c, f32), "mine_*");

  using enum CacheAxis;
  const LayoutSpec &dense = c.layouts.at(Strides::Dense), &fused = c.layouts.at(Strides::Fused);
  EXPECT_EQ(dense.k.order, (std::vector{Page, Slot, Head, Dim})) << "storage and order default to the shape";
  EXPECT_FALSE(dense.indexed_by_plugin);
  EXPECT_TRUE(fused.indexed_by_plugin);
  EXPECT_EQ(fused.k.order, (std::vector{Page, Head, Kv, Dim, Slot}));
  EXPECT_EQ(fused.v.order, (std::vector{Page, Head, Kv, Slot, Dim})) << "order defaults to the storage";
}

TEST_F(ContractFile, OptionsAndTheirFolders) {
  const Contract c =
      one(kLeastContract +
          "options: {binding: '${here}/b.yaml', library: '${deps}/x.so', both: '${deps}:${here}:${deps}', plain: 7}\n");
  const std::string here = folder_.path("b.yaml").substr(0, folder_.path("b.yaml").size() - 7);
  using Options = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(c.options, (Options{{"binding", here + "/b.yaml"},
                                {"library", "/deps/x.so"},
                                {"both", "/deps:" + here + ":/deps"},
                                {"plain", "7"}}));
}

TEST_F(ContractFile, HereIsTheWorkingFolderOfABareName) {
  const auto before = std::filesystem::current_path();
  folder_.write("bare.yaml", kLeastContract + "options: {binding: '${here}/b.yaml'}\n");
  std::filesystem::current_path(folder_.path(""));
  const auto all = read_contracts("bare.yaml", "/deps");
  std::filesystem::current_path(before);
  EXPECT_EQ(all.at(0).options.at(0).second, "./b.yaml") << "not a file of the root folder";
}

TEST_F(ContractFile, VariantsShareWhatTheirFileSays) {
  const auto all = read(kLeastContract +
                        "aliases: [old]\noptions: {isa: none, library: a}\ntakes: {q: f32}\nvariants:\n  mine: {isa: "
                        "avx2}\n  mine_512: {isa: avx512, extra: x}\n");
  ASSERT_EQ(all.size(), 2U);
  using Options = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(all[0].backend, "mine");
  EXPECT_EQ(all[0].options, (Options{{"isa", "avx2"}, {"library", "a"}}));
  EXPECT_EQ(all[0].aliases, std::vector<std::string>{"old"});
  EXPECT_EQ(all[1].backend, "mine_512");
  EXPECT_EQ(all[1].options, (Options{{"isa", "avx512"}, {"library", "a"}, {"extra", "x"}}));
  EXPECT_TRUE(all[1].aliases.empty());
  EXPECT_EQ(all[1].takes.size(), 1U);
}

Contract named(const std::string& name, std::vector<std::string> aliases = {}) {
  return {.backend = name, .aliases = std::move(aliases), .file = name + ".yaml"};
}

TEST(ContractBook, FindsByNameAndAlias) {
  ContractBook book;
  book.add(named("native", {"torch", "sdpa"}));
  book.add(named("fa3"));
  EXPECT_EQ(book.find("native").file, "native.yaml");
  EXPECT_EQ(book.canonical("sdpa"), "native");
  EXPECT_EQ(book.canonical("fa3"), "fa3");
  EXPECT_EQ(book.names(), (std::vector<std::string>{"fa3", "native"}));
  EXPECT_EQ(book.unknown("torch"), std::nullopt);
  EXPECT_EQ(book.unknown("fa4"), "backend 'fa4' is unknown (did you mean 'fa3'?)");
  EXPECT_EQ(message_of<UsageError>([&] { book.find("mlx"); }), "backend 'mlx' is unknown (one of: fa3, native)");
}

TEST(ContractBook, ANameStandsForOneContract) {
  ContractBook book;
  book.add(named("native", {"torch"}));
  book.add(named("fa3"));
  const auto refused = [&](Contract contract) {
    return message_of<UsageError>([&] { book.add(std::move(contract)); });
  };
  EXPECT_EQ(refused(named("fa3")), "fa3.yaml: backend 'fa3' has a contract already, in fa3.yaml");
  EXPECT_EQ(refused(named("torch")), "torch.yaml: backend 'torch' has a contract already, in native.yaml");
  EXPECT_EQ(refused(named("a", {"torch"})), "a.yaml: backend 'torch' has a contract already, in native.yaml");
  EXPECT_EQ(refused(named("b", {"fa3"})), "b.yaml: backend 'fa3' has a contract already, in fa3.yaml");
}

TEST(ContractBook, ReplacesWhatAPluginStandsInFor) {
  ContractBook book;
  book.add(named("native", {"torch"}));
  Contract mine = named("native", {"torch"});
  mine.file = "mine.yaml";
  book.replace(mine);
  EXPECT_EQ(book.find("native").file, "mine.yaml");
  EXPECT_EQ(book.find("torch").file, "mine.yaml");
  book.replace(named("fresh"));
  EXPECT_EQ(book.find("fresh").file, "fresh.yaml");
  book.replace(named("torch"));
  EXPECT_EQ(book.find("torch").file, "torch.yaml") << "the plug-in itself, not what its name was an alias of";
  EXPECT_EQ(book.find("native").file, "mine.yaml");
}

TEST(ContractBook, ReadsAFolder) {
  const TempFolder folder;
  folder.write("b.yaml", "backend: b\nabout: x\nplugin: x\nops: {decode: attend}\n");
  folder.write("a.yaml", "backend: a\nabout: x\nplugin: x\nops: {decode: attend}\nvariants: {a: {o: x}, a2: {o: y}}\n");
  folder.write("notes.txt", "no contract");
  EXPECT_EQ(ContractBook::read(folder.path(""), "").names(), (std::vector<std::string>{"a", "a2", "b"}));
  EXPECT_EQ(message_of<UsageError>([&] { ContractBook::read(folder.path("none"), ""); }),
            folder.path("none") + ": no folder of contracts: No such file or directory");
  folder.write("c.yaml", "backend: a2\nabout: x\nplugin: x\nops: {decode: attend}\n");
  EXPECT_EQ(message_of<UsageError>([&] { ContractBook::read(folder.path("."), ""); }),
            folder.path("./c.yaml") + ": backend 'a2' has a contract already, in " + folder.path("./a.yaml"));
}

}  // namespace
}  // namespace attest::test
