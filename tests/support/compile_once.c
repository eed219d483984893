/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A launcher of the compiler that compiles each file of the checkout once in a run of the tests.
 *
 * Most images have kernels, runtime and board in common, compiled with the same options. CMake puts
 *
 *     compile_once FOLDER CHECKOUT
 *
 * before each call of the compiler (`compile_once` in conftest.py). FOLDER has the objects; it is new
 * in each run. Files are shared that are in CHECKOUT or made of its templates (`stamps`) and include
 * only what is there, if the compiler says nothing about them. All others are compiled as ever. What was
 * compiled with more warnings, or with macros of an application, serves who asks for fewer.
 *
 * Started for every file, some thousand times in a run: hence C.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The options whose paths differ between builds: the object, what it depends on, and the source. */
enum { OUTPUT, TARGET, DEPENDS, SOURCE, PATHS };
static const char *const path_options[PATHS] = {"-o", "-MT", "-MF", "-c"};

typedef struct {
    char *data;
    size_t size;
} text_t;

static void fail(const char *path)
{
    perror(path);
    exit(1);
}

static text_t read_text(const char *path)
{
    struct stat about;
    text_t text;
    const int file = open(path, O_RDONLY);

    if (file < 0 || fstat(file, &about) != 0) {
        fail(path);
    }
    text.data = malloc((size_t)about.st_size + 1);
    text.size = 0;
    for (ssize_t n = 1; text.data != NULL && n > 0; text.size += (size_t)n) {
        n = read(file, text.data + text.size, (size_t)about.st_size - text.size);
        if (n < 0) {
            fail(path);
        }
    }
    close(file);
    return text;
}

static void write_text(const char *path, text_t text)
{
    FILE *file = fopen(path, "wb");

    if (file == NULL || fwrite(text.data, 1, text.size, file) != text.size || fclose(file) != 0) {
        fail(path);
    }
}

static text_t replaced(text_t text, const char *old, const char *new)
{
    const size_t length = strlen(old), more = strlen(new);
    /* Each replacement takes at least one character away and puts `more` there. */
    text_t result = {malloc(text.size * (more + 1) + 1), 0};

    for (size_t i = 0; i < text.size;) {
        if (text.size - i >= length && memcmp(text.data + i, old, length) == 0) {
            memcpy(result.data + result.size, new, more);
            result.size += more;
            i += length;
        } else {
            result.data[result.size++] = text.data[i++];
        }
    }
    return result;
}

/* FNV-1a, of 64 bits, with a zero after what it is of. */
static uint64_t hash(uint64_t before, const char *data, size_t size)
{
    for (size_t i = 0; i <= size; ++i) {
        before = (before ^ (i < size ? (unsigned char)data[i] : 0)) * 1099511628211u;
    }
    return before;
}

static int is_inside(const char *path, const char *folder)
{
    const size_t length = strlen(folder);

    return strncmp(path, folder, length) == 0 && path[length] == '/';
}

static int is_of_a_template(const char *path)
{
    const char *slash = strrchr(path, '/');
    const size_t before = slash == NULL ? 0 : (size_t)(slash - path);

    return before >= 7 && memcmp(slash - 7, "/stamps", 7) == 0;
}

/* Whether a word of the command does not change the object if the compiler says nothing: a warning, or a
 * macro that an application defines and kernels undefine, as test_kernels_emulated.py has it. */
static int is_only_checked(const char *word)
{
    static const char application[] = "=application";
    const size_t length = strlen(word), end = sizeof application - 1;

    if (strncmp(word, "-D", 2) == 0) {
        return length > end && strcmp(word + length - end, application) == 0;
    }
    return strncmp(word, "-W", 2) == 0 && strchr(word, ',') == NULL;
}

/* The three files of an object, beside `base`: the second has the names of `from` as those of `to`. */
static const char *const suffixes[] = {"", ".d", ".su"};

static char *joined(const char *base, const char *suffix, const char *more)
{
    char *path;

    if (asprintf(&path, "%s%s%s", base, suffix, more) < 0) {
        fail(base);
    }
    return path;
}

