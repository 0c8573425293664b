#pragma once
#include "TLS.h"
