// The machine and the libraries, for reports. Not part of the fingerprint.
#pragma once

#include <map>
#include <string>

namespace attest {

std::map<std::string, std::string> environment();  // cpu, cores, os, compiler, libtorch
std::string today();                               // YYYY-MM-DD, local time

}  // namespace attest