/* Runs the compiler with what it says in `said`; returns its exit status. */
static int compile(char **command, const char *said)
{
    int status;
    const pid_t child = fork();

    if (child == 0) {
        if (freopen(said, "wb", stderr) == NULL) {
            _exit(127);
        }
        execvp(command[0], command);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0) {
        fail(command[0]);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
    const char *const folder = argv[1], *const checkout = argv[2], *paths[PATHS] = {NULL};
    char **const command = argv + 3, process[32];
    /* Two words of all, and two of those that change the object. */
    uint64_t key[4] = {14695981039346656037u, 0x9e3779b97f4a7c15u};
    int is_shared = 1, status;

    memcpy(key + 2, key, 2 * sizeof *key);
    if (argc < 4) {
        fprintf(stderr, "usage: compile_once FOLDER CHECKOUT COMPILER...\n");
        return 1;
    }
    for (int i = 3; i < argc; ++i) {
        const char *word = argv[i], *include = NULL;
        int kind = 0;

        while (kind < PATHS && strcmp(word, path_options[kind]) != 0) {
            ++kind;
        }
        if (kind < PATHS) {
            paths[kind] = i + 1 < argc ? argv[++i] : "";
            continue;
        }
        for (int lane = 0; lane < (is_only_checked(word) ? 2 : 4); ++lane) {
            key[lane] = hash(key[lane], word, strlen(word));
        }
        if (strcmp(word, "-isystem") == 0) {
            include = i + 1 < argc ? argv[i + 1] : "";
        } else if (strncmp(word, "-I", 2) == 0) {
            include = word + 2;
        }
        is_shared &= include == NULL || is_inside(include, checkout);
    }
    for (int kind = 0; kind < PATHS; ++kind) {
        is_shared &= paths[kind] != NULL;
    }
    if (!is_shared || !(is_inside(paths[SOURCE], checkout) || is_of_a_template(paths[SOURCE]))) {
        execvp(command[0], command);
        fail(command[0]);
    }
    const text_t source = read_text(paths[SOURCE]);
    const char *name = strrchr(paths[SOURCE], '/') + 1;
    for (int lane = 0; lane < 4; ++lane) {
        key[lane] = hash(hash(key[lane], name, strlen(name)), source.data, source.size);
    }
    char *base, *plain, *stem = strdup(paths[OUTPUT]);
    if (asprintf(&base, "%s/%016llx%016llx", folder, (unsigned long long)key[0],
                 (unsigned long long)key[1]) < 0 ||
        asprintf(&plain, "%s/%016llx%016llx", folder, (unsigned long long)key[2],
                 (unsigned long long)key[3]) < 0) {
        fail(folder);
    }
    if (strrchr(stem, '.') != NULL) {
        *strrchr(stem, '.') = '\0';
    }
    const char *const files[] = {paths[OUTPUT], paths[DEPENDS], joined(stem, ".su", "")};
    if (access(base, F_OK) == 0) {
        for (int i = 0; i < 3; ++i) {
            const char *const stored = joined(base, suffixes[i], "");

            if (access(stored, F_OK) == 0) {
                text_t text = read_text(stored);

                if (i > 0) {
                    text = replaced(text, "<source>", paths[SOURCE]);
                    text = replaced(text, "<target>", paths[TARGET]);
                }
                write_text(files[i], text);
            }
        }
        return 0;
    }
    snprintf(process, sizeof process, ".%ld", (long)getpid());
    const char *const said = joined(base, process, ".txt");
    status = compile(command, said);
    const text_t errors = read_text(said);
    unlink(said);
    fwrite(errors.data, 1, errors.size, stderr);
    /* The object is the last: it says that the others are there. */
    for (int i = 2; status == 0 && errors.size == 0 && i >= 0; --i) {
        if (access(files[i], F_OK) == 0) {
            const char *const part = joined(base, suffixes[i], process);
            text_t text = read_text(files[i]);

            if (i > 0) {
                text = replaced(text, paths[SOURCE], "<source>");
                text = replaced(text, paths[TARGET], "<target>");
            }
            write_text(part, text);
            if (strcmp(plain, base) != 0 && link(part, joined(plain, suffixes[i], "")) != 0 &&
                errno != EEXIST) {
                fail(part);
            }
            if (rename(part, joined(base, suffixes[i], "")) != 0) {
                fail(part);
            }
        }
    }
    return status;
}
