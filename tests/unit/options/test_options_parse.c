/* The agent string: what is taken, what is refused, what is said. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/counters.h"
#include "base/memory.h"
#include "options/options.h"

static struct options_result result;

TestSuite(options_parse, .timeout = 1800);

static bool parse(const char *text)
{
    return options_parse(text, strlen(text), &result);
}

/* Accepted without a word. */
static void parse_quietly(const char *text)
{
    cr_assert(parse(text), "%s: %s", text, result.errors.texts[0]);
    cr_assert(result.warnings.count == 0, "%s: %s", text, result.warnings.texts[0]);
}

/* Accepted with one warning, in which `words` stand. */
static void parse_with_warning(const char *text, const char *words)
{
    cr_assert(parse(text), "%s: %s", text, result.errors.texts[0]);
    cr_assert(result.warnings.count == 1, "%s: %u warnings", text, result.warnings.count);
    cr_assert(strstr(result.warnings.texts[0], words) != NULL, "%s: %s", text,
              result.warnings.texts[0]);
}

/* Refused with one error, in which `words` stand. */
static void refuse(const char *text, const char *words)
{
    cr_assert(!parse(text), "%s", text);
    cr_assert(result.errors.count == 1, "%s: %u errors", text, result.errors.count);
    cr_assert(strstr(result.errors.texts[0], words) != NULL, "%s: %s", text,
              result.errors.texts[0]);
}

Test(options_parse, the_wall_clock_is_off_until_it_is_named)
{
    parse_quietly("start,event=cpu");
    cr_assert(result.values.wall_ns == 0);
    parse_quietly("start,event=cpu,wall");
    cr_assert(result.values.wall_ns == OPTIONS_WALL_DEFAULT_NS);
    cr_assert(result.values.interval_ns == 10000000);
    parse_quietly("start,event=itimer,wall=20ms,interval=2ms");
    cr_assert(result.values.wall_ns == 20000000 && result.values.interval_ns == 2000000);
    cr_assert(result.values.event == OPTIONS_EVENT_ITIMER);
}

Test(options_parse, the_wall_clock_alone_is_the_event)
{
    static const struct {
        const char *text;
        uint64_t wall_ns;
    } cases[] = {
        {"start,event=wall", OPTIONS_WALL_DEFAULT_NS},
        {"start,event=wall,interval=5ms", 5000000},
        {"start,interval=5ms,event=wall", 5000000},
        {"start,wall", OPTIONS_WALL_DEFAULT_NS},
        {"start,wall=7ms", 7000000},
        {"event=wall,wall=7ms", 7000000},
    };

    for (size_t i = 0; i < JW_COUNT_OF(cases); i++) {
        parse_quietly(cases[i].text);
        cr_assert(result.values.event == OPTIONS_EVENT_WALL, "%s", cases[i].text);
        cr_assert(result.values.wall_ns == cases[i].wall_ns, "%s", cases[i].text);
        cr_assert(result.values.interval_ns == cases[i].wall_ns, "%s", cases[i].text);
        cr_assert(result.values.action == OPTIONS_ACTION_START, "%s", cases[i].text);
    }
    parse_with_warning("start,wall=7ms,interval=5ms", "interval: has no effect");
    cr_assert(result.values.wall_ns == 7000000);
}

Test(options_parse, the_filter_and_nobatch_are_handed_on)
{
    parse_quietly("start,event=wall,nobatch,filter=12-40;http-*;main");
    cr_assert(result.values.is_unbatched);
    cr_assert_str_eq(result.values.filter, "12-40;http-*;main");
    parse_quietly("start");
    cr_assert(!result.values.is_unbatched && result.values.filter[0] == '\0');
}

Test(options_parse, an_empty_string_means_the_defaults)
{
    const struct options *values = &result.values;

    cr_assert(options_parse(NULL, 0, &result));
    parse_quietly("");
    cr_assert(values->action == OPTIONS_ACTION_NONE && !values->is_action_given);
    cr_assert(values->event == OPTIONS_EVENT_CPU);
    cr_assert(values->interval_ns == 10000000);
    cr_assert(values->output == OPTIONS_OUTPUT_NONE && values->file[0] == '\0');
    cr_assert(values->jstackdepth_count == 2048);
    cr_assert(values->chunksize_bytes == 100u << 20);
    cr_assert(values->chunktime_ns == 3600000000000);
    cr_assert(values->memlimit_bytes == JW_MEMORY_DEFAULT_BYTES);
    cr_assert(values->cstack == OPTIONS_CSTACK_VM);
    cr_assert(values->loglevel == OPTIONS_LOGLEVEL_INFO);
    cr_assert(values->minwidth_ppm == 0);
    cr_assert(!values->is_by_thread && !values->is_quiet);
    cr_assert(values->title[0] == '\0' && values->log[0] == '\0');
}

