/*
 * Names as a view wants them: without what changes from run to run, without packages. Context: dump, tool.
 *
 * What the JDK and others make up at run time, as class files and recordings spell it:
 *     Work$$Lambda$14/1915503092                      8: unsafe anonymous classes
 *     Work$$Lambda$14/0x0000000840060840              9 to 14, in hex
 *     Work$$Lambda$14+0x00007f31c8000a00              15 to 20, hidden classes as the VM names them
 *     Work$$Lambda+0x00007f31c8000a00                 21 and newer
 *     Work$$Lambda/0x..., .../360062456               the same in recordings of the JDK, and its hash
 *     java/lang/invoke/LambdaForm$MH+0x...            and all other hidden classes
 *     jdk/internal/reflect/GeneratedMethodAccessor12  reflection up to 21 (sun/reflect in 8)
 *     jdk/proxy2/$Proxy12, com/sun/proxy/$Proxy7      proxies, from 16 on and before
 *     $Proxy0                                         of an interface that is not public, in its package
 * Source: OpenJDK 8 to 26, ClassFileParser, InnerClassLambdaMetafactory, Proxy, MethodHandleProxies,
 * MethodAccessorGenerator; seen on 8, 11, 17, 21, 25 and 26.
 */
#include <string.h>

#include "profile/profile_internal.h"

enum profile_run {
    PROFILE_RUN_DIGITS,
    PROFILE_RUN_HEX,
    PROFILE_RUN_WORD, /* letters and digits */
    PROFILE_RUN_NAME, /* the same, and underscores */
};

/* Behind `before`, a run of such characters is one number of many; so is `link` between the two. With
 * `is_first`, only where `before` begins a name: at its very front, or behind a slash. */
static const struct profile_generated {
    const char *before;
    const char *link;
    enum profile_run run;
    bool is_first;
} profile_generated[] = {
    /* the JDK; 8 to 14 with a JavaScript of its own */
    {"$$Lambda", "$", PROFILE_RUN_DIGITS, false},
    {"GeneratedMethodAccessor", "", PROFILE_RUN_DIGITS, false},
    {"GeneratedConstructorAccessor", "", PROFILE_RUN_DIGITS, false},
    {"GeneratedSerializationConstructorAccessor", "", PROFILE_RUN_DIGITS, false},
    {"$Proxy", "", PROFILE_RUN_DIGITS, true},
    {"jdk/proxy", "", PROFILE_RUN_DIGITS, false},
    {"jdk/MHProxy", "", PROFILE_RUN_DIGITS, true},
    {"nashorn/internal/scripts/Script$Recompilation", "$", PROFILE_RUN_DIGITS, false},
    {"nashorn/internal/scripts/Script", "$", PROFILE_RUN_DIGITS, false},
    /* CGLIB and Spring's, Guice's: d0c3a1f is a hash, or a number */
    {"CGLIB$$", "", PROFILE_RUN_HEX, false},
    {"ByGuice$$", "", PROFILE_RUN_HEX, false},
    /* Byte Buddy, and those that use it */
    {"$ByteBuddy", "$", PROFILE_RUN_WORD, false},
    {"$auxiliary", "$", PROFILE_RUN_WORD, false},
    {"$MockitoMock", "$", PROFILE_RUN_WORD, false},
    {"$HibernateProxy", "$", PROFILE_RUN_WORD, false},
    {"$HibernateBasicProxy", "$", PROFILE_RUN_WORD, false},
    {"$HibernateInstantiator", "$", PROFILE_RUN_WORD, false},
    {"$HibernateAccessOptimizer", "$", PROFILE_RUN_WORD, false},
    /* Javassist */
    {"_$$_jvst", "", PROFILE_RUN_NAME, false},
    {"_$$_javassist", "_", PROFILE_RUN_DIGITS, false},
    /* Jackson's Afterburner, MVEL, Spring's expressions */
    {"4JacksonSerializer", "", PROFILE_RUN_HEX, false},
    {"4JacksonDeserializer", "", PROFILE_RUN_HEX, false},
    {"ASMAccessorImpl", "_", PROFILE_RUN_DIGITS, false},
    {"spel/Ex", "", PROFILE_RUN_DIGITS, true},
    /* scripts of Groovy, evaluated forms of Clojure */
    {"Script", "", PROFILE_RUN_DIGITS, true},
    {"$eval", "", PROFILE_RUN_DIGITS, false},
    {"$fn__", "", PROFILE_RUN_DIGITS, false},
    {"$reify__", "", PROFILE_RUN_DIGITS, false},
    {"$iter__", "", PROFILE_RUN_NAME, false},
};

static bool profile_is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

