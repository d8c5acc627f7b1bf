package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/tls"
	"io"
	"sync/atomic"
)

// schemes is with which scheme the keys of one role have signed in a case: what a side signs with itself crypto/tls does
// not tell, and before Go 1.25 neither what its peer signed with. 0: there was no signature.
type schemes struct{ atomic.Uint32 }

const mixed = 0xffff // there were several

func index(isClient bool) int {
	if isClient {
		return 1
	}
	return 0
}

type witness struct {
	crypto.Signer
	signed *schemes
}

// decrypting is the same for RSA key exchange.
type decrypting struct {
	witness
	decrypter crypto.Decrypter
}

func witnessed(key crypto.Signer, signed *schemes) crypto.PrivateKey {
	w := witness{key, signed}
	if decrypter, can := key.(crypto.Decrypter); can {
		return decrypting{w, decrypter}
	}
	return w
}

func (d decrypting) Decrypt(rand io.Reader, message []byte, options crypto.DecrypterOpts) ([]byte, error) {
	return d.decrypter.Decrypt(rand, message, options)
}

func (w witness) Sign(rand io.Reader, digest []byte, options crypto.SignerOpts) ([]byte, error) {
	scheme := uint32(schemeOf(w.Public(), options))
	if before := w.signed.Load(); before == 0 {
		w.signed.Store(scheme)
	} else if before != scheme {
		w.signed.Store(mixed)
	}
	return w.Signer.Sign(rand, digest, options)
}

// schemeOf is the IANA SignatureScheme of a signature. TLS 1.2 allows an ECDSA key each hash, so that its name may not
// fit the key's curve.
func schemeOf(key crypto.PublicKey, options crypto.SignerOpts) uint16 {
	var hash uint16
	switch options.HashFunc() {
	case crypto.SHA1:
		hash = 2
	case crypto.SHA256:
		hash = 4
	case crypto.SHA384:
		hash = 5
	case crypto.SHA512:
		hash = 6
	}
	switch key.(type) {
	case ed25519.PublicKey:
		return uint16(tls.Ed25519)
	case *ecdsa.PublicKey:
		return hash<<8 | 3
	case *rsa.PublicKey:
		if _, isPSS := options.(*rsa.PSSOptions); isPSS {
			return 0x0800 | hash
		}
		return hash<<8 | 1
	}
	return mixed
}