Test(options_parse, the_usual_string_is_taken_whole)
{
    parse_quietly("start,event=cpu,interval=10ms,file=out.jfr");
    cr_assert(result.values.action == OPTIONS_ACTION_START && result.values.is_action_given);
    cr_assert(result.values.interval_ns == 10000000);
    cr_assert(result.values.output == OPTIONS_OUTPUT_JFR);
    cr_assert(strcmp(result.values.file, "out.jfr") == 0);
}

Test(options_parse, every_option_fills_its_own_field)
{
    const struct options *values = &result.values;

    parse_quietly("start,event=itimer,interval=250us,jstackdepth=7,cstack=no,memlimit=90m,"
                  "file=a=b.html,threads,title=Hot = not,minwidth=0.5,"
                  "log=/tmp/x.log,loglevel=error,quiet");
    cr_assert(values->event == OPTIONS_EVENT_ITIMER);
    cr_assert(values->interval_ns == 250000);
    cr_assert(values->jstackdepth_count == 7);
    cr_assert(values->cstack == OPTIONS_CSTACK_NO);
    cr_assert(values->memlimit_bytes == 90u << 20);
    cr_assert(strcmp(values->file, "a=b.html") == 0);
    cr_assert(values->is_by_thread && values->is_quiet);
    cr_assert(strcmp(values->title, "Hot = not") == 0);
    cr_assert(values->minwidth_ppm == 5000);
    cr_assert(strcmp(values->log, "/tmp/x.log") == 0);
    cr_assert(values->loglevel == OPTIONS_LOGLEVEL_ERROR);
    cr_assert(values->output == OPTIONS_OUTPUT_FLAMEGRAPH);
    parse_quietly("start,chunksize=1m,chunktime=10m,jfr");
    cr_assert(values->chunksize_bytes == 1u << 20);
    cr_assert(values->chunktime_ns == 600000000000);
}

Test(options_parse, each_style_sets_its_own_flag)
{
    static const struct {
        const char *text;
        size_t offset;
    } rows[] = {
        {"start,simple", offsetof(struct options, is_simple)},
        {"start,dot", offsetof(struct options, is_dotted)},
        {"start,norm", offsetof(struct options, is_normalised)},
        {"start,sig", offsetof(struct options, has_signatures)},
        {"start,lib", offsetof(struct options, has_libraries)},
        {"start,ann", offsetof(struct options, is_annotated)},
        {"start,reverse", offsetof(struct options, is_reversed)},
        {"start,inverted", offsetof(struct options, is_inverted)},
        {"start,threads", offsetof(struct options, is_by_thread)},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        parse_quietly(rows[i].text);
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
            cr_assert(*(bool *)((char *)&result.values + rows[k].offset) == (k == i), "%s",
                      rows[i].text);
    }
    parse_quietly("start,samples");
    cr_assert(result.values.count == OPTIONS_COUNT_SAMPLES);
    parse_quietly("start,total");
    cr_assert(result.values.count == OPTIONS_COUNT_TOTAL);
    parse_with_warning("start,samples,total", "stands in place of the earlier samples");
}

Test(options_parse, what_there_is_something_else_for_is_told_with_it)
{
    parse_with_warning("start,tree,file=x.html",
                       "file: tree is written into a file with the ending");
    parse_with_warning("start,nativelock,file=x.html", "not to jaywalk yet: nativelock; ignored");
}

