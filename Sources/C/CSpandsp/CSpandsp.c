#include "CSpandsp.h"
