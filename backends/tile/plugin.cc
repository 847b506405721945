// The plug-in around the engine. Options: model (a, b, c, rpa, f16), and any field of its arithmetic by the name that a
// contract gives it; form (vector, scalar).
#include "backends/plugin_table.h"
#include "backends/tile/engine.h"

#include <algorithm>

namespace attest::tile {
namespace {

struct Kernel {
  struct Plan : Work {
    attest_status run(attest_message*) {
      if (problem.op == ATTEST_OP_WRITE || problem.op == ATTEST_OP_WRITE_ATTEND) write(*this);
      if (problem.op == ATTEST_OP_ATTEND || problem.op == ATTEST_OP_WRITE_ATTEND) attend(*this);
      return ATTEST_OK;
    }
    attest_result result() { return {.ran = "tile", .produced = {}}; }
  };

  Model model;
  const Ops* ops = &kVector;
  std::string about;

  static attest_status open(const plugin::Options& given, std::unique_ptr<Kernel>& made, attest_message* message) {
    plugin::Options options = given;
    made = std::make_unique<Kernel>();
    if (options.contains("form")) {
      if (options["form"] != "scalar" && options["form"] != "vector")
        return plugin::fail(ATTEST_ERROR, message,
                            "option form: '" + options["form"] + "' is neither scalar nor vector", "tile");
      made->ops = options["form"] == "scalar" ? &kScalar : &kVector;
      options.erase("form");
    }
    const std::string name = options.contains("model") ? options["model"] : "a";
    const auto model = find_model(name);
    if (!model)
      return plugin::fail(ATTEST_ERROR, message, "option model: no model '" + name + "' (a, b, c, rpa, f16)", "tile");
    made->model = *model;
    if (const auto wrong = configure(made->model, options)) return plugin::fail(ATTEST_ERROR, message, *wrong, "tile");
    made->about = "a tiled online-softmax engine with the arithmetic of model " + name;
    return ATTEST_OK;
  }

  attest_description describe() const { return {.version = "1", .about = about.c_str()}; }

  attest_status supports(const attest_problem& problem, attest_message* message) const {
    const std::string_view fault = problem.fault;
    const auto known = [&](const Fault& f) { return f.name == fault; };
    if (!fault.empty() && std::none_of(faults().begin(), faults().end(), known))
      return plugin::fail(ATTEST_UNSUPPORTED, message, "tile knows no fault '" + std::string(fault) + "'");
    return ATTEST_OK;
  }

  attest_status plan(const attest_problem& problem, const attest_slots& slots, std::unique_ptr<Plan>& made,
                     attest_message*) {
    made = std::make_unique<Plan>();
    made->problem = problem;
    made->slots = slots;
    made->model = model;
    made->ops = ops;
    for (const Fault& fault : faults())
      if (fault.name == problem.fault) fault.turn(made->model, made->knobs);
    return ATTEST_OK;
  }
};

}  // namespace
}  // namespace attest::tile

extern "C" const attest_backend* attest_backend_entry(void) { return &attest::plugin::kTable<attest::tile::Kernel>; }
