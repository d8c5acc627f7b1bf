# BoringSSL, like AWS-LC. It is C++, and links its standard library as the crate boring-sys does.
SOURCES_boringssl := backend_openssl boring_compat boring_dtls boring_early boringssl_compat openssl_configure openssl_fault openssl_fips \
	openssl_inspect openssl_material openssl_names openssl_pipe openssl_psk openssl_sni material
LIBS_boringssl ?= -lssl -lcrypto -lstdc++ -pthread