Test(options_parse, patterns_are_kept_one_after_another)
{
    static const char wanted[] = "a/*\0*b=c*\0";
    char text[4000];

    parse_quietly("start,include=a/*,exclude=x,include=*b=c*");
    cr_assert(memcmp(result.values.includes, wanted, sizeof wanted) == 0);
    cr_assert(memcmp(result.values.excludes, "x\0", 3) == 0);
    refuse("start,include=", "include=: has no value");
    refuse("start,exclude", "exclude: has no value");
    refuse("start,include=a\x01", "holds a control character");
    /* As much as fits, and one byte more. */
    memset(text, 'p', sizeof text);
    memcpy(text, "include=", 8);
    text[8 + OPTIONS_PATTERNS_BYTES - 2] = '\0';
    parse_quietly(text);
    cr_assert(strlen(result.values.includes) == OPTIONS_PATTERNS_BYTES - 2);
    memcpy(text + 8 + OPTIONS_PATTERNS_BYTES - 2, ",include=q", 11);
    refuse(text, "is too long, with those before it");
}

Test(options_parse, an_option_without_effect_on_the_format_is_told)
{
    parse_with_warning("start,reverse,file=x.txt", "reverse: has no effect on text output");
    parse_with_warning("start,simple,file=x.jfr", "simple: has no effect on jfr output");
    parse_with_warning("start,chunksize=1m,file=x.html",
                       "chunksize: has no effect on flamegraph output");
    parse_quietly("start,threads,title=a,file=x.jfr");
    parse_quietly("start,simple,reverse,minwidth=1");
}

Test(options_parse, s10_options_that_were_never_a_string_may_hold_commas)
{
    static const char *const names[] = {"title", "flamegraph", "include"};
    static const char *const values[] = {"a, b", NULL, "f(int, int)"};
    static const char *const odd_names[] = {"minwidth", "simpel"};
    static const char *const odd_values[] = {"x,y", NULL};

    cr_assert(options_parse_pairs(names, values, 3, &result));
    cr_assert(result.warnings.count == 0);
    cr_assert(strcmp(result.values.title, "a, b") == 0);
    cr_assert(strcmp(result.values.includes, "f(int, int)") == 0);
    cr_assert(result.values.output == OPTIONS_OUTPUT_FLAMEGRAPH);
    cr_assert(!options_parse_pairs(odd_names, odd_values, 2, &result));
    cr_assert(strstr(result.errors.texts[0], "minwidth=x,y: is not a number") != NULL);
    cr_assert(strstr(result.warnings.texts[0], "did you mean simple?") != NULL);
}

Test(options_parse, each_action_is_known_by_name)
{
    static const char *const names[] = {"start",   "stop",   "dump",    "status",
                                        "version", "resume", "metrics", "list"};

    for (size_t i = 0; i < JW_COUNT_OF(names); i++) {
        parse_quietly(names[i]);
        cr_assert(result.values.action == i + 1 && result.values.is_action_given);
        cr_assert(strcmp(options_action_name(result.values.action), names[i]) == 0);
    }
    cr_assert(options_action_name(OPTIONS_ACTION_NONE)[0] == '\0');
    cr_assert(options_action_name(99)[0] == '\0');
}

Test(options_parse, an_action_is_concluded_from_the_other_options)
{
    static const struct {
        const char *text;
        enum options_action action;
    } rows[] = {
        {"event=cpu", OPTIONS_ACTION_START}, {"interval=1ms,file=x.jfr", OPTIONS_ACTION_START},
        {"file=x.jfr", OPTIONS_ACTION_DUMP}, {"collapsed", OPTIONS_ACTION_DUMP},
        {"flat", OPTIONS_ACTION_DUMP},       {"quiet", OPTIONS_ACTION_NONE},
        {"threads", OPTIONS_ACTION_NONE},
    };

    for (size_t i = 0; i < JW_COUNT_OF(rows); i++) {
        parse_quietly(rows[i].text);
        cr_assert(result.values.action == rows[i].action, "%s", rows[i].text);
        cr_assert(!result.values.is_action_given);
    }
}

Test(options_parse, no_action_is_concluded_where_a_foreign_one_was_asked_for)
{
    parse_with_warning("meminfo,interval=1ms",
                       "known to async-profiler, not to jaywalk yet: meminfo");
    cr_assert(result.values.action == OPTIONS_ACTION_NONE);
}

