/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an application sees of a compiled model: an immutable description and a few functions. This is
 * the only public header; the generated NAME.h includes it. What lies in kernels/include is for
 * generated code and kernels, and may change with every version.
 *
 * A model works in its arena alone, so it may run in several threads at once if each brings an arena of
 * its own. A model built with ARENA own (the default) has a static arena; pass NULL for `arena` to use it.
 *
 * Only a model whose buffers change from call to call (the last inputs of a stream, a hidden state) has
 * other memory, outside of every arena: NAME_state, see its header. It serves one sequence of calls at
 * a time, from one thread.
 */
#ifndef CORTEXM_MODEL_H
#define CORTEXM_MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the functions below return: CORTEXM_OK, or a negative error. */
typedef int cortexm_status_t;

enum {
    CORTEXM_OK = 0,
    CORTEXM_ERR_ARGUMENT = -1,    /* a null model, a null arena for a model without its own, or
                                   * an image of weights that is not at a multiple of 16 */
    CORTEXM_ERR_ARENA_SIZE = -2,  /* the arena is smaller than model->arena_size */
    CORTEXM_ERR_ARENA_ALIGN = -3, /* the arena is not aligned to CORTEXM_ARENA_ALIGN bytes */
    CORTEXM_ERR_ABI = -4,         /* model, weights and library come from different versions */
    CORTEXM_ERR_RUNTIME = -5,     /* RUNTIME executorch: ExecuTorch failed; cortexm_et_error() says why */
    CORTEXM_ERR_STACK = -6,       /* Zephyr: less stack is left than model->stack_size */
    CORTEXM_ERR_NO_WEIGHTS = -7,  /* WEIGHTS partition: no image was loaded, or none is there */
    CORTEXM_ERR_WEIGHTS_DAMAGED = -8, /* the image is cut off, or its checksum is another */
    CORTEXM_ERR_WEIGHTS_TARGET = -9,  /* the image is packed for another core or instruction set */
    CORTEXM_ERR_WEIGHTS_MODEL = -10   /* the image belongs to another model, or to another plan of it */
};

/* Changes whenever generated code and kernel library stop fitting together. */
#define CORTEXM_ABI 4

/* Alignment of an arena in bytes. */
#define CORTEXM_ARENA_ALIGN 16

/* Defines an array without initial values in a linker section, as in
 *     CORTEXM_NOBITS(".ccmram", static _Alignas(CORTEXM_ARENA_ALIGN) uint8_t arena[DIGITS_ARENA_SIZE])
 * without a semicolon. A section attribute alone makes the array one with initial values, zeros that the
 * image holds wherever the linker script does not say NOLOAD. GCC writes the name as it is given, so that
 * it can end the assembler's directive and begin a comment. */
#if defined(__clang__)
#define CORTEXM_PRAGMA(...) _Pragma(#__VA_ARGS__)
#define CORTEXM_NOBITS(name, ...)                                                                   \
    CORTEXM_PRAGMA(clang section bss = name) __VA_ARGS__; CORTEXM_PRAGMA(clang section bss = "")
#elif defined(__arm__)
#define CORTEXM_NOBITS(name, ...) __attribute__((section(name ",\"aw\",%nobits@"))) __VA_ARGS__;
#elif defined(__x86_64__)
#define CORTEXM_NOBITS(name, ...) __attribute__((section(name ",\"aw\",@nobits#"))) __VA_ARGS__;
#else
#define CORTEXM_NOBITS(name, ...) __attribute__((section(name))) __VA_ARGS__;
#endif

/* For NAME_SHARED_ARENA, which stands behind the definition (in C) of an array that models share: the
 * array is large enough for the model, and gets the name by which the model refers to it. */
