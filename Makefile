# SPDX-License-Identifier: GPL-2.0-or-later
# vpclab: one non-recursive Makefile. `make help` tells the targets.

BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
CC      ?= cc
WERROR  ?= $(if $(CI),-Werror)
OPT     ?= -O2 -g
PACKAGES = libnl-3.0 libnl-route-3.0 libmnl libnftnl libfyaml jansson libRmath
VERSION := 0.1.0

CPPFLAGS += -I. -D_GNU_SOURCE -DVPCLAB_VERSION='"$(VERSION)"' -DVPCLAB_DATADIR='"$(PREFIX)/share/vpclab"'
CFLAGS   += -std=gnu17 $(OPT) -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
            -Wvla -Wformat=2 -Wno-format-nonliteral -fno-common -pthread $(WERROR) $(SAN)
LDFLAGS  += -pthread $(SAN)
PKG_CFLAGS = $(shell pkg-config --cflags $(PACKAGES))
PKG_LIBS   = $(shell pkg-config --libs $(PACKAGES)) -lm

# Layers, lowest first; each may use those that its line names (ci/layers checks the includes).
LAYERS := base stats engine tools model shaper plan kernel lab harness report cli
DIR_base := core/base
DIR_stats := core/stats
DIR_engine := core/engine
DIR_tools := core/tools
DIR_model := emulator/model
DIR_shaper := emulator/shaper
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
USES_shaper := plan model base
USES_plan := shaper model base
USES_kernel := base
USES_lab := kernel plan shaper model base
USES_harness := tools engine stats lab kernel plan shaper model base
USES_report := harness tools engine stats lab kernel plan shaper model base
USES_cli := report harness tools engine stats lab kernel plan shaper model base

.PHONY: all
all: $(BUILD)/vpclab

define layer_rules
SRC_$(1) := $$(wildcard $$(DIR_$(1))/*.c)
OBJ_$(1) := $$(SRC_$(1):%.c=$(BUILD)/%.o)
LIB_$(1) := $(BUILD)/lib$(1).a
$$(LIB_$(1)): $$(OBJ_$(1))
	@rm -f $$@ && $(AR) rcs $$@ $$^
endef
$(foreach l,$(LAYERS),$(eval $(call layer_rules,$(l))))

# Archives that something of layer $(1) links, itself first. Grouped: shaper and plan see each other.
libs_of = $(LIB_$(1)) $(foreach u,$(USES_$(1)),$(LIB_$(u)))
link = $(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(PKG_LIBS)

$(BUILD)/%.o: %.c | packages
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(PKG_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/vpclab: $(call libs_of,cli) $(BUILD)/core/cli/main.o
	$(link)

# Unit tests: tests/unit/LAYER/NAME.c links with that layer and what it uses, no more.
UNIT_SRC := $(wildcard tests/unit/*/*.c)
UNIT_BIN := $(UNIT_SRC:%.c=$(BUILD)/%)
define unit_rule
$(BUILD)/$(1:.c=): $(BUILD)/$(1:.c=.o) $(call libs_of,$(word 3,$(subst /, ,$(1))))
	$$(link) -lcmocka
endef
$(foreach t,$(UNIT_SRC),$(eval $(call unit_rule,$(t))))

.PHONY: packages
packages:
	@ci/setup

-include $(shell [ -d $(BUILD) ] && find $(BUILD) -name '*.d')
