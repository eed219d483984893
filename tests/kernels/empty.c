/* SPDX-License-Identifier: Apache-2.0 */
/* A shared library needs one source of its own; everything else comes from the kernel libraries. */
typedef int cortexm_empty_t;
