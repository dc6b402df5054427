# Compilers and flags, by lane.

V      ?= 0
WERROR ?= 1
Q      := $(if $(filter 1,$(V)),,@)
say     = $(if $(filter 1,$(V)),,@printf '  %-5s %s\n' '$(1)' '$(2)')

ifeq ($(origin CC),default)
CC := gcc
endif

CC_plain   := $(CC)
CC_asan    := $(CC)
CC_tsan    := $(CC)
CC_checked := $(CC)
CC_aarch64 ?= aarch64-linux-gnu-gcc

# The architecture whose directory of src/arch is built.
host_arch    := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null || uname -m)))
ARCH_plain   := $(host_arch)
ARCH_asan    := $(host_arch)
ARCH_tsan    := $(host_arch)
ARCH_checked := $(host_arch)
ARCH_aarch64 := aarch64

# What the lane links of other projects lies here, on a machine of another kind.
ifneq ($(host_arch),aarch64)
ARM64_TREE := build/arm64-tree/usr
LIBRARIES_FROM_aarch64 := -L$(ARM64_TREE)/lib/aarch64-linux-gnu
LIBRARIES_OF_aarch64   := build/arm64-tree/made
TREE_OF_aarch64        := $(ARM64_TREE)
endif

WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wstrict-prototypes \
	-Wmissing-prototypes -Wold-style-definition -Wvla -Wundef -Wcast-qual -Wwrite-strings \
	-Wpointer-arith -Wformat=2 -Wimplicit-fallthrough
ifeq ($(WERROR),1)
WARNINGS += -Werror
endif

# Where the source lies is of no concern to what is built: two trees give the same bytes.
CPPFLAGS_ALL := -fdebug-prefix-map=$(CURDIR)=. -D_GNU_SOURCE -DJW_VERSION='"$(VERSION)"' -Isrc -Iinclude $(CPPFLAGS)
CFLAGS_ALL   := -std=gnu11 -g -fPIC -fvisibility=hidden -ffunction-sections \
	-fno-omit-frame-pointer -ftls-model=initial-exec $(CFLAGS)

# What makes a defect harder to use, as far as the compiler takes it: asked once for each. Not in the lanes of
# sanitizers, which look for the same.
hardening = $(or $(hardening_of_$(1)),$(eval hardening_of_$(1) := $$(shell tools/hardening-flags $(1)))$(hardening_of_$(1)))

# How small structures are zeroed: asked once for each compiler.
store_flags = $(or $(store_flags_of_$(1)),$(eval store_flags_of_$(1) := $$(shell tools/store-flags $(1)))$(store_flags_of_$(1)))

# Static libraries that may be missing, and what they bring: asked once for each compiler. All but the one that reads jars are
# for the agent, and for tests; the command needs those that pack, and that one. The second argument: -L and where they may lie.
optional_libraries = $(or $(libraries_of_$(1)),$(eval libraries_of_$(1) := $$(shell tools/optional-libraries $(2) $(1) libiberty liblzma libdeflate libzstd))$(libraries_of_$(1)))
command_libraries  = $(or $(command_libraries_of_$(1)),$(eval command_libraries_of_$(1) := $$(shell tools/optional-libraries $(2) $(1) libzstd libdeflate libminizip 2>/dev/null))$(command_libraries_of_$(1)))

CFLAGS_plain    = -O2 $(call hardening,$(CC_plain)) $(call store_flags,$(CC_plain))
# Lines are what a report of a sanitizer shows; more is only slower to make.
# A char without sign, as on aarch64.
CFLAGS_asan    := -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -funsigned-char
CFLAGS_tsan    := -O1 -g1 -fsanitize=thread
CFLAGS_checked  = -O2 -DJW_CHECKED=1 $(call hardening,$(CC_checked)) $(call store_flags,$(CC_checked))
# Outlined atomics are calls, which a handler would have to be allowed.
CFLAGS_aarch64  = -O2 -mno-outline-atomics $(call hardening,$(CC_aarch64))

# A handler runs on the stack of the interrupted thread: its frames stay small. (Sanitizers pad them.)
HANDLER_ROOMS  := arch os epoch dict store event generation thread context signals ids unwind walk sampler
FRAME_LIMIT    := -Wframe-larger-than=2048
FRAMED_LANES   := plain checked aarch64

LDFLAGS_ALL := -Wl,-z,now -Wl,-z,text -Wl,-z,relro -Wl,-z,noexecstack -Wl,--gc-sections $(LDFLAGS)
LDFLAGS_CMD := -pie
LDFLAGS_LIB := -shared -Wl,-z,nodelete -Wl,--no-undefined -Wl,-soname,libjaywalk.so \
	-Wl,--version-script=src/agent/exports.map
