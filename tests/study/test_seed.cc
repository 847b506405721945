// Every fault of delivery and output must change what the kernel leaves, on some case where its conditions hold, and
// must leave alone what it says it leaves alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/study/faults/delivery.h"
#include "harness/study/faults/output_faults.h"
#include "tests/study/subjects.h"

namespace attest {
namespace {

using test::liar;
using test::named;
using test::subject;

const std::vector<std::string>& tokens() {
  static const std::vector<std::string> all{
      "decode/liar/q=bf16/kv=fp8_e4m3/h=6:2/d=32/page=16/seq=1x15,1x70,1x33/sink=f32/scales=seq_head#3",
      "decode/liar/q=fp8_e4m3/kv=fp8_e4m3/h=6:2/d=32/page=16/seq=1x15,1x70,1x33/scales=odd/plan=reused#3",
      "prefill/liar/q=bf16/kv=auto/h=6:2/d=32/page=16/seq=5x15,3x70/mask=window:20,0#3",
      "mixed/liar/q=bf16/kv=fp8_e4m3/h=6:2/d=32/page=16/seq=5x15,3x70/scales=head#3",
      "prefill/liar/q=bf16/kv=auto/h=6:2/d=32/page=16/seq=9x15,3x70/in=select#3",
  };
  return all;
}

TEST(Seed, EveryFaultOfDeliveryAndOutputChangesSomeCase) {
  std::set<std::string> seeded;
  for (const auto& text : tokens()) {
    const Subject s = subject(text);
    ASSERT_TRUE(s.healthy.reply.ok()) << s.healthy.reply.text;
    EXPECT_FALSE(s.healthy.conduct) << s.healthy.conduct->message;
    for (const Fault& fault : test::shipped()) {
      if (fault.tier == FaultTier::Model || !holds(fault.when, s.c, *s.contract)) continue;
      if (!same_bits(commit(fault, s, liar()), s.healthy)) seeded.insert(fault.name);
    }
  }
  for (const Fault& fault : test::shipped())
    EXPECT_TRUE(fault.tier == FaultTier::Model || seeded.count(fault.name)) << fault.name << " changed nothing";
}

TEST(Seed, TheCatalogueNamesWhatTheHarnessKnows) {
  const auto names_of = [](FaultTier tier) {
    std::vector<std::string> names;
    for (const Fault& fault : test::shipped())
      if (fault.tier == tier) names.push_back(fault.name);
    std::sort(names.begin(), names.end());
    return names;
  };
  auto delivery = delivery_faults(), output = output_faults();
  std::sort(delivery.begin(), delivery.end());
  std::sort(output.begin(), output.end());
  EXPECT_EQ(names_of(FaultTier::Delivery), delivery);
  EXPECT_EQ(names_of(FaultTier::Output), output);
}

TEST(Seed, TheSameLaunchGivesTheSameBits) {
  const Subject s = subject(tokens().front());
  EXPECT_TRUE(same_bits(launch(s, s.prepared.call, "", liar()), s.healthy));
}

TEST(Seed, DeliveryLeavesTheCasesOwnCallAlone) {
  const Subject s = subject(tokens().front());
  const Call before = copy(s.prepared.call);
  for (const auto& name : delivery_faults())
    if (name != "cu_len_q_border_moved" && name.find("slot") == std::string::npos &&
        name.find("new") == std::string::npos && name != "last_token_not_written" &&
        name != "len_kv_of_previous_launch")
      commit(named(name, FaultTier::Delivery), s, liar());
  for (std::size_t i = 0; i < before.storages.size(); ++i) {
    const auto a = before.storages[i].bytes(), b = s.prepared.call.storages[i].bytes();
    EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin())) << i;
  }
}

TEST(Seed, AFaultOfTheModelReachesThePlugIn) {
  const Subject s = subject(tokens().front());
  EXPECT_FALSE(same_bits(commit(named("dropped_v_scale", FaultTier::Model), s, liar()), s.healthy));
  const Outputs mutated = commit(named("touches_input", FaultTier::Model), s, liar());
  ASSERT_TRUE(mutated.conduct);
  EXPECT_EQ(mutated.conduct->kind, FailKind::InputMutated);
  EXPECT_EQ(commit(named("no_such_fault", FaultTier::Model), s, liar()).reply.status, Reply::Status::Unsupported);
}

TEST(Seed, AnUnknownFaultIsSaidWithItsNearest) {
  const Subject s = subject(tokens().front());
  try {
    commit(named("page_duplicate", FaultTier::Delivery), s, liar());
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'page_duplicated'?"), std::string::npos) << error.what();
  }
  EXPECT_THROW(commit(named("gains", FaultTier::Output), s, liar()), UsageError);
}

TEST(Seed, AWrongCacheByteIsConductOfAWrite) {
  const Subject s = subject(tokens()[3]);
  const Outputs left = commit(named("slot_mapping_off_by_one", FaultTier::Delivery), s, liar());
  ASSERT_TRUE(left.conduct);
  EXPECT_EQ(left.conduct->kind, FailKind::CacheWrite);
}

TEST(Seed, DeclinedAndRejectedCasesAreNoSubjects) {
  EXPECT_FALSE(make_subject(parse_token("decode/liar/q=bf16/kv=fp8_e4m3fnuz/h=6:2/d=32/page=16/seq=1x15#3"), liar()));
}

}  // namespace
}  // namespace attest
