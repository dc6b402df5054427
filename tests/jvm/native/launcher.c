/*
 * A program in C that has a JVM.
 *
 *     launcher LIBJVM destroy|exit OPTION... -- CLASS ARGUMENT...
 *
 * destroy: ends with status 12 when the JVM is destroyed; exit: calls exit(13) while it runs. The rest on stderr, status 90.
 */
#include <dlfcn.h>
#include <jni.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef jint create_function(JavaVM **vm, void **env, void *arguments);

static int give_up(const char *what)
{
    fprintf(stderr, "launcher: %s\n", what);
    return 90;
}

static void run_main(JNIEnv *env, int count, char **words)
{
    jclass class = (*env)->FindClass(env, words[0]);
    jmethodID method =
        class == NULL ? NULL
                      : (*env)->GetStaticMethodID(env, class, "main", "([Ljava/lang/String;)V");
    jclass text = (*env)->FindClass(env, "java/lang/String");

    if (method == NULL || text == NULL)
        exit(give_up("no such class"));
    jobjectArray arguments = (*env)->NewObjectArray(env, count - 1, text, NULL);
    for (int i = 1; i < count; i++)
        (*env)->SetObjectArrayElement(env, arguments, i - 1, (*env)->NewStringUTF(env, words[i]));
    (*env)->CallStaticVoidMethod(env, class, method, arguments);
}

int main(int count, char **words)
{
    JavaVMOption options[32] = {{0}};
    JavaVMInitArgs arguments = {.version = JNI_VERSION_1_8, .options = options};
    create_function *create = NULL;
    JavaVM *vm;
    JNIEnv *env;
    int at = 3;

    for (; at < count && strcmp(words[at], "--") != 0 && arguments.nOptions < 32; at++)
        options[arguments.nOptions++].optionString = words[at];
    if (at + 1 >= count || strcmp(words[at], "--") != 0)
        return give_up("launcher LIBJVM destroy|exit OPTION... -- CLASS ARGUMENT...");

    void *libjvm = dlopen(words[1], RTLD_NOW | RTLD_GLOBAL);
    if (libjvm != NULL)
        *(void **)&create = dlsym(libjvm, "JNI_CreateJavaVM");
    if (create == NULL || create(&vm, (void **)&env, &arguments) != JNI_OK)
        return give_up("no JVM");
    run_main(env, count - at - 1, words + at + 1);
    if (strcmp(words[2], "exit") == 0)
        exit(13);
    (*vm)->DestroyJavaVM(vm);
    return 12;
}
