/* All of the kernels' interface. */
#ifndef QRT_H
#define QRT_H

#include "qrt/kernels.h"
#include "qrt/plan.h"

#endif
