// YAML written where a test can point at its lines, and a book of contracts to read matrices with.
#pragma once

#include "harness/core/error.h"
#include "harness/matrix/matrix_file.h"
#include "tests/core/temp_folder.h"

#include <string>
#include <vector>

namespace attest::test {

class MatrixTest : public testing::Test {
 protected:
  // Backends `native` (alias torch_native), `fa3` and `fa4`, which claim nothing in particular.
  MatrixTest();

  // Reads the texts as files m0.yaml, m1.yaml, ...
  Matrix read(const std::vector<std::string>& texts, const MatrixOptions& options = {}) const;
  std::vector<std::string> tokens(const std::string& text, const MatrixOptions& options = {}) const;
  // What reading it complains about, its folder left out: "m0.yaml:3: ...".
  std::string complaint(const std::vector<std::string>& texts, const MatrixOptions& options = {}) const;

  TempFolder folder_;
  ContractBook contracts_;
};

// A contract file's least, for more to be appended.
inline const std::string kLeastContract = "backend: mine\nabout: a kernel\nplugin: mine\nops: {decode: attend}\n";

// A block's least on lines 2 to 6, for more to be appended from line 7 on.
inline const std::string kLeastBlock =
    "blocks:\n  - name: one\n    phase: decode\n    backend: native\n    seq: 1x5\n    d: 64\n";

// Tokens of kLeastBlock: its phase and backend, then the part given.
std::string decode(const std::string& keys, const std::string& backend = "native");

}  // namespace attest::test
