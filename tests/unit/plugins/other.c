// SPDX-License-Identifier: Apache-2.0 OR MIT
/* A shared object that is no memory manager. */
extern const int something_else;

__attribute__((visibility("default"))) const int something_else = 1;
