/* Runs the command in the test itself, with its streams in files of a directory of the test's. */
#ifndef JW_TESTS_UNIT_CLI_RUN_CLI_H
#define JW_TESTS_UNIT_CLI_RUN_CLI_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

#define RUN_WORDS_MAX 256

static char directory[64]; /* made by the test */
static char out_text[400000];
static char err_text[20000];

static inline void slurp(const char *name, char *text, size_t capacity)
{
    FILE *file = fopen(name, "r");

    cr_assert_not_null(file, "%s", name);
    text[fread(text, 1, capacity - 1, file)] = '\0';
    fclose(file);
}

/* Runs the command; standard output and error go to out_text and err_text. */
static inline int run(const char *const *words)
{
    char *arguments[RUN_WORDS_MAX] = {(char[]){"jaywalk"}};
    char names[2][100];
    int count = 1;

    for (; words[count - 1] != NULL; count++)
        arguments[count] = strdup(words[count - 1]);
    for (int i = 0; i < 2; i++) {
        snprintf(names[i], sizeof names[i], "%s/.stream%d", directory, i);
        cr_assert_not_null(freopen(names[i], "w", i == 0 ? stdout : stderr));
    }
    const int status = cli_main(count, arguments);
    fflush(stdout);
    fflush(stderr);
    slurp(names[0], out_text, sizeof out_text);
    slurp(names[1], err_text, sizeof err_text);
    for (int i = 1; i < count; i++)
        free(arguments[i]);
    return status;
}

#define RUN(...) run((const char *const[]){__VA_ARGS__, NULL})

#endif
