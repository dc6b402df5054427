# Checks of the source and of what it compiles to. Each check says what it refuses, and has bad input
# of its own in tests/tools/ that it must refuse.

# Handlers are checked as two compilers translate them, with and without optimisation. Nothing but
# objects is made in these lanes; plain is the fourth.
OBJECT_LANES := gcc-O0 clang-O0 clang-O2
CC_gcc-O0    := gcc
CC_clang-O0  := clang
CC_clang-O2  := clang
CFLAGS_gcc-O0   := -O0 -g0
CFLAGS_clang-O0 := -O0 -g0 -Watomic-implicit-seq-cst
CFLAGS_clang-O2 := -O2 -g0 -Watomic-implicit-seq-cst
$(foreach lane,$(OBJECT_LANES),$(eval ARCH_$(lane) := $(host_arch)))
$(foreach lane,$(OBJECT_LANES),$(eval $(call lane_rules,$(lane))))
# That rooms without handlers hold none is seen once in each kind of build: of clang-O0 everything is made (its warnings are of
# all that we write), as of plain; of the others what handlers reach.
NO_HANDLER_ROOMS := classfile rules probe census instrument options jfr profile export recording attach cli
CHECKED_ROOMS_gcc-O0   := $(filter-out $(NO_HANDLER_ROOMS),$(ROOMS))
CHECKED_ROOMS_clang-O2 := $(CHECKED_ROOMS_gcc-O0)
checked_objects = $(call room_objects,$(1),$(or $(CHECKED_ROOMS_$(1)),$(ROOMS)))

# How much stack a handler needs: the call graphs that gcc writes beside its code, made from the flags that are shipped.
# Their object is there for what it depends on.
STACK_ROOMS  := base symbols vm $(HANDLER_ROOMS)
STACK_GRAPHS := $(foreach room,$(STACK_ROOMS),$(patsubst src/%.c,build/stack/%.ci,\
	$(filter %.c,$(call room_sources,$(room),$(host_arch))))) build/stack/agent/api_stacks.ci build/stack/agent/stacks.ci

$(foreach room,$(JVM_ROOMS),build/stack/$(room)/%.ci): ROOM_FLAGS = @build/jdk.flags
build/stack/%.ci: src/%.c build/plain/obj/%.o | need-checkers
	$(call say,STACK,$<)
	@mkdir -p $(@D)
	$(Q)CCACHE_DISABLE=1 gcc $(CPPFLAGS_ALL) $(CFLAGS_ALL) -g0 -O2 $(call hardening,gcc) $(ROOM_FLAGS) \
	    -DJW_MEMORY_HERE=JW_MEMORY_OF_$(firstword $(subst /, ,$*)) -fcallgraph-info=su,da -S -o $(@:.ci=.s) $<

# The longest first.
CHECKS := tests/tools/run tests/tools/all tests/tools/jdks tools/check-signal-safe tools/check-stack tools/check-layers tools/check-style tools/check-format tools/check-orders \
	tools/check-exports tools/check-binary tools/check-museum tools/check-threats tools/check-faults tests/tools/completion tests/tools/completion-zsh tests/tools/completion-fish

.PHONY: need-checkers run-checks
need-checkers:
	$(Q)tools/ensure "make check" gcc clang clang-format perl

$(OBJECT_LANES:%=build/%/flags): | need-checkers

run-checks: $(LIBRARY) $(COMMAND) $(foreach lane,plain $(OBJECT_LANES),$(call checked_objects,$(lane))) \
    $(STACK_GRAPHS) | need-checkers
	$(Q)tools/ensure "completion of zsh (optional)" zsh || true
	$(Q)tools/ensure "completion of fish (optional)" fish || true
	$(Q)tools/run-tests check $(UNIT_LIMIT_SECONDS) $(CHECKS)
