SOURCES_wolfssl := backend_wolfssl wolfssl_configure wolfssl_fault wolfssl_inspect wolfssl_material wolfssl_structures \
	expected certificate material
LIBS_wolfssl ?= -lwolfssl -lm
