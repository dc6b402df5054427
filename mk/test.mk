# Tests. Each part leaves its counts in build/results/; `make test` sums them.
#
#   make test-unit ROOM=dict        the unit tests of one room
#   make test-unit-tsan ROOM=dict   in one lane

# The last two leave a processor idle for half of their time: they run beside each other.
TEST_PARTS := check test-unit test-instructions test-model test-fuzz test-jvm test-arm64+test-browser

UNIT_LANES   := plain asan tsan
WANTED_JDKS  ?= 17 25
JDKS_WANTED  ?= 8 11 17 21 25 26 27 28
FUZZ_SECONDS ?= 3
ROOM         ?= *

# Guards against what hangs, not budgets: the machine may be busy. What hangs is to be told while the lanes behind it still have
# their time; the longest program takes two minutes. A test by itself has a limit of its own: tests/support/criterion/test_limit.c.
UNIT_LIMIT_SECONDS ?= 1200
PART_LIMIT_SECONDS ?= 1200
JVM_LIMIT_SECONDS  := 7200
JDKS_LIMIT_SECONDS := 28800

# What scripts of tests/, demo/ and bench/ need to know.
export JW_LIBRARY := $(CURDIR)/$(LIBRARY)
export JW_COMMAND := $(CURDIR)/$(COMMAND)
export JW_JAR := $(CURDIR)/$(JAR)
export JW_CHECKED_LIBRARY := $(CURDIR)/build/checked/lib/libjaywalk.so
export JW_FAULTS_LIBRARY := $(CURDIR)/build/faults/lib/libjaywalk.so
export JW_FAULTS_COMMAND := $(CURDIR)/build/faults/bin/jaywalk
export JW_WANTED_JDKS = $(WANTED_JDKS)
export JW_FUZZ_SECONDS = $(FUZZ_SECONDS)
export JW_FUZZ_TARGETS = $(FUZZ_TARGETS)
export CC

export JW_LOCALES := $(CURDIR)/build/locales

# A stuck or racing test must say so; a leak is a failure.
export ASAN_OPTIONS  := detect_leaks=1:abort_on_error=0:detect_stack_use_after_return=1
export UBSAN_OPTIONS := print_stacktrace=1
export TSAN_OPTIONS  := halt_on_error=1:second_deadlock_stack=1

# Sanitizers before gcc 14 and clang 18 find no room for their shadow where the kernel spreads addresses wider than by 28 bits.
SANITIZED := $(shell bits=$$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null); [ "$${bits:-0}" -le 28 ] || { setarch -R true && echo setarch -R; } 2>/dev/null)
RUN_WITH_asan = $(SANITIZED)
RUN_WITH_tsan = $(SANITIZED)

TEST_SOURCES := $(wildcard tests/unit/$(ROOM)/test_*.c \
	$(if $(filter *,$(ROOM)),tests/property/test_*.c tests/stress/test_*.c) \
	$(if $(filter * golden,$(ROOM)),tests/golden/test_*.c))

# Where there is one thread, thread sanitizer has nothing to find: its lane has the tests that begin threads, and those of
# rooms that do. tools/check-one-thread holds the programs of the others to that; but for those of rooms that stand on the
# command's, which begins threads for recordings of many MiB, and where a test asks for them with --jobs.
# Those of routes begin none, and stand on what does.
TEST_SOURCES_tsan := $(sort $(filter $(patsubst %,tests/unit/%/%,agent sampler signals),$(TEST_SOURCES)) \
	$(filter $(addprefix tests/unit/context/test_context_,route.c polled.c),$(TEST_SOURCES)) \
	$(shell grep -lE 'pthread_create|os_thread_start|"--jobs"' $(TEST_SOURCES) /dev/null))

