SOURCES_openssl := backend_openssl openssl_compat openssl_configure openssl_dtls openssl_early openssl_fault openssl_fips openssl_inspect openssl_material \
	openssl_names openssl_pipe openssl_psk openssl_sni material
LIBS_openssl ?= -lssl -lcrypto
