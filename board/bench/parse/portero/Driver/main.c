#include "../../bench.h"
const char *lib_name = "portero";
