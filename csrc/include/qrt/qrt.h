/* The whole interface of the kernels. */
#pragma once

#include "qrt/kernels.h"
#include "qrt/plan.h"
