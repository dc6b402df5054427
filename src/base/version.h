/*
 * version - what agent and command call themselves. The one place where the number stands.
 *
 * For      `version`, the recording, help texts.   Context  all.
 */
#ifndef JW_BASE_VERSION_H
#define JW_BASE_VERSION_H

#define JAYWALK_VERSION "0.1.0"

#endif
