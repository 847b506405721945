#include "harness/matrix/waiver_file.h"

#include "harness/matrix/yaml.h"

namespace attest {

std::vector<Waiver> read_waivers(const std::string& path) {
  const YamlFile file(path);
  std::vector<Waiver> all;
  file.each(file.root(), {"waivers", "define"},
            [&](const std::string& section, const YAML::Node&, const YAML::Node& list) {
              if (section == "define") return;  // anchors
              if (!list.IsSequence()) file.fail(list, "expected a list of waivers");
              for (const YAML::Node& item : list) {
                Waiver w;
                w.place = file.place(item);
                file.each(item, {"backend", "version", "cases", "seen", "reference", "expires"},
                          [&](const std::string& key, const YAML::Node&, const YAML::Node& value) {
                            std::string& to = key == "backend"     ? w.backend
                                              : key == "version"   ? w.version
                                              : key == "cases"     ? w.cases
                                              : key == "seen"      ? w.seen
                                              : key == "reference" ? w.reference
                                                                   : w.expires;
                            to = file.scalar(value, key);
                          });
                if (const auto wrong = check(w)) file.fail(item, *wrong);
                all.push_back(std::move(w));
              }
            });
  return all;
}

}  // namespace attest
