#pragma once
#include <curl/curl.h>
#include "CCurlBlocking.h"
