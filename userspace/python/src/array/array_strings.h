/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Arrays of strings behind dray.Strings, for the files about them. */
#ifndef DRAY_PYTHON_ARRAY_STRINGS_H
#define DRAY_PYTHON_ARRAY_STRINGS_H

#include "base/handle.h"
#include "object/array_object.h"

extern const struct handle_kind strings_kind;

#endif /* DRAY_PYTHON_ARRAY_STRINGS_H */
