/* Names without what changes from run to run, and without packages; titles. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "profile/profile_internal.h"

TestSuite(profile_style, .timeout = 1800);

/* As class files (with slashes, and a plus for hidden classes) and recordings spell them. */
static const char *const names[][2] = {
    /* 8: unsafe anonymous classes bear their hash */
    {"com/acme/Work$$Lambda$14/1915503092", "com/acme/Work$$Lambda"},
    {"java/lang/invoke/LambdaForm$DMH/1537358694", "java/lang/invoke/LambdaForm$DMH"},
    {"sun/reflect/GeneratedMethodAccessor12", "sun/reflect/GeneratedMethodAccessor"},
    {"com/sun/proxy/$Proxy12", "com/sun/proxy/$Proxy"},
    /* 9 to 14 */
    {"com/acme/Work$$Lambda$14/0x0000000840060840", "com/acme/Work$$Lambda"},
    {"jdk/internal/reflect/GeneratedConstructorAccessor3",
     "jdk/internal/reflect/GeneratedConstructorAccessor"},
    {"jdk/internal/reflect/GeneratedSerializationConstructorAccessor1",
     "jdk/internal/reflect/GeneratedSerializationConstructorAccessor"},
    /* 15 to 20: hidden classes */
    {"com/acme/Work$$Lambda$14+0x00007f31c8000a00", "com/acme/Work$$Lambda"},
    {"Work$$Lambda$88+0x0000000800c03000/360062456", "Work$$Lambda"},
    {"jdk/proxy2/$Proxy12", "jdk/proxy/$Proxy"},
    {"com/sun/proxy/jdk/proxy1/$Proxy2", "com/sun/proxy/jdk/proxy/$Proxy"},
    {"jdk/MHProxy1/Names$Shape+0x000000001316ac00", "jdk/MHProxy/Names$Shape"},
    {"com/acme/$Proxy7", "com/acme/$Proxy"},
    /* 21 and newer */
    {"com/acme/Work$$Lambda+0x00007f31c8000a00", "com/acme/Work$$Lambda"},
    {"com/acme/Work$$Lambda/0x0000000082045210", "com/acme/Work$$Lambda"},
    {"com.acme.Work$$Lambda.0x0000000082045210", "com.acme.Work$$Lambda"},
    {"java/lang/invoke/LambdaForm$MH+0x00007f31c8000a00", "java/lang/invoke/LambdaForm$MH"},
    {"java/lang/String$$StringConcat+0x000000001400d000", "java/lang/String$$StringConcat"},
    {"[Lcom/acme/Work$$Lambda+0x00007f31c8000a00;", "[Lcom/acme/Work$$Lambda;"},
    {"[Ljdk/proxy2/$Proxy12;", "[Ljdk/proxy/$Proxy;"},
    /* libraries */
    {"a/Bean$$EnhancerBySpringCGLIB$$d0c3a1f", "a/Bean$$EnhancerBySpringCGLIB$$"},
    {"a/Bean$$SpringCGLIB$$0", "a/Bean$$SpringCGLIB$$"},
    {"a/Bean$$FastClassBySpringCGLIB$$1f", "a/Bean$$FastClassBySpringCGLIB$$"},
    {"a/Entity$HibernateProxy$qTz81xAb", "a/Entity$HibernateProxy"},
    {"a/Service$MockitoMock$1234567890", "a/Service$MockitoMock"},
    {"a/Service$ByteBuddy$kP0v2XyZ", "a/Service$ByteBuddy"},
    {"a/Bean$HibernateInstantiator$Xy12", "a/Bean$HibernateInstantiator"},
    {"a/Bean$$EnhancerByCGLIB$$1a2b3c", "a/Bean$$EnhancerByCGLIB$$"},
    {"a/Bean$$EnhancerByGuice$$1a2b3c4d", "a/Bean$$EnhancerByGuice$$"},
    {"a/Bean$$FastClassByGuice$$180254617", "a/Bean$$FastClassByGuice$$"},
    {"a/Bean$$EnhancerBySpringCGLIB$$1a2b3c$$FastClassBySpringCGLIB$$d0c3a1f",
     "a/Bean$$EnhancerBySpringCGLIB$$$$FastClassBySpringCGLIB$$"},
    {"a/Bean$ByteBuddy$x1Y2$auxiliary$aB3", "a/Bean$ByteBuddy$auxiliary"},
    {"a/Bean_$$_jvst3b1_0", "a/Bean_$$_jvst"},
    {"a/Bean_$$_javassist_12", "a/Bean_$$_javassist"},
    {"a/Bean$Access4JacksonSerializer53fd30d1", "a/Bean$Access4JacksonSerializer"},
    {"a/Bean$Creator4JacksonDeserializer1a2b3c4", "a/Bean$Creator4JacksonDeserializer"},
    {"ASMAccessorImpl_12345678901642", "ASMAccessorImpl"},
    {"spel/Ex12", "spel/Ex"},
    {"Script17", "Script"},
    {"Script17$_run_closure1", "Script$_run_closure1"},
    {"user$eval1742", "user$eval"},
    {"user$eval1742$fn__1743", "user$eval$fn__"},
    {"acme/core$handler$reify__8812", "acme/core$handler$reify__"},
    {"acme/core$rows$iter__120__124$fn__125", "acme/core$rows$iter__$fn__"},
    {"jdk/nashorn/internal/scripts/Script$12$main", "jdk/nashorn/internal/scripts/Script$main"},
    {"jdk/nashorn/internal/scripts/Script$Recompilation$7$120A$main",
     "jdk/nashorn/internal/scripts/Script$Recompilation$120A$main"},
    /* in the package of the interface, which may be the unnamed one */
    {"$Proxy0", "$Proxy"},
    {"[L$Proxy0;", "[L$Proxy;"},
    /* what stays as it is */
    {"com/acme/Half$Proxy3", "com/acme/Half$Proxy3"},
    {"com/acme/Scripts12", "com/acme/Scripts12"},
    {"com/acme/MyScript12", "com/acme/MyScript12"},
    {"com/acme/Main$main$1$invokeSuspend$$inlined$map$1",
     "com/acme/Main$main$1$invokeSuspend$$inlined$map$1"},
    {"com/acme/Main$$anonfun$main$1", "com/acme/Main$$anonfun$main$1"},
    {"com/acme/Evals$evaluate1", "com/acme/Evals$evaluate1"},
    {"com/acme/Work", "com/acme/Work"},
    {"com/acme/Work$1", "com/acme/Work$1"},
    {"com/acme/Lambda$2", "com/acme/Lambda$2"},
    {"com/acme/Work$$LambdaFactory", "com/acme/Work$$LambdaFactory"},
    {"com/acme/Base64", "com/acme/Base64"},
    {"com/acme/GeneratedMethodAccessor12Test", "com/acme/GeneratedMethodAccessor12Test"},
    {"com/acme/ProxyServer2", "com/acme/ProxyServer2"},
    {"java/lang/invoke/DirectMethodHandle$Holder", "java/lang/invoke/DirectMethodHandle$Holder"},
    {"java/lang/invoke/BoundMethodHandle$Species_LLI",
     "java/lang/invoke/BoundMethodHandle$Species_LLI"},
    {"[[I", "[[I"},
    {"/0x1", "/0x1"},
    {"0x1", "0x1"},
    {"12", "12"},
    {"", ""},
    {"[", "["},
    {"[L;", "[L;"},
};

