/*
 * Stacks by the names of their boxes: stars at both ends as async-profiler has them, or regular
 * expressions between slashes, as its converter has them. Context: dump, tool.
 */
#include <regex.h>
#include <string.h>

#include "profile/profile_internal.h"

enum profile_pattern_kind {
    PROFILE_PATTERN_WHOLE,
    PROFILE_PATTERN_PREFIX,
    PROFILE_PATTERN_SUFFIX,
    PROFILE_PATTERN_PART,
    PROFILE_PATTERN_REGEX,
};

struct profile_pattern {
    enum profile_pattern_kind kind;
    const char *told;
    const char *text; /* without its stars */
    size_t length_bytes;
    regex_t compiled; /* of a regex */
    bool is_exclude;
    bool is_used; /* something matched */
};

struct profile_filter {
    struct profile_pattern patterns[PROFILE_PATTERNS_LIMIT];
    size_t count;
    bool has_includes;
    bool has_libraries;
    char *title;
    size_t title_bytes;
};

static bool profile_compile(struct profile_pattern *pattern, struct jw_error *err)
{
    char text[512], reason[128];

    if (pattern->length_bytes >= sizeof text) {
        jw_error_set(err, "%s=%.100s...: a regular expression has at most %zu bytes",
                     pattern->is_exclude ? "exclude" : "include", pattern->told, sizeof text - 1);
        return false;
    }
    memcpy(text, pattern->text, pattern->length_bytes);
    text[pattern->length_bytes] = '\0';

    const int code = regcomp(&pattern->compiled, text, REG_EXTENDED | REG_NOSUB);
    if (code == 0)
        return true;
    regerror(code, &pattern->compiled, reason, sizeof reason);
    jw_error_set(err, "%s=%.100s: no regular expression: %s",
                 pattern->is_exclude ? "exclude" : "include", pattern->told, reason);
    return false;
}

static bool profile_read_pattern(struct profile_pattern *pattern, const char *told, bool is_exclude,
                                 struct jw_error *err)
{
    const size_t length = strlen(told);
    const bool is_regex = length > 2 && told[0] == '/' && told[length - 1] == '/';
    const bool has_head = told[0] == '*';
    const bool has_tail = length > 1 && told[length - 1] == '*';

    *pattern = (struct profile_pattern){.told = told, .is_exclude = is_exclude};
    if (is_regex) {
        pattern->kind = PROFILE_PATTERN_REGEX;
        pattern->text = told + 1;
        pattern->length_bytes = length - 2;
        return profile_compile(pattern, err);
    }
    pattern->kind = has_head && has_tail ? PROFILE_PATTERN_PART
                    : has_head           ? PROFILE_PATTERN_SUFFIX
                    : has_tail           ? PROFILE_PATTERN_PREFIX
                                         : PROFILE_PATTERN_WHOLE;
    pattern->text = told + has_head;
    pattern->length_bytes = length - has_head - has_tail;
    return true;
}

static bool profile_read_patterns(struct profile_filter *filter, const char *texts, bool is_exclude,
                                  struct jw_error *err)
{
    for (const char *told = texts == NULL ? "" : texts; *told != '\0'; told += strlen(told) + 1) {
        if (filter->count == PROFILE_PATTERNS_LIMIT) {
            jw_error_set(err, "include, exclude: more than %d patterns", PROFILE_PATTERNS_LIMIT);
            return false;
        }
        if (!profile_read_pattern(&filter->patterns[filter->count], told, is_exclude, err))
            return false;
        filter->count++;
        filter->has_includes |= !is_exclude;
    }
    return true;
}

struct profile_filter *profile_filter_open(const struct profile_view *view, struct jw_error *err)
{
    if ((view->includes == NULL || view->includes[0] == '\0') &&
        (view->excludes == NULL || view->excludes[0] == '\0'))
        return NULL;

    struct profile_filter *filter = jw_alloc(sizeof *filter);
    if (filter == NULL) {
        jw_error_set(err, "include, exclude: out of memory; free some and try again");
        return NULL;
    }
    filter->has_libraries = view->has_libraries;
    if (profile_read_patterns(filter, view->includes, false, err) &&
        profile_read_patterns(filter, view->excludes, true, err))
        return filter;
    profile_filter_close(filter);
    return NULL;
}

void profile_filter_close(struct profile_filter *filter)
{
    if (filter == NULL)
        return;
    for (size_t i = 0; i < filter->count; i++) {
        if (filter->patterns[i].kind == PROFILE_PATTERN_REGEX)
            regfree(&filter->patterns[i].compiled);
    }
    jw_free(filter->title);
    jw_free(filter);
}

bool profile_check_patterns(const char *includes, const char *excludes, struct jw_error *err)
{
    const struct profile_view view = {.includes = includes, .excludes = excludes};
    struct jw_error why = {{0}};

    profile_filter_close(profile_filter_open(&view, &why));
    if (why.message[0] == '\0')
        return true;
    jw_error_set(err, "%s", why.message);
    return false;
}

