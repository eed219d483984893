/* SPDX-License-Identifier: Apache-2.0 */
/* What user threads that run models must reach: see docs/zephyr.md. */
#include <cortexm/zephyr.h>
#include <zephyr/app_memory/app_memdomain.h>

K_APPMEM_PARTITION_DEFINE(cortexm_partition);