static bool profile_is_in_run(char letter, enum profile_run run)
{
    const char lower = (char)(letter | 0x20);

    switch (run) {
    case PROFILE_RUN_DIGITS:
        break;
    case PROFILE_RUN_HEX:
        return profile_is_digit(letter) || (lower >= 'a' && lower <= 'f');
    case PROFILE_RUN_NAME:
        if (letter == '_')
            return true;
        __attribute__((fallthrough));
    case PROFILE_RUN_WORD:
        return profile_is_digit(letter) || (lower >= 'a' && lower <= 'z');
    }
    return profile_is_digit(letter);
}

/* A class as it stands in [begin, end): without the brackets and letters of an array's descriptor. */
static char *profile_core(char *class_name, size_t *length_bytes)
{
    char *begin = class_name + strspn(class_name, "[");
    size_t length = strlen(begin);

    if (begin != class_name && begin[0] == 'L' && length > 2 && begin[length - 1] == ';') {
        begin++;
        length -= 2;
    }
    *length_bytes = length;
    return begin;
}

/* Takes [from, to) out of a text. */
static void profile_cut(char *from, const char *to)
{
    memmove(from, to, strlen(to) + 1);
}

/*
 * Where "+0x00007f31c8000a00", "/0x0000000840060840" or "/1915503092" begins at the end of
 * [begin, end); `end` where there is none. No name in a source file has a part that begins with a digit.
 */
static char *profile_hidden_suffix(char *begin, char *end)
{
    char *at = end;

    while (at > begin && profile_is_in_run(at[-1], PROFILE_RUN_HEX))
        at--;
    if (at > begin + 1 && at[-1] == 'x' && at[-2] == '0' && at < end) {
        at -= 2;
    } else {
        at = end;
        while (at > begin && profile_is_digit(at[-1]))
            at--;
    }
    if (at == end || at < begin + 2 || strchr("+/.", at[-1]) == NULL)
        return end;
    return at - 1;
}

static void profile_cut_hidden(char *class_name)
{
    size_t length;
    char *begin = profile_core(class_name, &length);
    char *const end = begin + length;
    char *at = end;

    for (char *next = profile_hidden_suffix(begin, at); next != at;
         next = profile_hidden_suffix(begin, at))
        at = next;
    if (at != end)
        profile_cut(at, end);
}

static void profile_cut_generated(char *class_name, const struct profile_generated *generated)
{
    const size_t link_bytes = strlen(generated->link);
    size_t length;
    const char *const begin = profile_core(class_name, &length);
    char *at = class_name;

    while ((at = strstr(at, generated->before)) != NULL) {
        const bool is_first = at == begin || (at > begin && at[-1] == '/');

        at += strlen(generated->before);
        if (generated->is_first && !is_first)
            continue;
        if (strncmp(at, generated->link, link_bytes) != 0)
            continue;

        const char *end = at + link_bytes;
        bool is_lower = generated->run == PROFILE_RUN_WORD;
        for (; profile_is_in_run(*end, generated->run); end++)
            is_lower = is_lower && *end >= 'a' && *end <= 'z';
        /* A name that only begins so is somebody's own; a word in small letters means something. */
        if (end != at + link_bytes && !is_lower && strchr("/$.;", *end) != NULL)
            profile_cut(at, end);
    }
}

void profile_normalise_class(char *class_name)
{
    profile_cut_hidden(class_name);
    for (size_t i = 0; i < JW_COUNT_OF(profile_generated); i++)
        profile_cut_generated(class_name, &profile_generated[i]);
}

void profile_simplify_class(char *class_name)
{
    size_t length;
    char *begin = profile_core(class_name, &length);

    for (char *at = begin + length; at > begin; at--) {
        /* What begins with a digit belongs to the name of a hidden class. */
        if (at[-1] == '/' && at < begin + length && !profile_is_digit(*at)) {
            profile_cut(begin, at);
            return;
        }
    }
}

uint32_t profile_style_name(struct profile *profile, struct profile_names *names,
                            const struct profile_name *told, const struct profile_view *view)
{
    struct profile_name wanted = *told;
    const bool is_class = (view->is_normalised || view->is_simple) &&
                          !profile_is_root(told->kind) && told->class_name[0] != '\0';
    char *class_name = NULL;

    if (!view->split_signatures)
        wanted.signature = "";
    if (is_class) {
        const size_t size_bytes = strlen(told->class_name) + 1;

        class_name = jw_alloc(size_bytes);
        if (class_name == NULL) {
            profile->is_out_of_memory = true;
            return PROFILE_ABSENT;
        }
        memcpy(class_name, told->class_name, size_bytes);
        if (view->is_normalised)
            profile_normalise_class(class_name);
        if (view->is_simple)
            profile_simplify_class(class_name);
        wanted.class_name = class_name;
    }

    const uint32_t name = profile_intern_name(profile, names, &wanted);
    jw_free(class_name);
    return name;
}