# Compared with libunwind (tests/unit/walk/oracle.h), which is linked with these alone; sanitizers stand between the functions
# there, so they are not of their lanes.
ORACLE_TESTS   := test_walk_oracle
NOT_IN_asan    := $(ORACLE_TESTS:%=tests/unit/walk/%.c)
# Delivery of signals is what the next ones are about, and thread sanitizer puts that off. The last one's threads share nothing that those of test_cli_jobs do not.
NOT_IN_tsan    := $(NOT_IN_asan) tests/unit/unwind/test_unwind_check.c tests/unit/unwind/test_unwind_live.c tests/unit/sampler/test_engine_cpu_perf_count.c tests/unit/cli/test_cli_known.c
NOT_IN_checked := $(NOT_IN_asan)
# The first loads the library of this machine. Rooms that ask nothing of an instruction set are run by the emulator in `make soak` alone
# (EMULATE_ALL=yes): what is else there, a char without sign, the lane asan has, too.
OF_NO_ARCH     := options classfile rules probe jfr profile export recording cli
NOT_IN_aarch64 := tests/unit/unwind/test_unwind_check.c $(if $(filter aarch64,$(host_arch))$(EMULATE_ALL),,\
	$(filter $(OF_NO_ARCH:%=tests/unit/%/%) tests/golden/% tests/property/%,$(TEST_SOURCES)))

# Without a sanitizer, as it is shipped, code is tested that handlers run or that goes by time or by the machine; what the rooms above have, the lane
# asan has, too: of their tests those are here that do something else under a sanitizer, or write a page of the documentation. The others are run so, and
# looked at by tools/check-one-thread, in `make soak` (EVERYWHERE=yes), or where a room is named.
LEFT_OUT_plain := $(if $(filter *,$(ROOM)),$(if $(EVERYWHERE),,$(patsubst tests/%.c,build/plain/tests/%,\
	$(filter-out $(shell grep -lE 'SANITIZE|RLIMIT|JW_UPDATE' $(TEST_SOURCES) /dev/null),\
	$(filter $(OF_NO_ARCH:%=tests/unit/%/%),$(TEST_SOURCES))))))

JVM_TEST_SOURCES := $(wildcard $(foreach room,$(JVM_ROOMS) cli,tests/unit/$(room)/test_*.c) \
	tests/golden/test_*.c)
