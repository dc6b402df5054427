/* A program without a JVM, two of whose threads work for somebody, as it tells the profiler; until its input ends. */
#include <jaywalk.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_barrier_t ready, over;

static void *serve(void *argument)
{
    const uint64_t span = (uintptr_t)argument;
    char tenant[16];

    snprintf(tenant, sizeof tenant, "t%u", (unsigned)span);
    if (jaywalk_context_set(1, 2, span, span) != JAYWALK_OK ||
        jaywalk_attribute_set(jaywalk_attribute("tenant"), tenant, strlen(tenant)) != JAYWALK_OK)
        return NULL;
    printf("%d %u %s\n", gettid(), (unsigned)span, tenant);
    fflush(stdout);
    pthread_barrier_wait(&ready);
    pthread_barrier_wait(&over);
    return argument;
}

int main(void)
{
    pthread_t threads[2];
    char byte;

    pthread_barrier_init(&ready, NULL, 3);
    pthread_barrier_init(&over, NULL, 3);
    for (uintptr_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, serve, (void *)(i + 71));
    pthread_barrier_wait(&ready);
    printf("ready %d\n", getpid());
    fflush(stdout);
    (void)!read(0, &byte, 1);
    pthread_barrier_wait(&over);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
