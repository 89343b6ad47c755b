#pragma once

#include "src/index/run_files.h"  // HoldsRun() is there now.
