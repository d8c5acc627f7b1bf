SOURCES_gnutls := backend_gnutls gnutls_context gnutls_dtls gnutls_fault gnutls_inspect gnutls_material gnutls_names gnutls_priority gnutls_psk gnutls_replay \
	gnutls_resume gnutls_sni material
LIBS_gnutls ?= -lgnutls
