/* The program `jaywalk`. Context: tool. */
#include "base/jw.h"
#include "cli/cli.h"

int main(int argument_count, char **arguments)
{
    jw_alloc_in_large_pages();
    return cli_main(argument_count, arguments);
}
