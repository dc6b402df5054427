# Objects, archives and products of each lane.

# Files of a room: $(call room_sources,room,architecture).
room_sources = $(wildcard $(addprefix src/$(1)/,*.c *.S) \
	$(if $(filter arch,$(1)),$(addprefix src/arch/$(2)/,*.c *.S)))
# $(call room_objects,lane,rooms)
room_objects = $(foreach room,$(2),$(patsubst src/%,build/$(1)/obj/%.o,\
	$(basename $(call room_sources,$(room),$(ARCH_$(1))))))\
	$(if $(and $(filter export,$(2)),$(PAGES)),build/$(1)/obj/export/pages.o)\
	$(if $(filter unwind,$(2)),build/$(1)/obj/unwind/sealed.o)\
	$(if $(filter instrument,$(2)),build/$(1)/obj/instrument/classes.o)

# Web pages that are linked into the products: page/x.html becomes the array export_page_x, its
# length export_page_x_bytes; of x.css and x.js the ending joins the name (export_page_x_css).
PAGES := $(wildcard src/export/page/*.html src/export/page/*.css src/export/page/*.js)

# Classes that probes are dispatched by: they are linked into the library, and defined in the boot loader.
EMBEDDED         := build/gen/classes.S
EMBEDDED_SOURCES := $(wildcard java/java/lang/*.java) $(addprefix java/io/jaywalk/,ProbeLoader.java ProbeEvents.java ProbeContext.java) \
                    $(wildcard java/boot/io/jaywalk/*.java)

$(EMBEDDED): $(EMBEDDED_SOURCES) $(wildcard java/known/*/*/*/*/*.java) tools/embed-classes tools/jdk-for-8
	@mkdir -p $(@D)
	$(Q)tools/embed-classes $@ $(EMBEDDED_SOURCES)

library = $(if $(filter plain,$(1)),build/lib/libjaywalk.so,build/$(1)/lib/libjaywalk.so)
command = $(if $(filter plain,$(1)),build/bin/jaywalk,build/$(1)/bin/jaywalk)

.PHONY: FORCE need-compiler need-aarch64

need-compiler:
	$(Q)tools/ensure "compiling jaywalk" $(if $(filter gcc,$(CC)),gcc)
	$(Q)tools/ensure "plain names of C++ and Rust functions (optional)" libiberty-dev || true
	$(Q)tools/ensure "mini debug info (optional)" liblzma-dev || true
	$(Q)tools/ensure "packed recordings (optional)" libzstd-dev || true
	$(Q)tools/ensure "compressed output (optional)" libdeflate-dev || true
	$(Q)tools/ensure "rules tried on jars (optional)" libminizip || true
	$(Q)tools/ensure "cstack=libunwind (optional)" libunwind || true
need-aarch64:
	$(Q)tools/ensure "the aarch64 lane" aarch64-gcc

# JVMTI headers, as a file of compiler flags; written again only when it changes.
build/jdk.flags: FORCE
	@mkdir -p $(@D)
	$(Q)tools/ensure "the JVMTI headers" jdk
	$(Q)tools/jdks-list --headers | tools/write-if-changed $@

# What unit tests link: one archive a room, without the file that holds main.
# $(call archives,lane,rooms)
archives = $(patsubst %,build/$(1)/rooms/lib%.a,$(2))

define archive_rule
build/$(1)/rooms/lib$(2).a: $(filter-out build/$(1)/obj/cli/main.o,$(call room_objects,$(1),$(2)))
	@mkdir -p $$(@D)
	$$(Q)rm -f $$@; $(if $(filter aarch64,$(1)),aarch64-linux-gnu-)ar rcs $$@ $$^

endef

# $(1): lane. Each object depends on the flags of its lane.
define lane_rules
build/$(1)/flags: FORCE | $(if $(filter aarch64,$(1)),need-aarch64,need-compiler)
	@mkdir -p $$(@D)
	@echo '$$(CC_$(1)) $$(subst ','\'',$$(CPPFLAGS_ALL) $$(CFLAGS_ALL) $$(CFLAGS_$(1)) $$(WARNINGS) \
	    $$(LDFLAGS_ALL) $$(LDFLAGS_CMD) $$(LDFLAGS_LIB))' | tools/write-if-changed $$@