Test(options_parse, the_ending_of_the_file_names_the_format)
{
    static const struct {
        const char *text;
        enum options_output output;
    } rows[] = {
        {"file=a.jfr", OPTIONS_OUTPUT_JFR},
        {"file=a.html", OPTIONS_OUTPUT_FLAMEGRAPH},
        {"file=a.collapsed", OPTIONS_OUTPUT_COLLAPSED},
        {"file=a.folded", OPTIONS_OUTPUT_COLLAPSED},
        {"file=a.txt", OPTIONS_OUTPUT_TEXT},
        {"file=jfr", OPTIONS_OUTPUT_TEXT},
        {"file=.jfr", OPTIONS_OUTPUT_JFR},
        {"file=a.jfr.old", OPTIONS_OUTPUT_TEXT},
        {"jfr,file=a.out", OPTIONS_OUTPUT_JFR},
        {"file=a.out,flamegraph", OPTIONS_OUTPUT_FLAMEGRAPH},
        {"collapsed,file=a.txt", OPTIONS_OUTPUT_COLLAPSED},
        {"text,file=a", OPTIONS_OUTPUT_TEXT},
    };

    for (size_t i = 0; i < JW_COUNT_OF(rows); i++) {
        parse_quietly(rows[i].text);
        cr_assert(result.values.output == rows[i].output, "%s", rows[i].text);
    }
    parse_with_warning("jfr,file=a.html",
                       "jfr is written into a file with the ending of flamegraph");
    cr_assert(result.values.output == OPTIONS_OUTPUT_JFR);
}

Test(options_parse, flat_and_traces_choose_the_parts_of_the_text)
{
    parse_quietly("file=a.txt");
    cr_assert(result.values.traces_count == 100 && result.values.flat_count == 200);
    parse_quietly("flat");
    cr_assert(result.values.output == OPTIONS_OUTPUT_TEXT);
    cr_assert(result.values.traces_count == 0 && result.values.flat_count == 200);
    parse_quietly("traces=5");
    cr_assert(result.values.traces_count == 5 && result.values.flat_count == 0);
    parse_quietly("traces,flat=3,file=x");
    cr_assert(result.values.traces_count == 100 && result.values.flat_count == 3);
    parse_with_warning("flat,jfr", "flat: has no effect on jfr output");
    refuse("flat=", "flat=: has no value");
    refuse("flat=0", "flat=0: is zero");
}

Test(options_parse, svg_is_refused_with_what_to_write_instead)
{
    refuse("start,file=a.svg", "name it .html");
    refuse("start,flamegraph,file=a.svg", "name it .html");
}

/* s16: an option cannot ask for everything. */
Test(options_parse, m52_bad_values_are_refused_with_their_text_and_an_example)
{
    static const struct {
        const char *text;
        const char *words;
    } rows[] = {
        {"interval=", "interval=: has no value; allowed: a whole number with n, u, m or s"},
        {"interval", "interval: has no value"},
        {"interval=-5", "interval=-5: is negative"},
        {"interval=0", "interval=0: is zero"},
        {"interval=0ms", "interval=0ms: is zero"},
        {"interval=abc", "interval=abc: is not a number"},
        {"interval=1ms;", "interval=1ms;: has something after its number"},
        {"interval=1.5ms", "has something after its number"},
        {"interval=99999999999999999999", "is too large to be held"},
        {"interval=18446744074s", "is too large to be held"},
        {"interval=3601s", "interval=3601s: is too large; allowed:"},
        {"interval=-5", "example: interval=1ms"},
        {"jstackdepth=0", "is zero; allowed: a whole number, from 1 to 2048"},
        {"jstackdepth=12/3", "has something after its number"},
        {"chunksize=0", "is zero"},
        {"chunksize=2000g", "is too large"},
        {"chunktime=1ms", "has something after its number"},
        {"memlimit=-1m", "is negative"},
        {"minwidth=101", "is too large; allowed: a percentage of at most 4 decimals"},
        {"minwidth=-1", "is negative"},
        {"event=", "event=: has no value; allowed: cpu (also ctimer), itimer, wall"},
        {"event=cpuu", "event=cpuu: is unknown; did you mean cpu?"},
        {"event=nativemem", "event=nativemem: is known to async-profiler, not to jaywalk yet"},
        {"event=java.lang.String.length()", "is unknown"},
        {"event=cache-mises", "event=cache-mises: is unknown; did you mean cache-misses?"},
        {"cstack=banana", "is unknown; allowed: vm, vmx, fp, libunwind, agct, no (also dwarf)"},
        {"loglevel=loud", "is unknown; allowed: debug, info, warn, error, none"},
        {"threads=yes", "threads=yes: takes no value"},
        {"start=1", "start=1: takes no value"},
        {"jfr=7", "jfr=7: is unknown; allowed: standard, async-profiler, datadog; example: "},
        {"dialect=jdk", "is unknown; allowed: standard, async-profiler, datadog"},
        {"file=", "file=: has no value"},
        {"file", "file: has no value"},
        {"file=%q.jfr", "holds a percent sign that is no pattern"},
        {"file=a%", "holds a percent sign that is no pattern"},
        {"file=%n{0}.jfr", "holds a percent sign that is no pattern"},
        {"file=a\nb", "file=a\\x0ab: holds a control character"},
        {"title=a\033[31m", "holds a control character"},
        {"log=", "has no value"},
    };

    for (size_t i = 0; i < JW_COUNT_OF(rows); i++)
        refuse(rows[i].text, rows[i].words);
}

