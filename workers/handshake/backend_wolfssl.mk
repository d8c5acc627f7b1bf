SOURCES_wolfssl := backend_wolfssl certificate wolfssl_configure wolfssl_fault wolfssl_inspect wolfssl_material wolfssl_structures \
	material
LIBS_wolfssl ?= -lwolfssl -lm
