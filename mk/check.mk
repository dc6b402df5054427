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

CHECKS := tools/check-layers tools/check-style tools/check-format tools/check-orders \
	tools/check-signal-safe tools/check-exports tests/tools/run tests/tools/completion

.PHONY: need-checkers run-checks
need-checkers:
	$(Q)tools/ensure "make check" gcc clang clang-format perl

$(OBJECT_LANES:%=build/%/flags): | need-checkers

run-checks: $(LIBRARY) $(foreach lane,plain $(OBJECT_LANES),$(call room_objects,$(lane),$(ROOMS))) \
    | need-checkers
	$(Q)tools/run-tests check 120 $(CHECKS)
