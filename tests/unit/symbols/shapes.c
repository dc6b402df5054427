/*
 * Functions of all the shapes that a stack is made of, for test_symbols_step.c, which compiles this
 * file with several options, loads it and steps through it instruction by instruction.
 */
#include <alloca.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

int shapes_run(void);

static volatile int sink;
static jmp_buf place;

struct large {
    long words[40];
};

static NOINLINE int leaf(int a)
{
    return a * 3 + sink;
}

static NOINLINE int many_registers(int a, int b, int c, int d, int e, int f, int g, int h)
{
    const int x = leaf(a) + b, y = leaf(c) * d, z = leaf(e) - f;

    return x * y + z * leaf(g) + h + x;
}

static NOINLINE int recurse(int depth)
{
    return depth == 0 ? leaf(1) : recurse(depth - 1) + leaf(depth);
}

static NOINLINE int moving_stack(int count)
{
    char *bytes = alloca((size_t)count * 16);

    memset(bytes, count, (size_t)count * 16);
    return bytes[count] + leaf(count);
}

static NOINLINE int large_frame(void)
{
    char bytes[20000];

    memset(bytes, 1, sizeof bytes);
    memmove(bytes + 3, bytes, 3000);
    sink = bytes[17];
    return leaf(bytes[19999]);
}

static NOINLINE struct large by_value(struct large in)
{
    in.words[3] += leaf((int)in.words[4]);
    return in;
}

static NOINLINE int variadic(int count, ...)
{
    va_list arguments;
    double sum = 0;

    va_start(arguments, count);
    for (int i = 0; i < count; i++)
        sum += va_arg(arguments, double);
    va_end(arguments);
    return (int)sum;
}

/* Aligned beyond what the ABI promises, and with a stack that moves: a realigned frame. */
static NOINLINE int realigned(int count)
{
    _Alignas(64) double lanes[8] = {1, 2, 3};
    char *more = alloca((size_t)count);

    memset(more, 0, (size_t)count);
    for (int i = 0; i < 8; i++)
        lanes[i] += leaf(i) + more[0];
    return (int)(lanes[2] + sqrt(lanes[count & 7]));
}

static int compare(const void *left, const void *right)
{
    return leaf(*(const int *)left) - leaf(*(const int *)right);
}

static NOINLINE int called_back(void)
{
    int numbers[12] = {5, 3, 9, 1, 7, 2, 8, 4, 6, 11, 0, 10};

    qsort(numbers, 12, sizeof numbers[0], compare);
    return numbers[0];
}

static NOINLINE int through_libc(void)
{
    char text[200];
    char *end;

    snprintf(text, sizeof text, "%d %s %.3f %lx", 42, "text", 3.25, 0xbeefUL);
    return (int)(strtod(text, &end) + pow(1.5, 2.5) + (double)strlen(text));
}

static NOINLINE void jump(int depth)
{
    if (depth == 0)
        longjmp(place, 1);
    jump(depth - 1);
    sink++;
}

static void on_signal(int number)
{
    sink = leaf(number);
}

static NOINLINE int signalled(void)
{
    signal(SIGUSR1, on_signal);
    return raise(SIGUSR1);
}

int shapes_run(void)
{
    struct large value = {{1, 2, 3, 4, 5}};
    int sum = many_registers(1, 2, 3, 4, 5, 6, 7, 8) + recurse(6) + moving_stack(20);

    sum += large_frame() + (int)by_value(value).words[3];
    sum += variadic(3, 1.0, 2.0, 3.0) + realigned(40) + called_back() + through_libc();
    if (setjmp(place) == 0)
        jump(3);
    sum += signalled();
    sum += (int)getpid();
    return sum;
}
