/* An agent that does nothing: what it costs to load it is the JVM's own part of a start or an attach. */
#include <stddef.h>

__attribute__((visibility("default"))) int Agent_OnLoad(void *java_vm, char *options,
                                                        void *reserved);
__attribute__((visibility("default"))) int Agent_OnAttach(void *java_vm, char *options,
                                                          void *reserved);

int Agent_OnLoad(void *java_vm, char *options, void *reserved)
{
    (void)java_vm;
    (void)options;
    (void)reserved;
    return 0;
}

int Agent_OnAttach(void *java_vm, char *options, void *reserved)
{
    return Agent_OnLoad(java_vm, options, reserved);
}