Test(options_parse, all_errors_of_a_string_are_told_at_once)
{
    cr_assert(!parse("interval=-1,event=x.,jstackdepth=y,file=ok.jfr"));
    cr_assert(result.errors.count == 3);
    cr_assert(strcmp(result.values.file, "ok.jfr") == 0);
    cr_assert(result.values.interval_ns == 10000000, "a refused value leaves the default");
}

/* s16: nor can it ask for more than a limit. */
Test(options_parse, m52_values_past_a_soft_limit_are_moved_to_it)
{
    parse_with_warning("start,interval=1us", "interval=1us: is too small; 100us is used");
    cr_assert(result.values.interval_ns == 100000);
    parse_with_warning("start,interval=99999", "100us is used");
    parse_quietly("start,interval=100000");
    parse_with_warning("start,jstackdepth=4096", "jstackdepth=4096: is too large; 2048 is used");
    cr_assert(result.values.jstackdepth_count == 2048);
    parse_with_warning("start,chunksize=1k", "256k is used");
    cr_assert(result.values.chunksize_bytes == 262144);
    parse_with_warning("start,chunktime=1s", "5s is used");
    cr_assert(result.values.chunktime_ns == 5000000000);
    parse_with_warning("start,memlimit=1m", "40m is used");
    cr_assert(result.values.memlimit_bytes == JW_MEMORY_SMALLEST_BYTES);
}

Test(options_parse, what_async_profiler_knows_and_we_do_not_is_told_as_such)
{
    const uint64_t before = jw_counter(JW_COUNT_OPTIONS_UNKNOWN);

    parse_with_warning("start,nativelock=10us",
                       "known to async-profiler, not to jaywalk yet: nativelock=10us; ignored");
    parse_with_warning("start,allkernel", "allkernel; ignored");
    parse_with_warning("start,memory=1k", "known to Datadog's profiler");
    parse_with_warning(
        "start,cstack=lbr",
        "known to async-profiler, not to jaywalk yet: cstack=lbr; cstack=vm is used");
    cr_assert(result.values.cstack == OPTIONS_CSTACK_VM);
    cr_assert(jw_counter(JW_COUNT_OPTIONS_UNKNOWN) == before + 3);
}

Test(options_parse, walks_have_the_names_that_async_profiler_gave_them)
{
    parse_quietly("start,cstack=dwarf");
    cr_assert(result.values.cstack == OPTIONS_CSTACK_VM);
    parse_quietly("start,cstack=vmx");
    cr_assert(result.values.cstack == OPTIONS_CSTACK_VMX);
    parse_quietly("start,cstack=fp");
    cr_assert(result.values.cstack == OPTIONS_CSTACK_FP);
    parse_quietly("start,cstack=libunwind");
    cr_assert(result.values.cstack == OPTIONS_CSTACK_LIBUNWIND);
    parse_quietly("start,features=mixed+vtable");
    cr_assert(result.values.features == (OPTIONS_FEATURE_MIXED | OPTIONS_FEATURE_VTABLE));
}