SUPPORT_SOURCES  := $(wildcard tests/support/*.c)
TEST_WARNINGS    := $(filter-out -Wconversion,$(WARNINGS))

# A test of a room is linked with that room and those it may use, by src/LAYERS, and so cannot lean on
# another; a test of several rooms (property, stress) is linked with all that know no JVM, and one that
# compares what agent and command make of the same (golden) with what both stand on.
under_golden  := $(sort $(under_recording) $(under_cli))
rooms_of_test = $(or $(under_$(notdir $(patsubst %/,%,$(dir $(1))))),$(CORE_ROOMS))

test_programs   = $(patsubst tests/%.c,build/$(1)/tests/%,$(filter-out $(NOT_IN_$(1)),$(or $(TEST_SOURCES_$(1)),$(TEST_SOURCES))))
tested_programs = $(filter-out $(LEFT_OUT_$(1)),$(call test_programs,$(1)))
one_thread      = $(filter-out $(patsubst tests/%.c,build/$(1)/tests/%,$(TEST_SOURCES_tsan)) \
	build/$(1)/tests/unit/cli/% build/$(1)/tests/golden/%,$(call tested_programs,$(1)))
support_objects = $(patsubst tests/%.c,build/$(1)/tests/%.o,$(SUPPORT_SOURCES) \
	$(SUPPORT_SOURCES_$(1)))

# Criterion's shared memory must lie where thread sanitizer allows it; and there is no Criterion for
# aarch64 on another machine, so that lane has a small one of ours.
SUPPORT_SOURCES_plain   := $(wildcard tests/support/criterion/*.c)
SUPPORT_SOURCES_asan    := $(SUPPORT_SOURCES_plain)
SUPPORT_SOURCES_checked := $(SUPPORT_SOURCES_plain)
SUPPORT_SOURCES_tsan    := $(SUPPORT_SOURCES_plain) tests/support/tsan/arena_place.c
SUPPORT_SOURCES_aarch64 := tests/support/small/runner.c
TEST_CPPFLAGS_aarch64   := -I tests/support/small $(if $(ARM64_TREE),-isystem $(ARM64_TREE)/include)
TEST_LIBS_aarch64        = -lm $(call optional_libraries,$(CC_aarch64),$(LIBRARIES_FROM_aarch64)) \
	$(call command_libraries,$(CC_aarch64),$(LIBRARIES_FROM_aarch64))
TEST_LIBS               := -lcriterion -lm

# What is measured and watched is the product: the tests themselves are made as quickly as they can be, but for those that
# race with it, and without undefined-behaviour sanitizer; Criterion's assertions are deep macros, whose every step gcc keeps for its messages. They
# are linked by whatever is quicker than ld, where it is there.
quick_linker        := $(firstword $(foreach ld,gold lld,$(if $(shell command -v ld.$(ld)),-fuse-ld=$(ld))))
quick_macros         = $(or $(quick_macros_of_$(1)),$(eval quick_macros_of_$(1) := $$(shell $(1) -Werror -ftrack-macro-expansion=0 -fsyntax-only \
	-x c /dev/null 2>/dev/null && echo -ftrack-macro-expansion=0 -Wno-unused-value || echo -g1))$(quick_macros_of_$(1)))
unfortified          = -O0 -U_FORTIFY_SOURCE
TEST_CFLAGS_plain    = $(if $(findstring tests/stress/,$<),,-g1 $(unfortified) $(call quick_macros,$(CC_plain)))
TEST_CFLAGS_asan     = -O0 -fno-sanitize=undefined $(call quick_macros,$(CC_asan))
TEST_CFLAGS_tsan     = -O0 $(call quick_macros,$(CC_tsan))
TEST_LDFLAGS_plain  := $(quick_linker)
TEST_LDFLAGS_asan   := $(quick_linker)
TEST_LDFLAGS_tsan   := $(quick_linker)

LIBUNWIND_LIBS_plain = -lunwind-$(ARCH_plain)
LIBUNWIND_plain := need-libunwind
ifneq ($(host_arch),aarch64)
LIBUNWIND_LIBS_aarch64 = $(LIBRARIES_FROM_aarch64) -l:libunwind-aarch64.a -l:liblzma.a -lpthread
LIBUNWIND_FLAGS_aarch64 := -isystem $(ARM64_TREE)/include/aarch64-linux-gnu
LIBUNWIND_aarch64 := $(LIBRARIES_OF_aarch64)
ARM64_JDK := build/arm64-jdk/made
ARM64_KERNEL := build/arm64-kernel/made
endif

need-libunwind:
	$(Q)tools/ensure "native stacks beside libunwind" libunwind

build/arm64-tree/made: tools/arm64-packages
	$(Q)tools/arm64-packages $(@D) libunwind-dev liblzma-dev libzstd-dev libdeflate-dev libiberty-dev zlib1g libminizip-dev zlib1g-dev
	@touch $@

build/arm64-jdk/made: tools/arm64-packages
	$(Q)tools/arm64-packages $(@D) openjdk-17-jre-headless libc6 libgcc-s1 libstdc++6 zlib1g
	@touch $@

# For the whole machine of `make soak`.
build/arm64-kernel/made: tools/arm64-packages tests/arm64/kernel
	$(Q)tests/arm64/kernel $(@D)
	@touch $@

.PHONY: need-libunwind need-qemu need-fuzzer test-unit test-model test-jvm test-jdks test-browser test-arm64 test-fuzz need-criterion
.SECONDARY:

need-criterion: need-compiler
	$(Q)tools/ensure "unit tests" criterion protobuf-compiler

# All is built before anything runs, so that no test waits for a processor that a compiler has.
test-unit: ## unit, property and stress tests: plain, asan+ubsan, tsan
	$(Q)$(MAKE) -k $(UNIT_LANES:%=tests-%) || true
	$(Q)$(MAKE) -k $(UNIT_LANES:%=test-unit-%)

# The storm (tests/stress/test_storm.c) over an epoch that pauses where two accesses of the protocol must not change
# places, and with one thing exchanged, in it or in the dump thread: tests/stress/wrong/NAME.sed.
WRONG_STORMS := $(patsubst tests/stress/wrong/%.sed,build/wrong/%/storm,$(wildcard tests/stress/wrong/*.sed))

$(WRONG_STORMS): build/wrong/%/storm: tests/stress/wrong/%.sed tests/stress/wrong/pauses.sed src/epoch/epoch.c \
    tests/stress/test_storm.c $(wildcard tests/stress/*.h) $(SUPPORT_SOURCES:tests/%.c=build/plain/tests/%.o) \
    $(call archives,plain,$(CORE_ROOMS)) | need-criterion
	$(call say,WRONG,$@)
	@mkdir -p $(@D)
	$(Q)sed $(addprefix -f ,$(sort $(filter %.sed,$^))) src/epoch/epoch.c > $(@D)/epoch.c
	$(Q)sed $(addprefix -f ,$(sort $(filter %.sed,$^))) tests/stress/test_storm.c > $(@D)/test_storm.c
	$(Q)$(CC_plain) $(CPPFLAGS_ALL) -DWANTED_NAMES=100000u -Itests $(CFLAGS_ALL) $(CFLAGS_plain) -o $@ \
	    $(@D)/epoch.c $(@D)/test_storm.c $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group \
	    $(TEST_LIBS) $(call optional_libraries,$(CC_plain))

test-model: $(WRONG_STORMS) ## the model checker on the generation protocol; and what the storm says of its wrong variants
	$(Q)tools/ensure "checking the model of the epoch protocol" spin gcc
	$(Q)JW_TEST_SLOTS=1 tools/run-tests model $(PART_LIMIT_SECONDS) tests/model/lines tests/model/run tests/stress/wrong/run

# Writes classes anew, for a JVM to judge.
REWRITER := build/plain/tests/classfile/rewriter

build/plain/tests/classfile/rewriter: tests/classfile/rewriter.c $(call archives,plain,probe rules classfile base)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC_plain) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(CFLAGS_plain) $(TEST_WARNINGS) -MMD -MP -o $@ $< $(filter %.a,$^)

-include build/plain/tests/classfile/rewriter.d

# A library that detaches probes as it must not be done (tests/instrument/wrong.sed): the case `probes` has to find that out.
WRONG_LIBRARY := build/wrong/instrument/libjaywalk.so

$(WRONG_LIBRARY): tests/instrument/wrong.sed $(EMBEDDED_SOURCES) $(LIBRARY)
	$(call say,WRONG,$@)
	@mkdir -p $(@D)/java
	$(Q)for source in $(EMBEDDED_SOURCES); do sed -f $< $$source > $(@D)/java/$${source##*/}; done
	$(Q)! cat $(EMBEDDED_SOURCES) | cmp -s - <(cat $(patsubst %,$(@D)/java/%,$(notdir $(EMBEDDED_SOURCES))))
	$(Q)tools/embed-classes $(@D)/classes.S $(@D)/java/*.java
	$(Q)$(CC_plain) $(CFLAGS_plain) -c -o $(@D)/classes.o $(@D)/classes.S
	$(Q)$(CC_plain) $(CFLAGS_plain) $(LDFLAGS_ALL) $(LDFLAGS_LIB) -o $@ $(@D)/classes.o \
	    $(filter-out %/instrument/classes.o,$(call room_objects,plain,$(LIB_ROOMS))) $(call optional_libraries,$(CC_plain))

FAULTS_LIBRARY := build/faults/lib/libjaywalk.so
FAULTS_COMMAND := build/faults/bin/jaywalk

# Applications of these are asked for requests; a case whose libraries are not to be had says so.
SERVER_PACKAGES := libtomcat9-java libtomcat10-embed-java libjetty9-java libspring-web-servlet-java libresteasy3.0-java libgrpc-java libguava-java libperfmark-java libnetty-java

test-jvm: all $(FAULTS_LIBRARY) $(FAULTS_COMMAND) $(REWRITER) $(WRONG_LIBRARY) build/locales/made ## the agent inside real JVMs (17 and 25; JDKS=path:path adds some)
	$(Q)tools/ensure "tests inside a JVM" jdk
	$(Q)tools/ensure "servers whose requests have endpoints (optional)" $(SERVER_PACKAGES) || true
	$(Q)tools/ensure "a build tool with probes in all its methods (optional)" ant || true
	$(Q)tools/run-tests jvm $(JVM_LIMIT_SECONDS) tests/jvm/run

# What an earlier run said is forgotten, so that the table is of this one. One JDK that cannot be had stops none of the others.
test-jdks: all $(FAULTS_LIBRARY) $(FAULTS_COMMAND) $(REWRITER) $(WRONG_LIBRARY) build/locales/made ## the JVM tests on JDK 8 to 28, with a table (JDKS_WANTED="8 21" fewer)
	$(Q)tools/ensure "tests inside a JVM" jdk
	$(Q)tools/ensure "servers whose requests have endpoints (optional)" $(SERVER_PACKAGES) || true
	$(Q)tools/ensure "a build tool with probes in all its methods (optional)" ant || true
	$(Q)rm -f build/jvm/*/*.result
	$(Q)JDKS="$$(tools/jdks-get $(JDKS_WANTED) | tr '\n' ':')$$JDKS"; export JDKS; \
	JW_WANTED_JDKS="$(JDKS_WANTED)" ONCE=no HALVES=no tools/run-tests jdks $(JDKS_LIMIT_SECONDS) tests/jvm/run; status=$$?; \
	JW_WANTED_JDKS="$(JDKS_WANTED)" tools/jdks-table; exit $$status

