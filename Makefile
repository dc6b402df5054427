# jaywalk: a table of contents. Details stand in mk/*.mk; `make help` lists the targets.
#
#   make V=1        show the commands          make WERROR=0   let warnings pass
#   make CC=clang   another compiler           make JDKS=...   more JDKs, separated by colons
#
# Everything that is made lies under build/: the products in build/lib and build/bin, the objects,
# unit tests and logs of a lane in build/<lane>/.

VERSION := 0.1.0

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --no-print-directory
SHELL := /bin/bash

comma := ,

# One job for each processor, unless the caller chose (make -j1) or is a make itself.
ifeq ($(MAKELEVEL)$(filter -j% --jobserver%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc)
endif

# Rooms ------------------------------------------------------------------------------------------
# One directory of src/ each, in the order of src/LAYERS. A room that has no file yet is empty.
ROOMS      := $(shell sed -n 's/^\([a-z]*\):.*/\1/p' src/LAYERS)
JVM_ROOMS  := vm ids unwind walk sampler recording instrument agent
CORE_ROOMS := $(filter-out $(JVM_ROOMS) cli,$(ROOMS))
LIB_ROOMS  := $(filter-out attach cli,$(ROOMS))
CLI_ROOMS  := base os options classfile rules probe jfr profile export attach cli

# under_x: room x and all that it may use, directly or not.
$(foreach line,$(shell awk -f mk/rooms.awk src/LAYERS),\
	$(eval names := $(subst $(comma), ,$(line)))$(eval under_$(firstword $(names)) := $(names)))

# Products ---------------------------------------------------------------------------------------
LIBRARY := build/lib/libjaywalk.so
COMMAND := build/bin/jaywalk

# Lanes ------------------------------------------------------------------------------------------
# plain is what is installed; the others exist to find defects.
LANES := plain asan tsan checked aarch64

include mk/flags.mk mk/build.mk mk/java.mk mk/test.mk mk/bench.mk mk/check.mk mk/install.mk

.PHONY: all demo demo-shop test soak check install help clean $(LANES)

all: lane-plain $(JAR) ## build/lib/libjaywalk.so, build/bin/jaywalk and build/jar/jaywalk.jar

demo: all ## profile a real Java program; leaves a recording and a flame graph in build/demo
	$(Q)demo/run

demo-shop: all ## profile a web shop by request; leaves a recording and a flame graph in build/demo
	$(Q)demo/shop/run

test: ## every check and test; the last line counts them
	+$(Q)MAKE="$(MAKE)" tools/test-all $(TEST_PARTS)

check: run-checks ## style, layers, signal safety, stack of handlers, memory order, exports, format (under 2 min)

soak: all $(FAULTS_LIBRARY) $(FAULTS_COMMAND) $(REWRITER) build/plain/tests/stress/test_storm ## the long runs: storms, chaos, churn, starts and stops, kills, garbage, faults, commands, exits, fuzzing (hours)
	$(Q)tests/soak/run
	$(Q)tests/soak/reproducible
	$(Q)$(MAKE) test-unit-plain EVERYWHERE=yes UNIT_LIMIT_SECONDS=3600
	$(Q)$(MAKE) test-unit-aarch64 EMULATE_ALL=yes UNIT_LIMIT_SECONDS=3600
	$(Q)JW_FUZZ_SEED=0 $(MAKE) test-fuzz FUZZ_SECONDS=600
	$(Q)JW_FUZZ_SEED=0 $(MAKE) test-fuzz FUZZ_SECONDS=1800 FUZZ_TARGETS="jfr_reader convert chunks"

install: install-files ## into PREFIX (/usr/local), below DESTDIR

# One lane with its unit test programs: make asan, make checked ...
$(LANES): %: lane-% tests-%

help: ## this list
	@sed -n 's/^\([a-z][a-z0-9-]*\):.*## \(.*\)/\1\t\2/p' Makefile mk/*.mk | \
	    while IFS=$$'\t' read -r name text; do printf '  %-14s %s\n' "$$name" "$$text"; done

clean: ## remove build/
	$(Q)rm -rf build
