#include "harness/study/faults/delivery.h"

#include "harness/core/error.h"
#include "harness/core/words.h"
#include "harness/study/faults/delivery_faults.h"

#include <fmt/format.h>

namespace attest {

void tamper(const Fault& fault, const Case& c, const Problem& problem, Call& given) {
  const Delivery to{c, problem, given};
  for (const auto table : {page_faults(), length_faults(), tensor_faults()})
    for (const DeliveryFault& known : table)
      if (known.name == fault.name) return known.tamper(to);
  throw UsageError(fmt::format("{}: no fault of delivery is called '{}'{}", fault.place, fault.name,
                               suggestion(fault.name, delivery_faults())));
}

std::vector<std::string> delivery_faults() {
  std::vector<std::string> names;
  for (const auto table : {page_faults(), length_faults(), tensor_faults()})
    for (const DeliveryFault& known : table) names.emplace_back(known.name);
  return names;
}

}  // namespace attest