static bool profile_matches(const struct profile_pattern *pattern, const char *title, size_t length)
{
    const size_t wanted = pattern->length_bytes;

    switch (pattern->kind) {
    case PROFILE_PATTERN_WHOLE:
        return length == wanted && memcmp(title, pattern->text, wanted) == 0;
    case PROFILE_PATTERN_PREFIX:
        return length >= wanted && memcmp(title, pattern->text, wanted) == 0;
    case PROFILE_PATTERN_SUFFIX:
        return length >= wanted && memcmp(title + length - wanted, pattern->text, wanted) == 0;
    case PROFILE_PATTERN_PART:
        return memmem(title, length, pattern->text, wanted) != NULL;
    case PROFILE_PATTERN_REGEX:
        return regexec(&pattern->compiled, title, 0, NULL, 0) == 0;
    }
    return false;
}

/* The title in filter->title; its length, or SIZE_MAX: out of memory. */
static size_t profile_make_title(struct profile_filter *filter, const struct profile_name *name,
                                 const struct profile_view *view)
{
    const size_t length = profile_title(name, view, filter->title, filter->title_bytes);
    if (length < filter->title_bytes)
        return length;

    char *title = jw_realloc(filter->title, 2 * length + 64);
    if (title == NULL)
        return SIZE_MAX;
    filter->title = title;
    filter->title_bytes = 2 * length + 64;
    return profile_title(name, view, title, filter->title_bytes);
}

/* Compares all patterns with a name, with slashes and with dots. */
static bool profile_filter_try(struct profile_filter *filter, const struct profile_name *name,
                               bool has_libraries, bool *is_included, bool *is_excluded)
{
    for (int is_dotted = 0; is_dotted < 2; is_dotted++) {
        const struct profile_view view = {.is_dotted = is_dotted, .has_libraries = has_libraries};
        const size_t length = profile_make_title(filter, name, &view);

        if (length == SIZE_MAX)
            return false;
        for (size_t i = 0; i < filter->count; i++) {
            struct profile_pattern *pattern = &filter->patterns[i];

            if (!profile_matches(pattern, filter->title, length))
                continue;
            pattern->is_used = true;
            *is_included |= !pattern->is_exclude;
            *is_excluded |= pattern->is_exclude;
        }
    }
    return true;
}

/* Signature, line and library are no part of a name that somebody wrote without them. */
static struct profile_name profile_bare(const struct profile_name *name)
{
    struct profile_name bare = *name;

    bare.signature = "";
    bare.line = 0;
    return bare;
}

bool profile_filter_match(struct profile_filter *filter, const struct profile_name *told,
                          const struct profile_name *shown, bool *is_included, bool *is_excluded)
{
    const struct profile_name shown_bare = profile_bare(shown);
    const struct profile_name told_bare = profile_bare(told);
    const bool has_details =
        shown->signature[0] != '\0' || shown->line != 0 || filter->has_libraries;
    const bool is_restyled = strcmp(told->class_name, shown->class_name) != 0;

    *is_included = *is_excluded = false;
    return profile_filter_try(filter, shown, filter->has_libraries, is_included, is_excluded) &&
           (!has_details ||
            profile_filter_try(filter, &shown_bare, false, is_included, is_excluded)) &&
           (!is_restyled ||
            profile_filter_try(filter, &told_bare, false, is_included, is_excluded));
}

bool profile_filter_frame(struct profile_filter *filter, const struct profile_frame *frame,
                          bool *is_included, bool *is_excluded)
{
    enum profile_tier tier;
    struct profile_name name = profile_name_of_frame(frame, &tier);

    name.class_name = name.class_name == NULL ? "" : name.class_name;
    name.method = name.method == NULL ? "" : name.method;
    name.module = name.module == NULL ? "" : name.module;
    name.signature = "";
    return profile_filter_match(filter, &name, &name, is_included, is_excluded);
}

const char *profile_filter_idle(const struct profile_filter *filter, size_t n, bool *is_exclude)
{
    for (size_t i = 0; filter != NULL && i < filter->count; i++) {
        *is_exclude = filter->patterns[i].is_exclude;
        if (!filter->patterns[i].is_used && n-- == 0)
            return filter->patterns[i].told;
    }
    return NULL;
}

bool profile_filter_has_includes(const struct profile_filter *filter)
{
    return filter->has_includes;
}

void profile_filter_tell(const struct profile_filter *filter, struct profile *profile)
{
    for (size_t i = 0; i < filter->count; i++) {
        const struct profile_pattern *pattern = &filter->patterns[i];

        if (pattern->is_used)
            continue;
        profile->idle_patterns[profile->idle_count++] = profile_text(profile, pattern->told);
        profile->idle_excludes += !pattern->is_exclude;
    }
}
