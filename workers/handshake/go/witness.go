package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/tls"
	"io"
	"sync/atomic"
)

// schemes is with which scheme the keys of one role have signed in a case. What a side signs with itself crypto/tls does
// not tell, nor, before Go 1.25, what its peer signed with. 0: there was no signature.
type schemes struct{ atomic.Uint32 }

const mixed = 0xffff // there were several

// witness is a key that remembers how it signed.
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
	scheme := schemeOf(w.Public(), options)
	if !w.signed.CompareAndSwap(0, scheme) && w.signed.Load() != scheme {
		w.signed.Store(mixed)
	}
	return w.Signer.Sign(rand, digest, options)
}

// schemeOf is the IANA SignatureScheme of a signature. TLS 1.2 allows an ECDSA key each hash, so that the scheme's name
// may not fit the key's curve.
func schemeOf(key crypto.PublicKey, options crypto.SignerOpts) uint32 {
	var hash uint32 = 2
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
	return uint32(tls.Ed25519)
}

// index is the place of a role in pairs of values.
func index(isClient bool) int {
	if isClient {
		return 1
	}
	return 0
}
