/* The whole interface of the kernels. */
#ifndef QRT_H
#define QRT_H

#include "qrt/kernels.h"
#include "qrt/plan.h"

#endif
