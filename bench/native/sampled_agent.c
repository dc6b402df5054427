/* An agent that has the JVM sample allocations, one in so many bytes (its option), and does nothing with them: the JVM's own part. */
#include <jvmti.h>
#include <stdlib.h>

static void JNICALL ignore(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                           jclass klass, jlong bytes)
{
    (void)jvmti;
    (void)jni;
    (void)thread;
    (void)object;
    (void)klass;
    (void)bytes;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    const jvmtiCapabilities wanted = {.can_generate_sampled_object_alloc_events = 1};
    const jvmtiEventCallbacks callbacks = {.SampledObjectAlloc = ignore};
    jvmtiEnv *jvmti = NULL;

    (void)reserved;
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK ||
        (*jvmti)->AddCapabilities(jvmti, &wanted) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetHeapSamplingInterval(jvmti, atoi(options)) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC,
                                           NULL) != JVMTI_ERROR_NONE)
        return 1;
    return 0;
}