#define CORTEXM_ARENA_SERVES(array, size, symbol)                                                   \
    _Static_assert(sizeof(array) >= (size), #array " is smaller than one of its models needs");    \
    extern uint8_t symbol[sizeof(array)] __attribute__((alias(#array)));

typedef enum {
    CORTEXM_S8 = 0,
    CORTEXM_S16 = 1,
    CORTEXM_S32 = 2,
    CORTEXM_S64 = 3,
    CORTEXM_U8 = 4,
    CORTEXM_BOOL = 5,
    CORTEXM_F32 = 6
} cortexm_dtype_t;

/* An input or output as the plan places it. */
typedef struct {
    const char *name;
    size_t offset;            /* in the arena, in bytes */
    size_t size;              /* in bytes */
    const int32_t *shape;     /* extents in memory order, outermost first (NHWC for images) */
    uint8_t rank;
    uint8_t dtype;            /* cortexm_dtype_t */
    float scale;              /* real = scale * (code - zero_point); 0 where not quantized */
    int32_t zero_point;
} cortexm_tensor_info_t;

/* A compiled model. Lies in flash and is never written. */
typedef struct cortexm_model {
    uint32_t abi;             /* CORTEXM_ABI of the generator */
    const char *name;
    size_t arena_size;        /* bytes of arena that the plan needs */
    void *arena;              /* the model's own arena, or NULL */
    size_t stack_size;        /* bytes of stack that a call takes at most, interrupts aside; 0: not known */
    const cortexm_tensor_info_t *inputs;
    const cortexm_tensor_info_t *outputs;
    uint16_t input_count;
    uint16_t output_count;
    void (*init)(void *arena);   /* writes what must be in RAM before the first call; NULL if nothing */
    void (*invoke)(void *arena);
    int (*status)(const void *arena); /* what init or invoke came to; NULL if they cannot fail */
} cortexm_model_t;

/* WEIGHTS partition: what an image of a model's weights must be. The generated NAME.h declares
 * NAME_weights. */
typedef struct {
    const char *target;       /* the core and instruction set it is packed for: "cortex-m55 mve" */
    uint32_t size;            /* of an image, in bytes */
    uint8_t plan[16];         /* digest of all that code and image must agree about */
    const uint8_t **image;    /* where the model finds the image in use */
} cortexm_weights_t;

/* The beginning of an image, NAME.weights.bin. Numbers are little endian, texts padded with zeros. */
typedef struct {
    uint32_t magic;           /* CORTEXM_WEIGHTS_MAGIC */
    uint16_t format;          /* 1 */
    uint16_t header_size;     /* of this structure: 128 */
    uint32_t abi;             /* CORTEXM_ABI of the generator */
    uint32_t size;            /* of the image with this header, in bytes */
    uint32_t crc32;           /* IEEE 802.3, of all bytes behind this field */
    uint32_t reserved;        /* 0 */
    char target[24];
    uint8_t plan[16];
    uint8_t weights[32];      /* SHA-256 of all bytes behind this header: tells images apart */
    char name[32];            /* the model's, for people */
} cortexm_weights_header_t;

#define CORTEXM_WEIGHTS_MAGIC 0x574D5843U /* "CXMW" */

/* A tensor in an arena: where its elements are, and what they are. */
typedef struct {
    void *data;
    const cortexm_tensor_info_t *info;
} cortexm_tensor_t;

/* A recorded example of a model (cortexm_add_model(... SAMPLES n)): bytes of its inputs, one after
 * another, and of the outputs that the reference computes from them, likewise; in memory order. */
typedef struct {
    const void *input;
    const void *expected;
    int32_t label;            /* class index, or -1 if the model file gives none */
} cortexm_sample_t;

/* What a status means, as a sentence without a full stop, in English; "unknown status" for numbers that
 * are none. Never NULL. The texts are linked only if this is called. */
const char *cortexm_status_text(cortexm_status_t status);

/* Whether the image at `image` fits the firmware, before anything uses it: CORTEXM_OK, or why not. It lies
 * in memory that can be read like any other, at a multiple of 16, and no byte beyond `size`, the room
 * there is, is read. The checksum finds accidents; that an image comes from whom you trust is for
 * whoever writes it there to check. Linked only if called, as is the next one. */
cortexm_status_t cortexm_check_weights(const cortexm_weights_t *weights, const void *image, size_t size);

/* Checks an image, and lets the model use it from then on: call before cortexm_init(), and again for
 * another image while the model does not run. The image is not copied. If it does not fit, the model keeps
 * the one that it had, if any. NULL takes that away, and the model returns CORTEXM_ERR_NO_WEIGHTS. */
cortexm_status_t cortexm_load_weights(const cortexm_weights_t *weights, const void *image, size_t size);

/* Checks that `arena` serves `model`, and prepares it; gives a model with state the initial one. Call
 * once per arena before the first invoke. Returns CORTEXM_OK or a negative error. */
cortexm_status_t cortexm_init(const cortexm_model_t *model, void *arena, size_t arena_size);

/* Gives a model its initial state, for a new sequence of calls. `arena` as for cortexm_invoke(). Does
 * nothing to a model without state. Returns CORTEXM_OK or a negative error. */
cortexm_status_t cortexm_reset(const cortexm_model_t *model, void *arena);

/* Runs the model once. Inputs must be written before each call: the plan reuses their memory.
 * Returns CORTEXM_OK or a negative error. */
cortexm_status_t cortexm_invoke(const cortexm_model_t *model, void *arena);

/* For models compiled with PROFILE (--profile): defined by the application, called before the first
 * step (0) and after each step (1, 2, …), whose numbers are those in the generated code and the
 * report. */
void cortexm_profile(const cortexm_model_t *model, uint32_t step);

/* The index-th input or output. `data` is NULL if there is no such tensor or no arena. */
cortexm_tensor_t cortexm_input(const cortexm_model_t *model, void *arena, size_t index);
cortexm_tensor_t cortexm_output(const cortexm_model_t *model, void *arena, size_t index);

/* Runs the model on a sample and compares. Returns the number of output bytes that differ from what
 * the reference computed (0: passed), or a negative error. Call cortexm_init before. */
int cortexm_check_sample(const cortexm_model_t *model, void *arena, const cortexm_sample_t *sample);

#ifdef __cplusplus
}
#endif

#endif