Test(options_parse, an_unknown_name_warns_with_the_nearest_one)
{
    const uint64_t before = jw_counter(JW_COUNT_OPTIONS_UNKNOWN);

    parse_with_warning("start,intervall=1ms",
                       "unknown option: intervall=1ms; ignored; did you mean interval?");
    parse_with_warning("start,Interval=1ms", "did you mean interval?");
    parse_with_warning("start, interval=1ms", "did you mean interval?");
    parse_with_warning("start,flie=x.jfr", "did you mean file?");
    parse_with_warning("start,chunksiez=1m", "did you mean chunksize?");
    parse_with_warning("start,quux=1", "unknown option: quux=1; ignored");
    cr_assert(strstr(result.warnings.texts[0], "did you mean") == NULL);
    parse_with_warning("start,=1", "unknown option: =1; ignored");
    cr_assert(result.values.interval_ns == 10000000);
    cr_assert(jw_counter(JW_COUNT_OPTIONS_UNKNOWN) == before + 7);
}

Test(options_parse, a_name_given_twice_warns_and_the_last_one_counts)
{
    parse_with_warning("start,interval=1ms,interval=2ms", "interval is named twice");
    cr_assert(result.values.interval_ns == 2000000);
    parse_with_warning("start,stop", "stop: stands in place of the earlier start");
    cr_assert(result.values.action == OPTIONS_ACTION_STOP);
    parse_with_warning("jfr,collapsed", "collapsed: stands in place of the earlier jfr");
    cr_assert(result.values.output == OPTIONS_OUTPUT_COLLAPSED);
    parse_with_warning("event=itimer,cpu", "cpu: stands in place of the earlier event");
    cr_assert(result.values.event == OPTIONS_EVENT_CPU);
    parse_quietly("event=ctimer");
    cr_assert(result.values.event == OPTIONS_EVENT_CPU);
}

Test(options_parse, an_option_without_effect_on_the_action_warns)
{
    parse_with_warning("stop,interval=1ms,file=x.html", "interval: has no effect on stop");
    parse_with_warning("status,file=x.txt", "file: has no effect on status");
    parse_quietly("stop,file=x.html,title=a,threads,quiet");
}

Test(options_parse, nothing_between_commas_warns)
{
    parse_with_warning("start,", "nothing stands between two commas");
    parse_with_warning("start,,quiet", "nothing stands between two commas");
    parse_with_warning(",start", "nothing stands between two commas");
}

Test(options_parse, s10_a_nul_byte_refuses_the_whole_string)
{
    static const char text[] = "start\0,file=x.jfr";

    cr_assert(!options_parse(text, sizeof text - 1, &result));
    cr_assert(strstr(result.errors.texts[0], "NUL byte at offset 5") != NULL);
    cr_assert(result.values.action == OPTIONS_ACTION_NONE);
}

Test(options_parse, s10_a_string_too_long_is_refused_whole)
{
    static char text[OPTIONS_MAX_BYTES + 1];

    memset(text, 'x', sizeof text);
    cr_assert(!options_parse(text, sizeof text, &result));
    cr_assert(strstr(result.errors.texts[0], "65537 bytes; allowed: 65536") != NULL);
    cr_assert(options_parse(text, OPTIONS_MAX_BYTES, &result));
}

Test(options_parse, names_and_titles_fit_up_to_their_last_byte)
{
    static char text[OPTIONS_PATH_BYTES + 16];

    memcpy(text, "file=", 5);
    memset(text + 5, 'x', OPTIONS_PATH_BYTES);
    cr_assert(options_parse(text, 5 + OPTIONS_PATH_BYTES - 1, &result));
    cr_assert(strlen(result.values.file) == OPTIONS_PATH_BYTES - 1);
    cr_assert(!options_parse(text, 5 + OPTIONS_PATH_BYTES, &result));
    cr_assert(strstr(result.errors.texts[0], "is too long; allowed: 1 to 4095 bytes") != NULL);
}

Test(options_parse, messages_are_counted_past_those_that_are_kept)
{
    char text[OPTIONS_MESSAGE_BYTES * (OPTIONS_MESSAGES_KEPT + 2)];
    char small[40];

    cr_assert(!parse("a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z,interval=-1"));
    cr_assert(result.warnings.count == 26 && result.errors.count == 1);
    options_messages_text(&result.warnings, "jaywalk: ", text, sizeof text);
    cr_assert(strncmp(text, "jaywalk: unknown option: a; ignored\njaywalk: ", 45) == 0, "%s", text);
    cr_assert(strstr(text, "\njaywalk: and 2 more\n") != NULL, "%s", text);
    cr_assert(options_messages_text(&result.warnings, "", small, sizeof small) == sizeof small - 1);
    cr_assert(strlen(small) == sizeof small - 1);
    parse_quietly("");
    cr_assert(options_messages_text(&result.warnings, "jaywalk: ", text, sizeof text) == 0);
}

