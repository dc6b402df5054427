/* Texts of the marks; dump and tool. */
#include "base/frame.h"

const char *jw_mark_text(enum jw_mark mark)
{
    static const char *const texts[JW_MARK_LIMIT] = {
#define JW_MARK(name, text) text,
#include "base/marks.def"
#undef JW_MARK
    };

    return (unsigned)mark < JW_MARK_LIMIT ? texts[mark] : "[unknown]";
}