# fuzz/x.c is a libFuzzer target that starts from fuzz/corpus/x/; what it finds stays in
# build/fuzz/.
CC_fuzz     := clang
ARCH_fuzz   := $(host_arch)
CFLAGS_fuzz := -O1 -g1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
$(eval $(call lane_rules,fuzz))

FUZZ_PROGRAMS := $(patsubst fuzz/%.c,build/fuzz/bin/%,$(wildcard fuzz/*.c))

need-fuzzer:
	$(Q)tools/ensure "fuzzing" clang clang-fuzzer
build/fuzz/flags: | need-fuzzer

build/fuzz/bin/%: fuzz/%.c build/fuzz/flags $(call archives,fuzz,$(CORE_ROOMS) cli)
	$(call say,FUZZ,$@)
	@mkdir -p $(@D)
	$(Q)$(CC_fuzz) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(CFLAGS_fuzz) -fsanitize=fuzzer $(TEST_WARNINGS) \
	    -Wno-missing-prototypes -MMD -MP -o $@ $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group \
	    $(call optional_libraries,$(CC_fuzz)) $(call command_libraries,$(CC_fuzz))

-include $(FUZZ_PROGRAMS:%=%.d)

test-fuzz: $(FUZZ_PROGRAMS) ## each parser for FUZZ_SECONDS (3) on inputs that a fuzzer makes up
	$(Q)JW_RUN_WITH="$(SANITIZED)" tools/run-tests fuzz 7200 tools/run-fuzz

test-browser: all ## the flame graph page in a headless Chromium
	$(Q)tools/ensure "tests of the flame graph page" node chromium
	$(Q)tools/run-tests browser $(PART_LIMIT_SECONDS) tests/browser/run

# Unit tests, run by an emulator unless this machine is one; and a JVM in the emulator.
test-arm64: lane-aarch64 test-unit-aarch64 all $(ARM64_JDK) ## the aarch64 library, its unit tests and a JVM under qemu
	$(Q)tools/ensure "a JVM in an emulator" jdk
	$(Q)tools/run-tests arm64 $(PART_LIMIT_SECONDS) tests/arm64/run $(if $(ARM64_JDK),tests/arm64/jvm)

# The unit tests are a make of their own: begun beside lane-aarch64 it would compile the same objects to the same places.
test-unit-aarch64: | need-qemu lane-aarch64
RUN_WITH_aarch64 = $(if $(filter aarch64,$(host_arch)),,\
	$$(command -v qemu-aarch64-static || command -v qemu-aarch64) -L /usr/aarch64-linux-gnu)

need-qemu:
	$(Q)$(if $(filter aarch64,$(host_arch)),,tools/ensure "aarch64 unit tests" aarch64-qemu aarch64-g++)

# Numbers with a decimal comma, an I that is no capital i: what must not follow the host's locale is tested in this one.
# Without localedef or its sources those tests are skipped.
build/locales/made:
	@mkdir -p $(@D)
	$(Q)localedef -i tr_TR -f UTF-8 $(@D)/tr_TR.UTF-8 2>/dev/null || true
	@touch $@

# A program that cannot be built is a failure, and the others run all the same.
define test_rules
.PHONY: tests-$(1) test-unit-$(1)
tests-$(1): $(call tested_programs,$(1)) | build/locales/made

test-unit-$(1):
	$$(Q)$$(MAKE) -k tests-$(1); built=$$$$?; \
	JW_RUN_WITH="$$(RUN_WITH_$(1))" JW_ONE_THREAD="$(call one_thread,$(1))" flock -o build/unit.lock \
	    tools/run-tests unit-$(1) $(UNIT_LIMIT_SECONDS) $(if $(filter plain,$(1)),tools/check-one-thread) \
	    $(call tested_programs,$(1)) && exit $$$$built

$(patsubst tests/%.c,build/$(1)/tests/%.o,$(JVM_TEST_SOURCES)): ROOM_FLAGS = @build/jdk.flags
$(patsubst tests/%.c,build/$(1)/tests/%.o,$(JVM_TEST_SOURCES)): build/jdk.flags

build/$(1)/tests/%.o: tests/%.c build/$(1)/flags | $(if $(filter aarch64,$(1)),need-aarch64,need-criterion)
	$$(call say,CC,$$< [$(1)])
	@mkdir -p $$(@D)
	$$(Q)$$(CC_$(1)) $$(CPPFLAGS_ALL) $$(TEST_CPPFLAGS_$(1)) -Itests $$(CFLAGS_ALL) $$(CFLAGS_$(1)) $$(TEST_CFLAGS_$(1)) $$(TEST_WARNINGS) \
	    $$(ROOM_FLAGS) -MMD -MP -c -o $$@ $$<

$(foreach source,$(TEST_SOURCES),\
$(eval $(source:tests/%.c=build/$(1)/tests/%): $(call archives,$(1),$(call rooms_of_test,$(source)))))

# A library that looks like libjvm, for the tests that open it.
build/$(1)/tests/%/fake_jvm.so: tests/%/fake_jvm.c build/$(1)/flags build/jdk.flags
	$$(call say,LINK,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(CC_$(1)) $$(CPPFLAGS_ALL) -Itests $$(CFLAGS_ALL) $$(CFLAGS_$(1)) $$(TEST_WARNINGS) \
	    @build/jdk.flags -MMD -MP -shared -o $$@ $$<
$(filter build/$(1)/tests/unit/vm/% build/$(1)/tests/unit/ids/% build/$(1)/tests/unit/walk/% build/$(1)/tests/unit/sampler/test_sample_deep build/$(1)/tests/unit/sampler/test_engine_late build/$(1)/tests/unit/sampler/test_engine_lock,$(call test_programs,$(1))): | build/$(1)/tests/unit/vm/fake_jvm.so
-include $(wildcard build/$(1)/tests/unit/*/fake_jvm.d)

$(call test_programs,$(1)): | $(LIBRARIES_OF_$(1))

$(call test_programs,$(1)): %: %.o $(call support_objects,$(1))
	$$(call say,LINK,$$@)
	$$(Q)$$(CC_$(1)) $$(CFLAGS_$(1)) $$(TEST_LDFLAGS_$(1)) -o $$@ $$(filter %.o,$$^) -Wl,--start-group \
	    $$(filter %.a,$$^) -Wl,--end-group $$(or $$(TEST_LIBS_$(1)),$$(TEST_LIBS) $$(call optional_libraries,$$(CC_$(1))) $$(call command_libraries,$$(CC_$(1)))) $$(MORE_LIBS)

$(ORACLE_TESTS:%=build/$(1)/tests/unit/walk/%.o): ROOM_FLAGS += $(LIBUNWIND_FLAGS_$(1))
$(ORACLE_TESTS:%=build/$(1)/tests/unit/walk/%.o): | $(LIBUNWIND_$(1))
$(ORACLE_TESTS:%=build/$(1)/tests/unit/walk/%): MORE_LIBS = $(LIBUNWIND_LIBS_$(1))

-include $(patsubst tests/%.c,build/$(1)/tests/%.d,$(TEST_SOURCES) $(SUPPORT_SOURCES))
endef

$(foreach lane,$(LANES),$(eval $(call test_rules,$(lane))))

# The library as it is shipped, with tests/faults between it and the memory that it reads.
FAULTS_WRAPPED := arch_load_u8 arch_load_u16 arch_load_u32 arch_load_u64 arch_load_u64_acquire safe_load_bytes safe_match_words \
	arch_is_contained_load walk_java walk_own_stack walk_native sample_take signals_call_guarded \
	walk_breaker_count walk_breaker_open walk_breaker_turn walk_breaker_tell

# And between both products and all that they call outside: tests/faults/calls.def.
FAULTS_FLAGS = $(patsubst %,-Wl$(comma)--wrap=%,$(shell tools/check-faults --names))

build/faults/%.o: tests/faults/%.c build/plain/flags build/jdk.flags
	$(call say,CC,$< [faults])
	@mkdir -p $(@D)
	$(Q)$(CC_plain) $(CPPFLAGS_ALL) -Itests/faults $(CFLAGS_ALL) $(CFLAGS_plain) $(TEST_WARNINGS) @build/jdk.flags \
	    -MMD -MP -c -o $@ $<

$(FAULTS_LIBRARY): build/faults/loads.o build/faults/calls.o build/faults/calls_rules.o build/faults/calls_jvm.o \
    $(call room_objects,plain,$(LIB_ROOMS)) src/agent/exports.map
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC_plain) $(CFLAGS_plain) $(LDFLAGS_ALL) $(LDFLAGS_LIB) $(FAULTS_WRAPPED:%=-Wl,--wrap=%) $(FAULTS_FLAGS) \
	    -Wl,--wrap=hooks_install -Wl,--wrap=instrument_open_jvmti -o $@ $(filter %.o,$^) $(call optional_libraries,$(CC_plain))

$(FAULTS_COMMAND): build/faults/calls.o build/faults/calls_rules.o $(call room_objects,plain,$(CLI_ROOMS))
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC_plain) $(CFLAGS_plain) $(LDFLAGS_ALL) $(FAULTS_FLAGS) -o $@ $(filter %.o,$^) \
	    $(call command_libraries,$(CC_plain))

-include build/faults/calls.d build/faults/calls_rules.d build/faults/calls_jvm.d
-include build/faults/loads.d
