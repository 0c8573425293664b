#include "CMnl.h"
