# SPDX-License-Identifier: GPL-2.0-or-later
# vpclab: one non-recursive Makefile. `make help` tells the targets.

BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
CC      ?= cc
WERROR  ?= $(if $(CI),-Werror)
OPT     ?= -O2 -g
PACKAGES = libmnl libnftnl libfyaml jansson libRmath gnutls libpcre2-8
VERSION := 0.1.0

CPPFLAGS += -I. -D_GNU_SOURCE -DVPCLAB_VERSION='"$(VERSION)"'
CFLAGS   += -std=gnu17 $(OPT) -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
            -Wvla -Wformat=2 -Wno-format-nonliteral -fno-common -pthread $(WERROR) $(SAN)
LDFLAGS  += -pthread $(SAN)
# Asked once, and only when something is compiled: ci/setup has then installed pkg-config.
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(shell pkg-config --cflags $(PACKAGES)))$(PKG_CFLAGS)
PKG_LIBS   = $(eval PKG_LIBS := $$(shell pkg-config --libs $(PACKAGES)) -lm)$(PKG_LIBS)

# `make V=1` shows whole commands.
Q   = $(if $(V),,@)
say = $(if $(V),,@printf '  %-5s %s\n' $(1) $(2);)

# Layers, lowest first; each may use those that its line names (ci/layers checks the includes).
LAYERS := base stats engine tools model shaper relay plan kernel lab harness report cli
DIR_base := core/base
DIR_stats := core/stats
DIR_engine := core/engine
DIR_tools := core/tools
DIR_model := emulator/model
DIR_shaper := emulator/shaper
DIR_relay := emulator/relay
DIR_plan := emulator/plan
DIR_kernel := emulator/kernel
DIR_lab := emulator/lab
DIR_harness := core/harness
DIR_report := core/report
DIR_cli := core/cli
USES_base :=
USES_stats := base
USES_engine := stats base
USES_tools := stats base
USES_model := base
USES_shaper := model base
USES_relay := model stats base
USES_plan := shaper relay model stats base
USES_kernel := base
USES_lab := kernel plan relay shaper model stats base
USES_harness := tools engine lab kernel plan relay shaper model stats base
USES_report := harness tools engine lab kernel plan relay shaper model stats base
USES_cli := report harness tools engine lab kernel plan relay shaper model stats base

PROGRAM    := $(BUILD)/vpclab
MAN        := $(BUILD)/vpclab.1
COMPLETION := $(BUILD)/vpclab.bash

.PHONY: all
all: $(PROGRAM) $(MAN) $(COMPLETION)

define layer_rules
SRC_$(1) := $$(wildcard $$(DIR_$(1))/*.c)
OBJ_$(1) := $$(SRC_$(1):%.c=$(BUILD)/%.o)
LIB_$(1) := $(BUILD)/lib$(1).a
$$(LIB_$(1)): $$(OBJ_$(1))
	@rm -f $$@ && $(AR) rcs $$@ $$^
endef
$(foreach l,$(LAYERS),$(eval $(call layer_rules,$(l))))

# Archives that something of layer $(1) links, itself first.
libs_of = $(LIB_$(1)) $(foreach u,$(USES_$(1)),$(LIB_$(u)))
link = $(Q)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(PKG_LIBS)

$(BUILD)/%.o: %.c $(BUILD)/flags | packages
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(PKG_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# Changes only when the compiler or its flags do, so that `make CI=1` after `make` compiles again.
.PHONY: force
$(BUILD)/flags: force
	@mkdir -p $(@D)
	@printf '%s\n' "$(subst ",,$(CC) $(CPPFLAGS) $(CFLAGS))" >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(PROGRAM): $(BUILD)/core/cli/main.o $(call libs_of,cli)
	$(call say,LINK,$@)
	$(link)

# Written whole or not at all: a program that fails leaves no half page.
$(MAN): $(PROGRAM)
	@$(PROGRAM) man >$@.new && mv $@.new $@

$(COMPLETION): $(PROGRAM)
	@$(PROGRAM) completion >$@.new && mv $@.new $@

# Unit tests, tests/unit/LAYER/NAME.c, link with that layer and what it uses, no more. Kernel tests,
# tests/kernel/NAME.c, may use the lab layer and all below.
UNIT_SRC := $(wildcard tests/unit/*/*.c)
UNIT_BIN := $(UNIT_SRC:%.c=$(BUILD)/%)
define unit_rule
$(BUILD)/$(1:.c=): $(BUILD)/$(1:.c=.o) $(call libs_of,$(word 3,$(subst /, ,$(1))))
	$$(call say,LINK,$$@)
	$$(link) -lcmocka
endef
$(foreach t,$(UNIT_SRC),$(eval $(call unit_rule,$(t))))

