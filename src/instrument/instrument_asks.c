/* What objects of the program are asked. Context: hook, on any Java thread. */
#include <string.h>

#include "instrument/instrument_routes_internal.h"

jobject instrument_ask(JNIEnv *jni, jobject object, const char *name, const char *type)
{
    jclass klass = object == NULL ? NULL : (*jni)->GetObjectClass(jni, object);
    jmethodID method = klass == NULL ? NULL : (*jni)->GetMethodID(jni, klass, name, type);
    jobject given = method == NULL ? NULL : (*jni)->CallObjectMethod(jni, object, method);

    if ((*jni)->ExceptionCheck(jni)) {
        (*jni)->ExceptionClear(jni);
        given = NULL;
    }
    (*jni)->DeleteLocalRef(jni, klass);
    return given;
}

jobject instrument_field_of(JNIEnv *jni, jobject object, const char *name, const char *type)
{
    jclass klass = object == NULL ? NULL : (*jni)->GetObjectClass(jni, object);
    jfieldID field = klass == NULL ? NULL : (*jni)->GetFieldID(jni, klass, name, type);
    jobject given = field == NULL ? NULL : (*jni)->GetObjectField(jni, object, field);

    (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, klass);
    return given;
}

size_t instrument_read_text(JNIEnv *jni, jstring text, char bytes[INSTRUMENT_TEXT_BYTES])
{
    jsize length = text == NULL ? 0 : (*jni)->GetStringLength(jni, text);

    bytes[0] = '\0';
    if (length > INSTRUMENT_TEXT_CHARS)
        length = INSTRUMENT_TEXT_CHARS;
    if (length != 0)
        (*jni)->GetStringUTFRegion(jni, text, 0, length, bytes);
    (*jni)->ExceptionClear(jni);
    return strlen(bytes);
}

bool instrument_ask_whether(JNIEnv *jni, jobject object, const char *name)
{
    jclass klass = object == NULL ? NULL : (*jni)->GetObjectClass(jni, object);
    jmethodID method = klass == NULL ? NULL : (*jni)->GetMethodID(jni, klass, name, "()Z");
    bool given = method != NULL && (*jni)->CallBooleanMethod(jni, object, method) != JNI_FALSE;

    if ((*jni)->ExceptionCheck(jni)) {
        (*jni)->ExceptionClear(jni);
        given = false;
    }
    (*jni)->DeleteLocalRef(jni, klass);
    return given;
}

jobject instrument_attribute_of(JNIEnv *jni, jobject object, const char *name)
{
    jclass klass = (*jni)->GetObjectClass(jni, object);
    jstring text = (*jni)->NewStringUTF(jni, name);
    jmethodID method = text == NULL ? NULL
                                    : (*jni)->GetMethodID(jni, klass, "getAttribute",
                                                          "(Ljava/lang/String;)Ljava/lang/Object;");
    jobject given = method == NULL ? NULL : (*jni)->CallObjectMethod(jni, object, method, text);

    if ((*jni)->ExceptionCheck(jni)) {
        (*jni)->ExceptionClear(jni);
        given = NULL;
    }
    (*jni)->DeleteLocalRef(jni, text);
    (*jni)->DeleteLocalRef(jni, klass);
    return given;
}
