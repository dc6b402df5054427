/* Recordings for tests of the doctor. Context: tool. */
#include "support/doctor_maker.h"

#include <stdarg.h>

static const char *const rows[] = {
    "root",
    "  metadata",
    "    class name=long id=10",
    "    class name=int id=11",
    "    class name=java.lang.String id=12",
    "    class name=boolean id=13",
    "    class name=java.lang.Thread id=20",
    "      field name=osName class=12",
    "    class name=jdk.types.StackTrace id=21",
    "      field name=truncated class=13",
    "      field name=frames class=22 dimension=1",
    "    class name=jdk.types.StackFrame id=22",
    "      field name=method class=24 constantPool=true",
    "      field name=lineNumber class=11",
    "      field name=bytecodeIndex class=11",
    "      field name=type class=23 constantPool=true",
    MAKER_NAME_ROWS,
    "    class name=jdk.ExecutionSample id=101 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=stackTrace class=21 constantPool=true",
    "      field name=weight class=10",
    "    class name=jaywalk.Diagnostics id=103 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=signals class=10",
    "      field name=samples class=10",
    "      field name=lostNoThread class=10",
    "      field name=lostStoreFull class=10",
    "      field name=sparedWaiting class=10",
    "      field name=stacksCompared class=10",
    "      field name=stacksEqual class=10",
    "      field name=stacksDifferent class=10",
    "      field name=stacksUnwalked class=10",
    "      field name=framesEqual class=10",
    "      field name=stopsTold class=10",
    "      field name=stopsAtPoll class=10",
    "      field name=stopsOtherMethod class=10",
    "      field name=stopsOtherLine class=10",
    "      field name=stopsUntold class=10",
    "      field name=inFlight class=10",
    "    class name=jaywalk.WalkFailure id=104 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=code class=11",
    "      field name=reason class=12",
    "      field name=where class=12",
    "      field name=walker class=12",
    "      field name=count class=10",
    "    class name=jaywalk.WalkerChange id=105 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=part class=12",
    "      field name=from class=12",
    "      field name=to class=12",
    "      field name=reason class=12",
    "      field name=retry class=10",
    "    class name=jaywalk.Memory id=106 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=subsystem class=12",
    "      field name=used class=10",
    "      field name=charged class=10",
    "      field name=limit class=10",
    "      field name=refused class=10",
    "    class name=jaywalk.SelfCost id=107 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=processTime class=10",
    "      field name=handlerTime class=10",
    "      field name=kernelTime class=10",
    "      field name=agentThread class=10",
    "    class name=jdk.ActiveSetting id=108 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=id class=10",
    "      field name=name class=12",
    "      field name=value class=12",
    "    class name=jaywalk.Conservation id=109 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=signals class=10",
    "      field name=samples class=10",
    "      field name=events class=10",
    "    class name=jdk.JVMInformation id=110 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=jvmVersion class=12",
    "      field name=jvmArguments class=12",
    "      field name=javaArguments class=12",
    "      field name=pid class=10",
    "    class name=jaywalk.CPULedger id=111 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=processTime class=10",
    "      field name=sampledTime class=10",
    "      field name=unsampledShortLived class=10",
    "    class name=jdk.ActiveRecording id=112 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=recordingStart class=10",
    "    class name=jaywalk.HandlerTime id=113 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=clock class=12",
    "      field name=handlers class=10",
    "    class name=jaywalk.HandlerTimeBucket id=114 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=clock class=12",
    "      field name=handlers class=10",
    "    class name=jaywalk.SafepointBias id=115 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=method class=12",
    "      field name=lineNumber class=11",
    "      field name=sampled class=10",
    "      field name=stopped class=10",
    "    class name=jaywalk.SafepointDelay id=116 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=timeToReach class=10",
    "      field name=lateIn class=12",
    "  region locale=en_US gmtOffset=0",
    NULL,
};

void doctor_begin(struct maker *maker)
{
    static const char *const symbols[] = {
        "app/Main",     "main",
        "()V",          "libx.so",
        "jaywalk",      "[broken Java stack]",
        "libjvm.so",    "SafepointSynchronize::block(JavaThread*)",
        DOCTOR_HOSTILE, "[frozen]"};
    static const char *const types[] = {"JIT compiled", "C++", "Unknown"};

    maker_begin_chunk(maker);
    maker_metadata_from(maker, rows);
    const size_t at = maker_begin_checkpoint(maker, 5);
    maker_text_pool(maker, MAKER_SYMBOL, sizeof symbols / sizeof *symbols, symbols);
    maker_text_pool(maker, MAKER_FRAME_TYPE, sizeof types / sizeof *types, types);
    maker_pool(maker, MAKER_CLASS, 5);
    MAKER_PUT(maker, 1, 1, 2, 4, 3, 5, 4, 7, 5, 9);
    maker_pool(maker, MAKER_METHOD, 6);
    MAKER_PUT(maker, 1, 1, 2, 3, 2, 2, 4, 3, 3, 3, 6, 3, 4, 4, 8, 3, 5, 5, 9, 3, 6, 3, 10, 3);
    maker_pool(maker, MAKER_TRACE, 6);
    /* key, truncated, frames, then method, line, bci, type of each */
    MAKER_PUT(maker, STACK_PLAIN, 0, 1, 1, 7, 0, 1);
    MAKER_PUT(maker, STACK_GAP, 0, 2, 2, 0, 0, 2, 3, 0, 0, 3);
    MAKER_PUT(maker, STACK_TRUNCATED, 1, 1, 1, 7, 0, 1);
    MAKER_PUT(maker, STACK_SAFEPOINT, 0, 2, 4, 0, 0, 2, 1, 7, 0, 1);
    MAKER_PUT(maker, STACK_FROZEN, 0, 2, 1, 7, 0, 1, 6, 0, 0, 3);
    MAKER_PUT(maker, STACK_HOSTILE, 0, 2, 5, 0, 0, 2, 3, 0, 0, 3);
    maker_end_event(maker, at);
}

void doctor_event(struct maker *maker, uint64_t type, const char *fields, ...)
{
    const size_t at = maker_begin_event(maker, type);
    va_list values;

    maker_varint(maker, 1); /* startTime */
    va_start(values, fields);
    for (; *fields != '\0'; fields++) {
        if (*fields == 't')
            maker_text(maker, va_arg(values, const char *));
        else
            maker_varint(maker, va_arg(values, uint64_t));
    }
    va_end(values);
    maker_end_event(maker, at);
}
