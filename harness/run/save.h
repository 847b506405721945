// --save: the tensors of a case as .npy files, one a slot, with what was expected and how far off it may be. The folder
// can be read back with in=file:DIR.
#pragma once

#include "harness/run/run_case.h"

#include <string>

namespace attest {

// FOLDER/<token, made fit for a file name>/: token.txt, <slot>.npy of every input, <slot>.actual.npy, out.expected.npy,
// out.bound.npy (f64). Throws InfraError when it can't be written.
void save_tensors(const std::string& folder, const std::string& token, const CaseTrace& trace);

std::string folder_name(const std::string& token);

}  // namespace attest
