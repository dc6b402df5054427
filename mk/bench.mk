# Benches, and the gate on instruction counts that is part of `make test`.

.PHONY: bench test-instructions need-valgrind

bench: all ## one table of what it costs; PEER=libasyncProfiler.so compares, BENCH_ONLY=part, BENCH_QUICK=1 for a try
	$(Q)tools/ensure "the benches" jdk perl
	$(Q)bench/run

# Instruction counts: the pure-C hot paths as shipped (the plain lane), under callgrind. The program lies beside the unit
# tests, where the fake JVM of their walks is found.
COUNTED_SOURCES := $(wildcard bench/instructions/*.c)
COUNTED_OBJECTS := $(COUNTED_SOURCES:bench/%.c=build/plain/bench/%.o)
COUNTED_SUPPORT := build/plain/tests/support/recording_maker.o
COUNTED_PROGRAM := build/plain/tests/unit/instructions/instructions
COUNTED_ROOMS   := $(sort $(under_walk) $(under_sampler) $(under_context) $(under_ids) jfr)

need-valgrind:
	$(Q)tools/ensure "counting instructions" valgrind perl

build/plain/bench/%.o: bench/%.c build/plain/flags build/jdk.flags | need-valgrind
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC_plain) $(CPPFLAGS_ALL) -I tests/support/small -Itests $(CFLAGS_ALL) $(CFLAGS_plain) $(TEST_WARNINGS) \
	    @build/jdk.flags -MMD -MP -c -o $@ $<

$(COUNTED_PROGRAM): $(COUNTED_OBJECTS) $(COUNTED_SUPPORT) $(call archives,plain,$(COUNTED_ROOMS)) \
    | build/plain/tests/unit/vm/fake_jvm.so
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC_plain) $(CFLAGS_plain) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group \
	    $(call optional_libraries,$(CC_plain))

-include $(COUNTED_OBJECTS:.o=.d)

# The same with a slower dictionary, which the gate must refuse: tests/tools/slower.sed.
COUNTED_SLOWER := build/wrong/slower/instructions

$(COUNTED_SLOWER): tests/tools/slower.sed src/dict/dict.c $(COUNTED_PROGRAM)
	$(call say,WRONG,$@)
	@mkdir -p $(@D)
	$(Q)sed -f $< src/dict/dict.c > $(@D)/dict.c
	$(Q)$(CC_plain) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(CFLAGS_plain) -DJW_MEMORY_HERE=JW_MEMORY_OF_dict -o $@ $(@D)/dict.c \
	    $(COUNTED_OBJECTS) $(COUNTED_SUPPORT) -Wl,--start-group $(call archives,plain,$(COUNTED_ROOMS)) -Wl,--end-group \
	    $(call optional_libraries,$(CC_plain))

test-instructions: $(COUNTED_PROGRAM) $(COUNTED_SLOWER) ## instructions of each hot path against their limits (valgrind); and that the benches cannot be fooled
	$(Q)JW_COUNTED_CFLAGS='$(CFLAGS)' tools/run-tests instructions $(PART_LIMIT_SECONDS) bench/instructions/run tests/tools/instructions \
	    tests/tools/compare tests/tools/bench
