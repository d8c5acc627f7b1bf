# AWS-LC, most of whose interface is that of OpenSSL 1.1.1: what the OpenSSL backend lends, and the other functions of
# BoringSSL's family.
SOURCES_awslc := backend_openssl awslc_compat boring_compat boring_dtls boring_early openssl_configure openssl_fault openssl_fips \
	openssl_inspect openssl_material openssl_names openssl_pipe openssl_psk openssl_sni material
LIBS_awslc ?= -lssl -lcrypto