Test(profile_style, what_gets_another_name_in_every_run_gets_one)
{
    for (size_t i = 0; i < JW_COUNT_OF(names); i++) {
        char name[128];

        snprintf(name, sizeof name, "%s", names[i][0]);
        profile_normalise_class(name);
        cr_expect_str_eq(name, names[i][1], "%s: %s", names[i][0], name);
        profile_normalise_class(name);
        cr_expect_str_eq(name, names[i][1], "again: %s", names[i][0]);
    }
}

Test(profile_style, a_simple_class_has_no_package)
{
    static const char *const cases[][2] = {
        {"com/acme/Work", "Work"},
        {"com/acme/Work$Inner", "Work$Inner"},
        {"Work", "Work"},
        {"com/acme/Work$$Lambda+0x00007f31c8000a00", "Work$$Lambda+0x00007f31c8000a00"},
        {"com/acme/Work$$Lambda$14/0x0000000840060840", "Work$$Lambda$14/0x0000000840060840"},
        {"com/acme/Work$$Lambda$14/1915503092", "Work$$Lambda$14/1915503092"},
        {"[Ljava/lang/String;", "[LString;"},
        {"[[I", "[[I"},
        {"a/", "a/"},
        {"", ""},
    };

    for (size_t i = 0; i < JW_COUNT_OF(cases); i++) {
        char name[128];

        snprintf(name, sizeof name, "%s", cases[i][0]);
        profile_simplify_class(name);
        cr_expect_str_eq(name, cases[i][1], "%s: %s", cases[i][0], name);
    }
}

Test(profile_style, a_title_says_its_whole_length_and_is_cut_to_fit)
{
    const struct profile_name name = {.kind = PROFILE_NAME_JAVA,
                                      .class_name = "[La/B;",
                                      .method = "run",
                                      .signature = "()V",
                                      .module = "",
                                      .line = 7};
    const struct profile_view dotted = {.is_dotted = true};
    char text[32];

    cr_expect_eq(profile_title(&name, &dotted, text, sizeof text), strlen("a.B[].run()V:7"));
    cr_expect_str_eq(text, "a.B[].run()V:7");
    for (size_t room = 1; room < 14; room++) {
        memset(text, 'Z', sizeof text);
        cr_expect_eq(profile_title(&name, &dotted, text, room), 14);
        cr_expect_eq(strncmp(text, "a.B[].run()V:7", room - 1), 0, "%zu", room);
        cr_expect_eq(text[room - 1], '\0');
        cr_expect_eq(text[room], 'Z');
    }
    cr_expect_eq(profile_title(&name, &dotted, NULL, 0), 14);
}

Test(profile_style, libraries_stand_before_functions_that_have_a_name)
{
    static const struct {
        const char *method;
        const char *module;
        const char *shown;
    } cases[] = {
        {"memcpy", "libc.so.6", "libc.so.6`memcpy"},
        {"libc.so.6", "libc.so.6", "libc.so.6"}, /* no symbol */
        {"", "libc.so.6", "libc.so.6"},
        {"memcpy", "", "memcpy"},
        {"", "", "[unknown native code]"},
    };
    const struct profile_view view = {.has_libraries = true};

    for (size_t i = 0; i < JW_COUNT_OF(cases); i++) {
        const struct profile_name name = {.kind = PROFILE_NAME_NATIVE,
                                          .class_name = "",
                                          .method = cases[i].method,
                                          .signature = "",
                                          .module = cases[i].module};
        char text[64];

        profile_title(&name, &view, text, sizeof text);
        cr_expect_str_eq(text, cases[i].shown);
    }
}
