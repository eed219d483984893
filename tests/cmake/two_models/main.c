/* SPDX-License-Identifier: Apache-2.0 */
/* Two models, one arena of ours; two more, one of the build; and the errors of an arena that is too small or misaligned. */
#include <stdio.h>
#include <string.h>

#include "first.h"
#include "fourth.h"
#include "second_model.h"
#include "third.h"

#define LARGER(a, b) ((a) > (b) ? (a) : (b))

static _Alignas(16) uint8_t arena[LARGER(FIRST_ARENA_SIZE, SECOND_MODEL_ARENA_SIZE) + 16];

/* A bound on the stack is a constant at compile time. */
typedef char room_t[FIRST_STACK_SIZE + 1];

static int check(const cortexm_model_t *model)
{
    const size_t size = model->arena_size;

    if (cortexm_init(model, NULL, 0) != CORTEXM_ERR_ARGUMENT ||
        cortexm_init(model, arena, size - 1) != CORTEXM_ERR_ARENA_SIZE ||
        cortexm_init(model, arena + 1, size) != CORTEXM_ERR_ARENA_ALIGN ||
        cortexm_init(model, arena, size) != CORTEXM_OK) {
        return 1;
    }
    const cortexm_tensor_t input = cortexm_input(model, arena, 0);
    memset(input.data, 0, input.info->size);
    return cortexm_invoke(model, arena);
}

/* One of the models that share the arena of the build. */
static int run(const cortexm_model_t *model)
{
    const cortexm_tensor_t input = cortexm_input(model, NULL, 0);

    if (input.data == NULL || cortexm_init(model, NULL, 0) != CORTEXM_OK) {
        return 1;
    }
    memset(input.data, 0, input.info->size);
    return cortexm_invoke(model, NULL);
}

int main(void)
{
    if (third.arena != fourth.arena || run(&third) != 0 || run(&fourth) != 0) {
        return 3;
    }
    if (check(&first) != 0 || check(&second_model) != 0) {
        return 1;
    }
    /* Bytes 4 to 7 of an ExecuTorch program identify the format. */
    if (first_pte_size < 64 || memcmp(first_pte + 4, "ET12", 4) != 0) {
        return 2;
    }
    if (first.stack_size != sizeof(room_t) - 1 || second_model.stack_size != SECOND_MODEL_STACK_SIZE ||
        third.stack_size != THIRD_STACK_SIZE || fourth.stack_size != FOURTH_STACK_SIZE) {
        return 4;
    }
    printf("both ran, stack %u\n", (unsigned)first.stack_size);
    return 0;
}
