/* Opens an ELF file as an image, for tests of this room. */
#ifndef JW_TESTS_SYMBOLS_ELF_FILE_H
#define JW_TESTS_SYMBOLS_ELF_FILE_H

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/symbols_frames_internal.h"

struct elf_file {
    int fd;
    struct symbols_elf elf;
    uint64_t text_vaddr, text_bytes; /* span of the executable segments */
};

static inline bool elf_text(const struct symbols_elf *elf, uint64_t *vaddr, uint64_t *size_bytes)
{
    uint64_t start = UINT64_MAX, end = 0;

    for (uint32_t i = 0; i < elf->load_count; i++) {
        const struct symbols_segment *load = &elf->loads[i];

        if (!load->is_executable)
            continue;
        start = load->vaddr < start ? load->vaddr : start;
        end = load->vaddr + load->file_bytes > end ? load->vaddr + load->file_bytes : end;
    }
    *vaddr = start;
    *size_bytes = end > start ? end - start : 0;
    return end > start;
}

static inline bool elf_file_open(struct elf_file *file, const char *path)
{
    struct stat status;

    file->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (file->fd < 0)
        return false;
    if (fstat(file->fd, &status) == 0) {
        const struct symbols_image image = {.fd = file->fd, .size_bytes = (uint64_t)status.st_size};

        if (symbols_elf_parse(&file->elf, &image, NULL) &&
            elf_text(&file->elf, &file->text_vaddr, &file->text_bytes))
            return true;
    }
    close(file->fd);
    return false;
}

/* Path of the mapped library whose file name begins so; false: none. */
static inline bool mapped_path(const char *name, char *path, size_t path_bytes)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[4096];
    bool is_found = false;

    while (maps != NULL && !is_found && fgets(line, sizeof line, maps) != NULL) {
        char *slash = strrchr(line, '/');

        if (slash == NULL || strncmp(slash + 1, name, strlen(name)) != 0)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(path, path_bytes, "%s", strchr(line, '/'));
        is_found = true;
    }
    if (maps != NULL)
        fclose(maps);
    return is_found;
}

#endif
