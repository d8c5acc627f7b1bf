# Bloom filter encryption of ../bfe, and libcrypto. A kit names both itself, else they are built and found here.
SOURCES_bfe := backend_bfe bfe_flight bfe_key bfe_secrets material
ifeq ($(origin LIBS_bfe),undefined)
BLST_bfe := $(shell sh ../bfe/blst.sh)
override CFLAGS_LIBRARY += -isystem ../bfe -isystem $(BLST_bfe)/bindings
LIBS_bfe = $(NEEDED) -lcrypto -lm
NEEDED := $(BUILD)/bfe/libbfe.a
$(NEEDED): $(wildcard ../bfe/*.c ../bfe/*.h)
	@$(MAKE) -s -C ../bfe BUILD="$(abspath $(BUILD))/bfe" CFLAGS="$(CFLAGS)" "$(abspath $(BUILD))/bfe/libbfe.a"
endif
