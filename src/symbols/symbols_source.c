/*
 * Finding the bytes of what is mapped: the file at its path where it is still the same one, else
 * what the kernel keeps of it, else memory, through reads that can fail; any, dump, control.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/symbols_internal.h"

#define HEADER_WINDOW_BYTES 4096 /* ELF header, segments and notes stand in the first page */

/* Opens regular files alone: to open a device or a pipe can have effects. */
static int open_regular(const char *path, struct stat *status)
{
    if (stat(path, status) != 0)
        return -1;
    if (!S_ISREG(status->st_mode)) {
        errno = EINVAL;
        return -1;
    }
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd >= 0 && fstat(fd, status) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* The ELF header, segments and notes as they are in memory; false where it cannot be read. */
static bool parse_memory(const struct symbols_mapping *mapping, int memory_fd, uint64_t size_bytes,
                         struct symbols_elf *elf)
{
    const struct symbols_image image = {.fd = memory_fd,
                                        .start_offset = mapping->header_address,
                                        .size_bytes = size_bytes,
                                        .layout = SYMBOLS_LAYOUT_FILE};

    return mapping->header_address != 0 && memory_fd >= 0 && symbols_elf_parse(elf, &image, NULL);
}

bool symbols_source_is_same(const struct symbols_elf *a, const struct symbols_elf *b)
{
    if (a->build_id_bytes != 0 && b->build_id_bytes != 0)
        return a->build_id_bytes == b->build_id_bytes &&
               memcmp(a->build_id, b->build_id, a->build_id_bytes) == 0;
    if (a->load_count != b->load_count || a->machine != b->machine)
        return false;
    for (uint32_t i = 0; i < a->load_count; i++)
        if (a->loads[i].vaddr != b->loads[i].vaddr || a->loads[i].offset != b->loads[i].offset ||
            a->loads[i].file_bytes != b->loads[i].file_bytes)
            return false;
    return true;
}

static bool parse_file(struct symbols_source *source, int fd, const struct stat *status)
{
    const struct symbols_image image = {
        .fd = fd, .size_bytes = (uint64_t)status->st_size, .layout = SYMBOLS_LAYOUT_FILE};

    source->fd = fd;
    return symbols_elf_parse(&source->elf, &image, NULL);
}

/*
 * The file at the path, if it is what was mapped. Its content decides, by build-id or segments;
 * where memory cannot be read the inode does (overlay file systems show another one in the maps).
 */
static bool open_path(struct symbols_source *source, const struct symbols_mapping *mapping,
                      const struct symbols_elf *in_memory)
{
    struct stat status;
    const int fd = open_regular(mapping->path, &status);

    if (fd < 0)
        return false;
    const bool is_parsed = parse_file(source, fd, &status);
    const bool is_same = in_memory == NULL
                             ? status.st_ino == mapping->inode
                             : is_parsed && symbols_source_is_same(&source->elf, in_memory);

    if (is_parsed && is_same && !mapping->is_deleted)
        return true;
    source->is_replaced = !is_same || mapping->is_deleted;
    close(fd);
    return false;
}

/* The file behind a mapping, whatever became of its path. Needs CAP_CHECKPOINT_RESTORE or more. */
static bool open_map_file(struct symbols_source *source, const struct symbols_mapping *mapping)
{
    char path[64];
    struct stat status;

    snprintf(path, sizeof path, "/proc/self/map_files/%lx-%lx", (unsigned long)mapping->start,
             (unsigned long)mapping->end);
    const int fd = open_regular(path, &status);
    if (fd < 0)
        return false;
    if (parse_file(source, fd, &status))
        return true;
    close(fd);
    return false;
}

/* What the loader mapped: no sections, but segments, frames and dynamic symbols. */
static void use_memory(struct symbols_source *source, const struct symbols_elf *in_memory)
{
    uint64_t end_vaddr = 0, header_vaddr = 0;

    source->elf = *in_memory;
    for (uint32_t i = 0; i < in_memory->load_count; i++) {
        const struct symbols_segment *load = &in_memory->loads[i];

        if (load->vaddr + load->file_bytes > end_vaddr)
            end_vaddr = load->vaddr + load->file_bytes;
        if (load->offset == 0)
            header_vaddr = load->vaddr;
    }
    source->elf.image.layout = SYMBOLS_LAYOUT_LOADED;
    source->elf.image.start_offset -= header_vaddr;
    source->elf.image.size_bytes = end_vaddr;
    source->elf.section_count = 0;
}

bool symbols_source_open(struct symbols_source *source, const struct symbols_mapping *mapping,
                         struct jw_error *err)
{
    struct symbols_elf in_memory;
    const int memory_fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    const bool is_vdso = mapping->is_vdso;
    /* The kernel maps the whole file of the vDSO. */
    const bool has_memory =
        parse_memory(mapping, memory_fd,
                     is_vdso ? mapping->end - mapping->start : HEADER_WINDOW_BYTES, &in_memory);

    *source = (struct symbols_source){.fd = -1};
    source->is_by_path = is_vdso || open_path(source, mapping, has_memory ? &in_memory : NULL);
    if (!is_vdso && (source->is_by_path || open_map_file(source, mapping))) {
        if (memory_fd >= 0)
            close(memory_fd);
        return true;
    }
    source->fd = -1;
    if (!has_memory) {
        jw_error_set(err, "%s: neither its file nor its memory can be read", mapping->path);
        if (memory_fd >= 0)
            close(memory_fd);
        return false;
    }
    source->fd = memory_fd;
    if (is_vdso)
        source->elf = in_memory;
    else
        use_memory(source, &in_memory);
    return true;
}

bool symbols_source_open_file(struct symbols_source *source, const char *path)
{
    struct stat status;
    const int fd = open_regular(path, &status);

    *source = (struct symbols_source){.fd = -1};
    if (fd < 0)
        return false;
    if (parse_file(source, fd, &status))
        return true;
    symbols_source_close(source);
    return false;
}

bool symbols_source_open_past(struct symbols_source *source, const struct symbols_mapping *mapping,
                              const struct symbols_elf *identity)
{
    struct stat status;
    const int fd = open_regular(mapping->path, &status);

    *source = (struct symbols_source){.fd = -1};
    if (fd < 0)
        return false;
    if (parse_file(source, fd, &status) && symbols_source_is_same(&source->elf, identity) &&
        (identity->build_id_bytes != 0 || status.st_ino == mapping->inode))
        return true;
    symbols_source_close(source);
    return false;
}

void symbols_source_close(struct symbols_source *source)
{
    if (source->fd >= 0)
        close(source->fd);
    source->fd = -1;
}

bool symbols_source_bias(const struct symbols_source *source, const struct symbols_mapping *mapping,
                         uintptr_t *bias)
{
    for (uint32_t i = 0; i < source->elf.load_count; i++) {
        const struct symbols_segment *load = &source->elf.loads[i];

        /* The kernel maps whole pages, so a mapping may begin a little before its segment does. */
        if (!load->is_executable ||
            mapping->offset + (mapping->end - mapping->start) <= load->offset ||
            mapping->offset >= load->offset + load->file_bytes)
            continue;
        *bias =
            mapping->start - (uintptr_t)mapping->offset - (uintptr_t)(load->vaddr - load->offset);
        return true;
    }
    return false;
}
