# QUIC: ngtcp2, its crypto helper for GnuTLS, and what the GnuTLS backend lends.
SOURCES_ngtcp2 := backend_ngtcp2 ngtcp2_connection ngtcp2_packets ngtcp2_stream ngtcp2_again gnutls_context gnutls_fault gnutls_inspect gnutls_material \
	gnutls_names gnutls_priority gnutls_psk gnutls_replay gnutls_resume gnutls_sni material
LIBS_ngtcp2 ?= -lngtcp2_crypto_gnutls -lngtcp2 -lgnutls
