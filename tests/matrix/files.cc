#include "tests/matrix/files.h"

namespace attest::test {

MatrixTest::MatrixTest() {
  for (const char* name : {"native", "fa3", "fa4"}) {
    Contract contract{.backend = name, .aliases = {}, .file = std::string(name) + ".yaml"};
    if (contract.backend == "native") contract.aliases = {"torch_native"};
    contracts_.add(std::move(contract));
  }
}

Matrix MatrixTest::read(const std::vector<std::string>& texts, const MatrixOptions& options) const {
  std::vector<std::string> paths;
  for (const auto& text : texts) paths.push_back(folder_.write("m" + std::to_string(paths.size()) + ".yaml", text));
  return read_matrix(paths, contracts_, options);
}

std::vector<std::string> MatrixTest::tokens(const std::string& text, const MatrixOptions& options) const {
  std::vector<std::string> all;
  for (const auto& listed : read({text}, options).cases) all.push_back(listed.token);
  return all;
}

std::string MatrixTest::complaint(const std::vector<std::string>& texts, const MatrixOptions& options) const {
  std::string message = message_of<UsageError>([&] { read(texts, options); });
  for (auto at = message.find(folder_.path("")); at != std::string::npos; at = message.find(folder_.path("")))
    message.erase(at, folder_.path("").size());
  return message;
}

std::string decode(const std::string& keys, const std::string& backend) {
  return "decode/" + backend + "/q=bf16/kv=auto/" + keys;
}

}  // namespace attest::test