$(foreach room,$(JVM_ROOMS),build/$(1)/obj/$(room)/%.o): ROOM_FLAGS = @build/jdk.flags
$(call room_objects,$(1),$(JVM_ROOMS)): build/jdk.flags
# The symbol for readers outside of the process is reached by a descriptor, as OTEP 4947 recommends (aarch64 has no
# other way); a compiler that knows none makes it static, which readers must take as well.
build/$(1)/obj/thread/thread_symbol.o: ROOM_FLAGS = $(if $(filter aarch64,$(ARCH_$(1))),-ftls-model=global-dynamic,\
	$$(shell $$(CC_$(1)) -mtls-dialect=gnu2 -E -x c /dev/null >/dev/null 2>&1 && \
	echo -ftls-model=global-dynamic -mtls-dialect=gnu2))
$(if $(filter $(1),$(FRAMED_LANES)),
$(foreach room,$(HANDLER_ROOMS),build/$(1)/obj/$(room)/%.o): FRAME_FLAGS = $(FRAME_LIMIT))

build/$(1)/obj/%.o: src/%.c build/$(1)/flags
	$$(call say,CC,$$<$(if $(filter plain,$(1)),, [$(1)]))
	@mkdir -p $$(@D)
	$$(Q)$$(CC_$(1)) $$(CPPFLAGS_ALL) $$(CFLAGS_ALL) $$(CFLAGS_$(1)) $$(WARNINGS) $$(ROOM_FLAGS) \
	    -DJW_MEMORY_HERE=JW_MEMORY_OF_$$(firstword $$(subst /, ,$$*)) $$(FRAME_FLAGS) -MMD -MP -c -o $$@ $$<

build/$(1)/obj/%.o: src/%.S build/$(1)/flags
	$$(call say,AS,$$<$(if $(filter plain,$(1)),, [$(1)]))
	@mkdir -p $$(@D)
	$$(Q)$$(CC_$(1)) $$(CPPFLAGS_ALL) -g -fPIC -MMD -MP -c -o $$@ $$<

build/$(1)/gen/pages.S: $(PAGES) $(if $(PAGES),src/export/page)
	@mkdir -p $$(@D)
	$$(Q)tools/embed-pages $(PAGES) > $$@

build/$(1)/obj/export/pages.o: build/$(1)/gen/pages.S build/$(1)/flags
	@mkdir -p $$(@D)
	$$(Q)$$(CC_$(1)) $$(CFLAGS_$(1)) -c -o $$@ $$<

build/$(1)/obj/instrument/classes.o: $(EMBEDDED) build/$(1)/flags
	@mkdir -p $$(@D)
	$$(Q)$$(CC_$(1)) $$(CFLAGS_$(1)) -c -o $$@ $$<

# libunwind for handlers (cstack=libunwind), or why there is none.
build/$(1)/obj/unwind/sealed.o: tools/seal-libunwind build/$(1)/flags | $(LIBRARIES_OF_$(1))
	@mkdir -p $$(@D)
	$$(Q)tools/seal-libunwind $$(CC_$(1)) $$@ $$(TREE_OF_$(1))

$(foreach room,$(ROOMS),$(call archive_rule,$(1),$(room)))

$(call library,$(1)) $(call command,$(1)): | $(LIBRARIES_OF_$(1))

$(call library,$(1)): $(call room_objects,$(1),$(LIB_ROOMS)) src/agent/exports.map
	$$(call say,LINK,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(CC_$(1)) $$(CFLAGS_$(1)) $$(LDFLAGS_ALL) $$(LDFLAGS_LIB) -o $$@ $$(filter %.o,$$^) \
	    $$(call optional_libraries,$$(CC_$(1)),$$(LIBRARIES_FROM_$(1)))

$(call command,$(1)): $(call room_objects,$(1),$(CLI_ROOMS))
	$$(call say,LINK,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(CC_$(1)) $$(CFLAGS_$(1)) $$(LDFLAGS_ALL) $$(LDFLAGS_CMD) -o $$@ $$^ \
	    $$(call command_libraries,$$(CC_$(1)),$$(LIBRARIES_FROM_$(1)))

.PHONY: lane-$(1)
lane-$(1): $(call library,$(1)) $(if $(wildcard src/cli/*.c),$(call command,$(1)))

-include $(patsubst %.o,%.d,$(call room_objects,$(1),$(ROOMS)))
endef

$(foreach lane,$(LANES),$(eval $(call lane_rules,$(lane))))