Test(options_parse, s10_a_bad_byte_cannot_leave_a_message)
{
    parse_with_warning("start,\xff\x01\\z=\n", "unknown option: \\xff\\x01\\x5cz=\\x0a; ignored");
}

Test(options_parse, a_long_item_is_cut_in_its_message)
{
    static char text[2000];

    memset(text, 'y', sizeof text - 1);
    parse_with_warning(text, "yyy...; ignored");
    cr_assert(strlen(result.warnings.texts[0]) < 150);
}

Test(options_parse, a_session_may_end_by_itself_or_begin_again)
{
    parse_quietly("start,timeout=30m,loop=23:59:59,file=a-%n{5}-%{HOME}.jfr");
    cr_assert(result.values.timeout == 1800000000000);
    cr_assert(result.values.loop == (OPTIONS_TIME_OF_DAY | 86399));
    cr_assert(!options_parse("start,timeout=25:00:00", 22, &result));
    cr_assert(!options_parse("start,file=%q.jfr", 17, &result));
    cr_assert(strstr(result.errors.texts[0], "%n{MAX}, %{NAME}") != NULL, "%s",
              result.errors.texts[0]);
}

Test(options_parse, features_are_named_together)
{
    parse_quietly("start");
    cr_assert(result.values.features == (OPTIONS_FEATURE_VTABLE | OPTIONS_FEATURE_COMPTASK));
    parse_quietly("start,features=vtable");
    cr_assert(result.values.features == OPTIONS_FEATURE_VTABLE);
    parse_quietly("start,features=comptask+vtable+comptask");
    cr_assert(result.values.features == (OPTIONS_FEATURE_VTABLE | OPTIONS_FEATURE_COMPTASK));
    parse_quietly("start,features=pcaddr");
    cr_assert(result.values.features == OPTIONS_FEATURE_PCADDR);
    parse_quietly("start,features=comptask+carrier");
    cr_assert(result.values.features == (OPTIONS_FEATURE_COMPTASK | OPTIONS_FEATURE_CARRIER));
    parse_quietly("features=none");
    cr_assert(result.values.features == 0 && result.values.action == OPTIONS_ACTION_START);
}

Test(options_parse, commas_stand_between_features_where_a_value_may_hold_them)
{
    const char *const names[] = {"start", "features"};
    const char *const values[] = {NULL, "comptask,vtable"};

    cr_assert(options_parse_pairs(names, values, 2, &result));
    cr_assert(result.values.features == (OPTIONS_FEATURE_VTABLE | OPTIONS_FEATURE_COMPTASK));
}

Test(options_parse, unknown_features_are_refused_with_those_known)
{
    refuse("start,features=vtabel", "vtabel is unknown; did you mean vtable?; allowed: vtable");
    refuse("start,features=carriers", "carriers is unknown; did you mean carrier?");
    refuse("start,features=xyz",
           "allowed: vtable, comptask, carrier, mixed, pcaddr, plainstacks, none");
    refuse("start,features=vtable+", "nothing where a name is due");
    refuse("start,features=", "nothing where a name is due");
    refuse("start,features", "has no value");
    refuse("start,features=vtable+\x01\x02", "\\x01\\x02 is unknown");
    refuse(
        "start,features=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "is unknown");
}

Test(options_parse, features_of_others_are_told_and_left_out)
{
    parse_with_warning("start,features=vtable+jnienv", "not to jaywalk yet: features=jnienv");
    cr_assert(result.values.features == OPTIONS_FEATURE_VTABLE);
    parse_with_warning("start,features=agct", "use cstack=agct");
    cr_assert(result.values.features == 0);
    parse_with_warning("start,features=stats", "use status or metrics");
}

Test(options_parse, filter_alone_means_threads_that_the_program_adds)
{
    cr_assert(options_parse("start,filter", 12, &result));
    cr_assert(strcmp(result.values.filter, "+") == 0);
    cr_assert(options_parse("start,filter=", 13, &result));
    cr_assert(strcmp(result.values.filter, "+") == 0);
    cr_assert(!options_parse("start,attributes=", 17, &result));
}
