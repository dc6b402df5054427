/*
 * cli - the command `jaywalk`: finds the subcommand, and speaks for it.
 *
 * For      people and scripts.
 * Callers  main, tests.
 * Context  tool.
 * Memory   given back before cli_main returns.
 *
 * Help goes to stdout with status 0; mistakes in the command line go to stderr, with the nearest
 * valid spelling, and give status 2; what failed gives status 1; a process that cannot be profiled, 3; what grew
 * beyond a limit that was given, 4.
 */
#ifndef JW_CLI_CLI_H
#define JW_CLI_CLI_H

enum cli_status {
    CLI_OK = 0,
    CLI_FAILED = 1,
    CLI_USAGE = 2,
    CLI_TARGET = 3,
    CLI_GREW = 4,
};

/* The status for the shell. `arguments` ends with NULL, as for main. */
int cli_main(int argument_count, char **arguments);

#endif
