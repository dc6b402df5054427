/*
 * io - what is done to a file or a socket, where that is told.
 *
 * For      room probe, which asks for it; rooms event and recording.
 * Callers  all.   Context  all.   Memory  none.
 */
#ifndef JW_BASE_IO_H
#define JW_BASE_IO_H

enum jw_io {
    JW_IO_FILE_READ,
    JW_IO_FILE_WRITE,
    JW_IO_FILE_FORCE,
    JW_IO_SOCKET_READ,
    JW_IO_SOCKET_WRITE,
    JW_IO_LIMIT,
};

#endif
