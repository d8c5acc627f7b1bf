package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/tls"
	"io"
)

// connectionsKnow is whether a connection knows what its peer signed with. What it signs with itself it never tells.
var connectionsKnow = minor >= 25

// shows has a role show a certificate. Where connections do not know what their peers signed with, the key tells the
// side that shows it.
func (r *role) shows(certificate tls.Certificate) {
	r.own = certificate.Certificate[0]
	if connectionsKnow {
		r.config.Certificates = []tls.Certificate{certificate}
		return
	}
	r.config.GetCertificate = func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		return hello.Conn.(*side).witnessed(certificate), nil
	}
	r.config.GetClientCertificate = func(request *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		own := request.Context().Value(sideKey{}).(*side).witnessed(certificate)
		return own, request.SupportsCertificate(own) // which crypto/tls asks as well
	}
}

// sideKey is what a handshake's context has its side by, since a request for a certificate does not name the connection.
type sideKey struct{}

func (s *side) witnessed(certificate tls.Certificate) *tls.Certificate {
	w := witness{certificate.PrivateKey.(crypto.Signer), &s.signed}
	certificate.PrivateKey = w
	if decrypter, can := w.Signer.(crypto.Decrypter); can {
		certificate.PrivateKey = decrypting{w, decrypter}
	}
	return &certificate
}

// witness is a key that tells how it signed.
type witness struct {
	crypto.Signer
	signed *int
}

// decrypting is the same for RSA key exchange.
type decrypting struct {
	witness
	decrypter crypto.Decrypter
}

func (d decrypting) Decrypt(rand io.Reader, message []byte, options crypto.DecrypterOpts) ([]byte, error) {
	return d.decrypter.Decrypt(rand, message, options)
}

func (w witness) Sign(rand io.Reader, digest []byte, options crypto.SignerOpts) ([]byte, error) {
	*w.signed = schemeOf(w.Public(), options)
	return w.Signer.Sign(rand, digest, options)
}

// schemeOf is the IANA SignatureScheme of a signature. TLS 1.2 allows an ECDSA key each hash, so that the scheme's name
// may not fit the key's curve.
func schemeOf(key crypto.PublicKey, options crypto.SignerOpts) int {
	hash := 2
	switch options.HashFunc() {
	case crypto.SHA256:
		hash = 4
	case crypto.SHA384:
		hash = 5
	case crypto.SHA512:
		hash = 6
	}
	switch key.(type) {
	case *ecdsa.PublicKey:
		return hash<<8 | 3
	case *rsa.PublicKey:
		if _, isPSS := options.(*rsa.PSSOptions); isPSS {
			return 0x0800 | hash
		}
		return hash<<8 | 1
	}
	return int(tls.Ed25519)
}
