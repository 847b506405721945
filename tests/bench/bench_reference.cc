// What the reference costs beside LibTorch's own attention on the same problem: FP32 scaled_dot_product_attention with
// enable_gqa, one thread, K and V dense and dequantised beforehand; the reference reads them from the paged cache and
// gives the output, the LSE and the bounds of both. Fails where DET and LSE bounds in mode B take more than the limits.
#include "harness/core/case.h"
#include "harness/inputs/inputs.h"
#include "harness/matrix/contract_file.h"
#include "reference/attention.h"

#include <ATen/ops/randn.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/Parallel.h>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <map>
#include <string>

namespace attest {
namespace {

constexpr double kMostF64 = 6, kMostF32 = 3.5;  // times LibTorch's time

struct Shape {
  std::string name, phase, seq;
  int batch, len_q, len_kv;
};
const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all{{"decode", "decode", "8*1x4096/mask=full", 8, 1, 4096},
                                      {"prefill", "prefill", "1024x1024/mask=full", 1, 1024, 1024}};
  return all;
}

void libtorch(benchmark::State& state, const Shape& shape) {
  const auto q = at::randn({shape.batch, 32, shape.len_q, 128});
  const auto k = at::randn({shape.batch, 8, shape.len_kv, 128}), v = at::randn({shape.batch, 8, shape.len_kv, 128});
  for (auto _ : state)
    benchmark::DoNotOptimize(at::scaled_dot_product_attention(q, k, v, {}, 0.0, false, std::nullopt, true));
}

struct Mode {
  std::string name, backend, q, kv;
  bool tensor_cores;  // else sums are chains of binary32
  ReferenceOptions options;
};
const std::vector<Mode>& modes() {
  static const std::vector<Mode> all{
      {"B f64", "tile_b", "bf16", "fp8_e4m3", false, {Precision::F64, false}},
      {"B f32", "tile_b", "bf16", "fp8_e4m3", false, {Precision::F32, false}},
      {"B f64 PRB", "tile_b", "bf16", "fp8_e4m3", false, {Precision::F64, true}},
      {"B f64 tensor cores", "tile_b", "bf16", "fp8_e4m3", true, {Precision::F64, false}},
      {"C f64 tensor cores PRB", "tile_c", "fp8_e4m3", "fp8_e4m3", true, {Precision::F64, true}}};
  return all;
}

void reference(benchmark::State& state, const Shape& shape, const Mode& mode) {
  static const ContractBook contracts = ContractBook::read(ATTEST_SOURCE_DIR "/cases/contracts", "");
  const Case c = parse_token(fmt::format("{}/{}/q={}/kv={}/h=32:8/d=128/page=16/seq={}/scales=odd#1", shape.phase,
                                         mode.backend, mode.q, mode.kv, shape.seq));
  const Contract& contract = contracts.find(c.backend);
  const Problem problem = make_problem(c, contract);
  const Call call = make_inputs(c, problem);
  Arithmetic of_mode = arithmetic(contract, c);
  if (!mode.tensor_cores) of_mode.qk_acc = of_mode.pv_acc = {};
  for (auto _ : state) benchmark::DoNotOptimize(attend(problem, call, of_mode, call_rules(contract, c), mode.options));
}

// Keeps the shortest of the repetitions: what else the machine does only adds.
class Shortest : public benchmark::ConsoleReporter {
 public:
  std::map<std::string, double> seconds;

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      const double now = run.real_accumulated_time / static_cast<double>(run.iterations);
      double& least = seconds.try_emplace(run.run_name.function_name, now).first->second;
      least = std::min(least, now);
    }
    ConsoleReporter::ReportRuns(runs);
  }
};

bool within_limits(const std::map<std::string, double>& seconds) {
  bool within = true;
  fmt::print("\n{:32} {:>10} {:>18}\n", "", "ms", "times LibTorch's");
  for (const Shape& shape : shapes()) {
    if (!seconds.contains(shape.name + " LibTorch")) continue;  // --benchmark_filter left it out
    const double libtorch = seconds.at(shape.name + " LibTorch");
    fmt::print("{:32} {:10.1f}\n", shape.name + " LibTorch", libtorch * 1e3);
    for (const Mode& mode : modes()) {
      if (!seconds.contains(shape.name + " " + mode.name)) continue;
      const double own = seconds.at(shape.name + " " + mode.name);
      const double most = mode.name == "B f64" ? kMostF64 : mode.name == "B f32" ? kMostF32 : INFINITY;
      const bool holds = own <= most * libtorch;
      fmt::print("{:32} {:10.1f} {:18.2f}{}\n", shape.name + " " + mode.name, own * 1e3, own / libtorch,
                 holds ? "" : fmt::format("  more than {}", most));
      within &= holds;
    }
  }
  return within;
}

}  // namespace
}  // namespace attest

int main(int argc, char** argv) {
  at::set_num_threads(1);
  benchmark::Initialize(&argc, argv);
  for (const auto& shape : attest::shapes()) {
    const auto add = [&](const std::string& name, auto run) {
      benchmark::RegisterBenchmark((shape.name + " " + name).c_str(), run)
          ->Unit(benchmark::kMillisecond)
          ->Repetitions(3)
          ->MinTime(0.05)
          ->UseRealTime();
    };
    add("LibTorch", [&shape](benchmark::State& state) { attest::libtorch(state, shape); });
    for (const auto& mode : attest::modes())
      add(mode.name, [&shape, &mode](benchmark::State& state) { attest::reference(state, shape, mode); });
  }
  attest::Shortest reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return attest::within_limits(reporter.seconds) ? 0 : 1;
}
