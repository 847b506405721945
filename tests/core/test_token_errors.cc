// What is no token, and what can't be a case. Every message quotes the token, the value, and what would be right.
#include "harness/core/case.h"
#include "harness/core/error.h"
#include "tests/core/temp_folder.h"

#include <gtest/gtest.h>

namespace attest {
namespace {

std::string complaint(const std::string& text) {
  return test::message_of<UsageError>([&] { parse_token(text); });
}

struct Wrong {
  std::string token, message;
};

void expect_complaints(const std::vector<Wrong>& all) {
  for (const auto& [text, message] : all) EXPECT_EQ(complaint(text), "token '" + text + "': " + message);
}

TEST(TokenErrors, ItsFrame) {
  expect_complaints({
      {"", "no #SEED at its end"},
      {"decode/b/seq=1x1", "no #SEED at its end"},
      {"decode/b/seq=1x1#", "seed '' is no number"},
      {"decode/b/seq=1x1#x", "seed 'x' is no number"},
      {"decode/b/seq=1x1#-1", "seed '-1' is no number"},
      {"decode/b/seq=1x1#1.5", "seed '1.5' is no number"},
      {"decode/b/seq=1x1#18446744073709551616", "seed '18446744073709551616' is no number"},
      {"decode#1", "it begins with PHASE/BACKEND/"},
      {"decod/b/seq=1x1#1", "phase 'decod' is unknown (did you mean 'decode'?)"},
      {"q=bf16/b/seq=1x1#1", "phase 'q=bf16' is unknown (one of: decode, prefill, mixed, write, rope)"},
      {"decode//seq=1x1#1", "'' is no backend's name"},
      {"decode/q=bf16/seq=1x1#1", "'q=bf16' is no backend's name"},
  });
}

TEST(TokenErrors, ItsKeys) {
  expect_complaints({
      {"decode/b/seq=1x1/scale=odd#1", "key 'scale' is unknown (did you mean 'scales'?)"},
      {"decode/b/seq=1x1/strid=fused#1", "key 'strid' is unknown (did you mean 'strides'?)"},
      {"decode/b/seq=1x1/#1",
       "key '' is unknown (one of: q, k, v, kv, out, h, d, dv, page, seq, table, mask, cap, sink, scales, strides, "
       "splits, plan, rot, "
       "style, offsets, graph, in, keys, poison, rel, fault)"},
      {"decode/b/seq=1x1/Q=f32#1",
       "key 'Q' is unknown (one of: q, k, v, kv, out, h, d, dv, page, seq, table, mask, cap, sink, scales, strides, "
       "splits, plan, "
       "rot, style, offsets, graph, in, keys, poison, rel, fault)"},
      {"decode/b/seq=1x1/cap#1", "key 'cap' has no value"},
      {"decode/b/seq=1x1/seq=1x2#1", "key 'seq' is given twice"},
      {"decode/b/cap=0/seq=1x1/cap=0#1", "key 'cap' is given twice"},
  });
}

TEST(TokenErrors, ItsValues) {
  const std::string begin = "decode/b/seq=1x1/";
  const std::vector<Wrong> values{
      {"q=bf15", "q: 'bf15' is no dtype (did you mean 'bf16'?)"},
      {"q=q8_0", "q: 'q8_0' is no dtype"},
      {"q=i32", "q: 'i32' is no dtype"},
      {"q=", "q: '' is no dtype"},
      {"k=fp8", "k: 'fp8' is no dtype"},
      {"v=contract", "v: 'contract' is no dtype"},
      {"out=same", "out: 'same' is no dtype"},
      {"sink=off", "sink: 'off' is no dtype"},
      {"kv=fp8_e4m4", "kv: 'fp8_e4m4' is no KV cache (did you mean 'fp8_e4m3'?)"},
      {"kv=f64", "kv: 'f64' is no KV cache"},
      {"h=8", "h: '8' is no pair HEADS_Q:HEADS_KV"},
      {"h=8:0", "h: '8:0' is no pair HEADS_Q:HEADS_KV"},
      {"h=8:2:1", "h: '8:2:1' is no pair HEADS_Q:HEADS_KV"},
      {"d=0", "d: '0' is no integer of at least 1"},
      {"d=64.0", "d: '64.0' is no integer of at least 1"},
      {"d=99999999999", "d: '99999999999' is no integer of at least 1"},
      {"dv=0", "dv: '0' is no integer of at least 1"},
      {"page=-16", "page: '-16' is no integer of at least 1"},
      {"page= 16", "page: ' 16' is no integer of at least 1"},
      {"table=sorted", "table: 'sorted' is unknown"},
      {"mask=casual", "mask: 'casual' is no mask"},
      {"mask=window:8", "mask: 'window:8' is no mask"},
      {"mask=window:8,-2", "mask: 'window:8,-2' is no mask"},
      {"mask=window:1,2,3", "mask: 'window:1,2,3' is no mask"},
      {"mask=chunk:0", "mask: 'chunk:0' is no mask"},
      {"cap=-1", "cap: '-1' is no soft cap"},
      {"cap=inf", "cap: 'inf' is no soft cap"},
      {"cap=nan", "cap: 'nan' is no soft cap"},
      {"cap=30x", "cap: '30x' is no soft cap"},
      {"scales=od", "scales: 'od' is unknown (did you mean 'odd'?)"},
      {"strides=fuse", "strides: 'fuse' is unknown (did you mean 'fused'?)"},
      {"splits=-1", "splits: '-1' is no integer of at least 0"},
      {"plan=old", "plan: 'old' is unknown"},
      {"rot=-2", "rot: '-2' is no integer of at least 0"},
      {"style=neo", "style: 'neo' is unknown (did you mean 'neox'?)"},
      {"offsets=true", "offsets: 'true' is unknown"},
      {"graph=ful", "graph: 'ful' is unknown (did you mean 'full'?)"},
      {"in=gaus", "in: 'gaus' is unknown (did you mean 'gauss'?)"},
      {"in=file:", "in: 'file:' is unknown"},
      {"poison=inf", "poison: 'inf' is unknown"},
      {"fault=", "fault: '' is no fault"},
  };
  for (const auto& [value, message] : values) {
    const std::string text = begin + value + "#1";
    EXPECT_EQ(complaint(text).find("token '" + text + "': " + message), 0U) << complaint(text);
  }
  for (const std::string seq : {"", "1", "x", "1x", "x1", "1x-1", "-1x1", "1x1,", ",1x1", "0*1x1", "*1x1", "2*", "2*1",
                                "a*1x1", "1x1x1", "1X1", "1x1;2x2", "p"}) {
    const std::string text = "decode/b/seq=" + seq + "#1";
    EXPECT_EQ(complaint(text).find("token '" + text + "': seq: "), 0U) << seq << ": " << complaint(text);
  }
  EXPECT_NE(complaint("decode/b/seq=2000000000*1x1#1").find("seq: '2000000000*1x1' makes more than 65536 sequences"),
            std::string::npos);
  EXPECT_EQ(complaint("decode/b/seq=65536*1x1#1"), "");
}

struct Edge {  // `bad` contradicts itself, `good` differs by one step and does not
  std::string bad, message, good;
};

TEST(TokenErrors, Contradictions) {
  const std::vector<Edge> edges{
      {"decode/b/h=8:3/seq=1x1", "h=8:3: 8 query heads are no multiple of 3 KV heads", "decode/b/h=9:3/seq=1x1"},
      {"decode/b/h=2:8/seq=1x1", "h=2:8: 2 query heads are no multiple of 8 KV heads", "decode/b/h=8:8/seq=1x1"},
      {"decode/b/q=f32", "seq: a case needs at least one sequence", "decode/b/q=f32/seq=0x0"},
      {"rope/b/d=64/rot=66/seq=1x1", "rot=66: a rotary dim is even and at most d=64", "rope/b/d=64/rot=64/seq=1x1"},
      {"rope/b/d=64/rot=31/seq=1x1", "rot=31: a rotary dim is even and at most d=64", "rope/b/d=64/rot=32/seq=1x1"},
      {"rope/b/d=63/seq=1x1", "rot=63: a rotary dim is even and at most d=63", "rope/b/d=63/rot=62/seq=1x1"},
      {"rope/b/seq=1x1,3x2", "seq=3x2: new tokens stand at positions from len_kv - len_q on, which is negative",
       "rope/b/seq=1x1,3x3"},
      {"write/b/seq=3x2", "seq=3x2: new tokens stand at positions from len_kv - len_q on, which is negative",
       "write/b/seq=3x3"},
      {"decode/b/d=3/in=select/seq=1x17", "in=select: d=3 can't hold the 5-bit codes of the positions",
       "decode/b/d=5/in=select/seq=1x17"},
      {"decode/b/d=4/in=select/seq=1x17", "in=select: d=4 can't hold the 5-bit codes of the positions",
       "decode/b/d=4/in=select/seq=1x16"},
      {"decode/b/in=select/cap=30/seq=1x1", "in=select: under cap=30 no key can win by 104 nats",
       "decode/b/in=peaky/cap=30/seq=1x1"},
      {"decode/b/in=codes/seq=1x1", "in=codes: every code of the cache, NaN and Inf among them, is for phase write",
       "write/b/in=codes/seq=1x1"},
      {"decode/b/seq=1x9,9x9",
       "seq: a decode step has at most 8 query rows a sequence; longer ones are phase prefill or mixed",
       "decode/b/seq=1x9,8x9"},
  };
  for (const auto& [bad, message, good] : edges) {
    EXPECT_EQ(complaint(bad + "#1"), "token '" + bad + "#1': " + message);
    EXPECT_EQ(complaint(good + "#1"), "");
  }
  // The rules hold where they belong only.
  for (const char* good : {"decode/b/d=63/rot=99/seq=1x1#1", "decode/b/seq=3x2#1", "prefill/b/seq=9x2#1",
                           "mixed/b/seq=9x2#1", "decode/b/cap=30/seq=1x1#1"})
    EXPECT_EQ(complaint(good), "");
}

}  // namespace
}  // namespace attest
