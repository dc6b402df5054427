/*
 * secrets - command lines without the passwords that people put into them.
 *
 * For      what a recording tells of how its JVM was started.
 * Callers  agent.   Context  any, dump, tool.   Memory  the caller's; any bytes give a text.
 *
 * What is a secret is told by its name: an option, property or parameter whose name holds password, secret, token,
 * credential and their like, or the word key. Rather too much is left out than too little: of the argument in which
 * such a name stands all that follows it.
 */
#ifndef JW_BASE_SECRETS_H
#define JW_BASE_SECRETS_H

#include "base/jw.h"

#define JW_SECRET_MASK "***"

/*
 * Copies `length_bytes` of arguments, a NUL between each, with blanks between them and JW_SECRET_MASK for each secret;
 * cut to fit. Masked is what follows `name=` or `name:` in an argument, the argument after one that is such a name
 * behind a dash (-p for example is none), and what stands before the @ of an address; where it might be the path that holds
 * the @, and not a password that holds a /, all of the address. Returns the length.
 */
size_t jw_mask_arguments(const char *arguments, size_t length_bytes, char *text, size_t room_bytes);

/* The same of a text whose arguments are parted by blanks, and may hold some: each ends at the next one with a dash. */
size_t jw_mask_line(const char *line, char *text, size_t room_bytes);

/* Whether a name of so many bytes is that of a secret. */
bool jw_is_secret_name(const char *name, size_t length_bytes);

#endif
