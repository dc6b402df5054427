/* An agent that does nothing: what it costs to load it is the JVM's own part of an attach. */
#include <stddef.h>

__attribute__((visibility("default"))) int Agent_OnAttach(void *java_vm, char *options,
                                                          void *reserved);

int Agent_OnAttach(void *java_vm, char *options, void *reserved)
{
    (void)java_vm;
    (void)options;
    (void)reserved;
    return 0;
}
