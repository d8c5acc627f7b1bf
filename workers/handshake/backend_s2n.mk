# s2n-tls with its internal headers, which the recipe of its kit installs beside the public one: they are included as
# the library itself includes them. Its libcrypto is AWS-LC.
SOURCES_s2n := backend_s2n s2n_configure s2n_fault s2n_inspect s2n_policy expected certificate material
LIBS_s2n ?= -ls2n -lcrypto
override CFLAGS_LIBRARY += $(foreach folder,$(patsubst -isystem%,%,$(filter -isystem%,$(CFLAGS_LIBRARY))),\
	-isystem$(folder)/s2n -isystem$(folder)/s2n/api)
