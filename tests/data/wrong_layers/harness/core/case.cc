#include "harness/run/host.h"
