/* What is not instrumented unless a rule lifts it. Context: hook, tool. */
#include "rules/rules_internal.h"

#include <string.h>

static bool begins(struct classfile_text text, const char *with)
{
    const size_t length = strlen(with);

    return text.length_bytes >= length && memcmp(text.bytes, with, length) == 0;
}

static bool is_in_one_of(struct classfile_text name, const char *const *packages)
{
    for (; *packages != NULL; packages++) {
        if (begins(name, *packages))
            return true;
    }
    return false;
}

uint32_t rules_against_name(struct classfile_text name)
{
    static const char *const platform[] = {"java/", "javax/", "jdk/", "sun/", "com/sun/", NULL};
    /* Of Javassist, ASM, BCEL, cglib, Byte Buddy, and the agents built with them. */
    static const char *const libraries[] = {
        "javassist/",    "org/objectweb/",     "org/apache/bcel/",
        "net/sf/cglib/", "net/bytebuddy/",     "org/aspectj/",
        "org/jacoco/",   "org/mockito/cglib/", NULL};
    static const char *const own[] = {"io/jaywalk/", "java/lang/Jaywalk", NULL};
    uint32_t against = 0;

    if (is_in_one_of(name, own))
        against |= 1u << RULES_NEVER_OWN;
    else if (is_in_one_of(name, platform))
        against |= 1u << RULES_NEVER_PLATFORM;
    else if (is_in_one_of(name, libraries))
        against |= 1u << RULES_NEVER_LIBRARY;
    if (classfile_is_text(name, "module-info") ||
        (name.length_bytes >= 13 &&
         memcmp(name.bytes + name.length_bytes - 13, "/package-info", 13) == 0))
        against |= 1u << RULES_NEVER_MODULE;
    return against;
}

static uint32_t against_class(const struct classfile *file)
{
    uint32_t against = rules_against_name(classfile_name(file));

    if ((file->access & CLASSFILE_MODULE) != 0)
        against |= 1u << RULES_NEVER_MODULE;
    if ((file->access & CLASSFILE_ANNOTATION) != 0)
        against |= 1u << RULES_NEVER_ANNOTATION;
    else if ((file->access & CLASSFILE_INTERFACE) != 0)
        against |= 1u << RULES_NEVER_INTERFACE;
    if ((file->access & CLASSFILE_ENUM) != 0)
        against |= 1u << RULES_NEVER_ENUM;
    if ((file->access & CLASSFILE_SYNTHETIC) != 0)
        against |= 1u << RULES_NEVER_SYNTHETIC;
    return against;
}

enum {
    ALOAD_0 = 42,
    ILOAD = 21,
    ALOAD = 25,
    ILOAD_0 = 26,
    ALOAD_3 = 45,
    IRETURN = 172,
    ARETURN = 176,
    RETURN = 177,
    GETSTATIC = 178,
    PUTSTATIC = 179,
    GETFIELD = 180,
    PUTFIELD = 181,
};

static bool is_getter(struct classfile_code code)
{
    const uint8_t *at = code.bytes;

    if (code.length_bytes == 5 && at[0] == ALOAD_0 && at[1] == GETFIELD)
        return at[4] >= IRETURN && at[4] <= ARETURN;
    return code.length_bytes == 4 && at[0] == GETSTATIC && at[3] >= IRETURN && at[3] <= ARETURN;
}

static bool is_setter(struct classfile_code code)
{
    const uint8_t *at = code.bytes;
    uint32_t pc = 0;

    if (code.length_bytes < 5 || at[code.length_bytes - 1] != RETURN)
        return false;
    if (at[code.length_bytes - 4] == PUTFIELD && at[0] == ALOAD_0)
        pc = 1;
    else if (at[code.length_bytes - 4] != PUTSTATIC)
        return false;
    if (at[pc] >= ILOAD && at[pc] <= ALOAD)
        pc += 2;
    else if (at[pc] >= ILOAD_0 && at[pc] <= ALOAD_3)
        pc += 1;
    else
        return false;
    return pc + 4 == code.length_bytes;
}

uint32_t rules_against(const struct classfile *file, uint16_t method)
{
    const struct classfile_member *one = &file->methods[method];
    const struct classfile_text name = classfile_text_of(file, one->name_index);
    uint32_t against = against_class(file);
    struct classfile_code code;

    if ((one->access & (CLASSFILE_ABSTRACT | CLASSFILE_NATIVE)) != 0 ||
        !classfile_code_of(file, one, &code))
        return against | 1u << RULES_NEVER_ABSTRACT;
    if ((one->access & CLASSFILE_SYNTHETIC) != 0)
        against |= 1u << RULES_NEVER_SYNTHETIC;
    if (classfile_is_text(name, "<init>"))
        against |= 1u << RULES_NEVER_CONSTRUCTOR;
    if (classfile_is_text(name, "<clinit>"))
        against |= 1u << RULES_NEVER_INITIALISER;
    if (is_getter(code))
        against |= 1u << RULES_NEVER_GETTER;
    if (is_setter(code))
        against |= 1u << RULES_NEVER_SETTER;
    return against;
}
