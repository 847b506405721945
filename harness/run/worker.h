// The main of a worker process: answers requests on its socket until the other end closes.
#pragma once

namespace attest {

int worker_main();

}  // namespace attest