KERNEL_SRC := $(wildcard tests/kernel/*.c)
KERNEL_BIN := $(KERNEL_SRC:%.c=$(BUILD)/%)
$(KERNEL_BIN): $(BUILD)/%: $(BUILD)/%.o $(call libs_of,lab)
	$(call say,LINK,$@)
	$(link) -lcmocka

# Fuzz targets, tests/fuzz/NAME.c with LLVMFuzzerTestOneInput(). Each becomes a program that replays
# tests/corpus/NAME (tests/fuzz/replay.c has its main); with FUZZING=1 and clang, a fuzzer.
FUZZ_SRC := $(filter-out tests/fuzz/replay.c,$(wildcard tests/fuzz/*.c))
FUZZ_BIN := $(FUZZ_SRC:%.c=$(BUILD)/%)
FUZZ_SECONDS ?= 60
$(FUZZ_BIN): $(BUILD)/%: $(BUILD)/%.o $(if $(FUZZING),,$(BUILD)/tests/fuzz/replay.o) $(call libs_of,cli)
	$(call say,LINK,$@)
	$(link) $(if $(FUZZING),-fsanitize=fuzzer)

# What setup is asked for follows from the goal: tests need more packages than the program.
SETUP := build
.PHONY: packages
packages:
	@ci/setup $(SETUP)

.PHONY: demo
demo: all
	$(PROGRAM) run scenarios/zstack.yaml -o out/zstack

TEST_BIN := $(UNIT_BIN) $(KERNEL_BIN) $(FUZZ_BIN)
.PHONY: tests check
tests check check-unit check-lab: SETUP := check
tests: all $(TEST_BIN)
check: tests
	@tests/run -b $(BUILD)

.PHONY: check-unit check-lab
check-unit: $(PROGRAM) $(TEST_BIN)
	@tests/run -b $(BUILD) unit kernel corpus
check-lab: all
	@tests/run -b $(BUILD) lab

# What this kernel lacks, on a stock Debian kernel in a VM (ci/vm/tests names the tests).
.PHONY: check-vm
check-vm: SETUP := check
check-vm: tests
	@ci/vm/run -b $(BUILD)

# The same tests under AddressSanitizer and UndefinedBehaviorSanitizer, in a build of their own.
.PHONY: asan
asan:
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/asan OPT='-O1 -g -fno-omit-frame-pointer' \
		SAN='-fsanitize=address,undefined -fno-sanitize-recover=undefined' check-unit

# New inputs are kept in $(BUILD)/fuzz/found; one that crashes is named and belongs into tests/corpus.
.PHONY: fuzz fuzz-run
fuzz: SETUP := check
fuzz: packages
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/fuzz CC=clang FUZZING=1 WERROR= \
		OPT='-O1 -g -Wno-gnu-variable-sized-type-not-at-end' \
		SAN='-fsanitize=fuzzer-no-link,address,undefined' fuzz-run
fuzz-run: $(FUZZ_BIN)
	@set -e; for target in $(notdir $(FUZZ_BIN)); do \
		found=$(BUILD)/found/$$target; mkdir -p $$found; \
		$(BUILD)/tests/fuzz/$$target -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 \
			-artifact_prefix=$$found/ $$found tests/corpus/$$target \
			$$(ls -d tests/corpus/$${target%_fuzz} 2>/dev/null); \
	done

# Writes what the tests compare with anew from today's output; read the difference before you commit.
.PHONY: golden
golden: SETUP := check
golden: $(UNIT_BIN)
	@UPDATE_GOLDEN=1 tests/run -b $(BUILD) unit

# Ratios against others on a quiet machine; never pass or fail.
.PHONY: bench-links
bench-links: all
	@tests/bench/links.sh -b $(BUILD)
.PHONY: bench-engines
bench-engines: all
	@tests/bench/engines.sh -b $(BUILD) $(if $(NETPERF),-N $(NETPERF))

# Profiles of instances from the table of published figures; a test holds them against it.
.PHONY: profiles
profiles:
	@ci/profiles topologies/profiles/published.csv

SHARE := $(DESTDIR)$(PREFIX)/share
.PHONY: install uninstall
install: all
	install -D -m 755 $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/vpclab
	install -D -m 644 $(MAN) $(SHARE)/man/man1/vpclab.1
	install -D -m 644 $(COMPLETION) $(SHARE)/bash-completion/completions/vpclab
	find topologies scenarios -type f -exec install -D -m 644 {} $(SHARE)/vpclab/{} \;

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/vpclab $(SHARE)/man/man1/vpclab.1 \
		$(SHARE)/bash-completion/completions/vpclab
	rm -rf $(SHARE)/vpclab
	@cd $(DESTDIR)$(PREFIX)/share && rmdir --ignore-fail-on-non-empty man/man1 \
		bash-completion/completions bash-completion || :
	$(if $(DESTDIR),@cd $(DESTDIR) && rmdir -p --ignore-fail-on-non-empty \
		$(PREFIX:/%=%)/share/man $(PREFIX:/%=%)/bin || :)

.PHONY: clean
clean:
	rm -rf $(BUILD) out

.PHONY: help
help:
	@echo 'make              build $(PROGRAM), its man page and bash completion'
	@echo 'make demo         run the ZStack scenario: table on the screen, JSON in out/zstack'
	@echo 'make check        all tests (check-unit, check-lab: a part of them)'
	@echo 'make check-vm     kernel and lab tests on a stock kernel, in a VM'
	@echo 'make asan         unit, kernel and corpus tests under ASan and UBSan'
	@echo 'make fuzz         look for crashing input for FUZZ_SECONDS=$(FUZZ_SECONDS) a target'
	@echo 'make bench-links  how exact links are, beside those of Mininet and containerlab'
	@echo 'make bench-engines  our engines beside iperf3, iperf, qperf, sockperf and netperf'
	@echo 'make golden       write the expected outputs in tests/golden anew'
	@echo 'make profiles     write topologies/profiles anew from published.csv'
	@echo 'make install      to DESTDIR and PREFIX ($(PREFIX)); make uninstall removes it'
	@echo 'make clean        remove $(BUILD) and out'
	@echo
	@echo 'BUILD=DIR builds elsewhere, CI=1 makes warnings errors, V=1 shows commands.'
	@echo 'Missing packages are installed by ci/setup.'

-include $(shell [ -d $(BUILD) ] && find $(BUILD) -type f -name '*.d')
