package main

import (
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"slices"
)

// resumption as in case.h.
const (
	resumeNone      = 0
	resumeSessionID = 1
	resumePSK       = 3
)

// Numbers of IANA's registry for which crypto/tls has no names, or not in each version.
const (
	secp192r1          = 19
	secP256r1MLKEM768  = 4587
	x25519MLKEM768     = 4588
	secP384r1MLKEM1024 = 4589
	ed448, rsaPSSKey   = 0x0808, 0x0809
	mldsa44, mldsa87   = 0x0904, 0x0906
)

// preference is the order in which crypto/tls prefers groups; since Go 1.24 it is always this one, whatever a
// configuration says. Each has the first version that has it.
var preference = []struct{ group, since int }{
	{x25519MLKEM768, 24}, {secP256r1MLKEM768, 26}, {secP384r1MLKEM1024, 26},
	{int(tls.X25519), 0}, {int(tls.CurveP256), 0}, {int(tls.CurveP384), 0}, {int(tls.CurveP521), 0},
}

// context is a case, set up. All threads share it.
type context struct {
	*tlsCase
	client, server *role
	kept           *tls.ClientSessionState // that clients resume
	anchor         []byte                  // the first trust anchor
}

// role is the configuration of one side.
type role struct {
	config *tls.Config
	own    []byte // the certificate that it shows; nil: none
}

func newContext(wanted *tlsCase) (*context, *fault) {
	c := &context{tlsCase: wanted}
	f := c.lacksKey()
	if f == nil {
		c.server, f = c.load(false)
	}
	if f == nil {
		c.client, f = c.load(true)
	}
	if f == nil {
		f = c.lacks()
	}
	return c, f
}

// lacksKey is nil, or which kind of key crypto/tls does not have.
func (c *context) lacksKey() *fault {
	switch {
	case c.curve == secp192r1:
		return unsupported("crypto/tls has no curve secp192r1")
	case c.signature == ed448:
		return unsupported("crypto/tls has no Ed448")
	case c.signature == rsaPSSKey:
		return unsupported("crypto/x509 reads no RSA-PSS keys")
	case c.signature >= mldsa44 && c.signature <= mldsa87:
		return unsupported("crypto/tls has no ML-DSA")
	}
	return nil
}

// lacks is nil, or what else of the case crypto/tls does not have or cannot be told.
func (c *context) lacks() *fault {
	switch {
	case c.protocol == tls.VersionTLS13 && int(c.suite) != int(tls.TLS_AES_128_GCM_SHA256):
		return unsupported("crypto/tls chooses the cipher suite of TLS 1.3 itself, and prefers AES-128-GCM")
	case c.resumption == resumeSessionID:
		return unsupported("crypto/tls resumes by tickets alone, its servers keep no sessions")
	case c.resumption == resumePSK:
		return unsupported("crypto/tls resumes TLS 1.3 with a key share only")
	case c.early_data_bytes != 0:
		return unsupported("crypto/tls has early data for QUIC alone")
	case c.group != 0 && !slices.Contains(groups(), int(c.group)):
		return unsupported("crypto/tls of this version has no such group")
	case c.retried_group != 0 && c.retried() == 0:
		return unsupported("clients of crypto/tls always have a key share of this group when they offer it")
	}
	return nil
}

// groups are those that this version has, in the order of its preference.
func groups() []int {
	var has []int
	for _, each := range preference {
		if minor >= each.since {
			has = append(has, each.group)
		}
	}
	return has
}

// retried is a group that a client prefers to the case's, so that its only key share is of that one. With a share of
// X25519MLKEM768 comes one of X25519. 0: there is none.
func (c *context) retried() int {
	if minor < 24 { // the order is the configuration's
		return int(c.retried_group)
	}
	for _, other := range groups() {
		if other == int(c.group) {
			return 0
		}
		if other != x25519MLKEM768 || tls.CurveID(c.group) != tls.X25519 {
			return other
		}
	}
	return 0
}

// load reads the files of one role, and configures it.
func (c *context) load(isClient bool) (*role, *fault) {
	config := &tls.Config{
		MinVersion: uint16(c.protocol),
		MaxVersion: uint16(c.protocol),
		// Otherwise a connection begins with records of a packet's size.
		DynamicRecordSizingDisabled: true,
	}
	if c.protocol == tls.VersionTLS12 {
		config.CipherSuites = []uint16{uint16(c.suite)}
	}
	if c.group != 0 {
		config.CurvePreferences = []tls.CurveID{tls.CurveID(c.group)}
	}
	made := &role{config: config}
	if !isClient || c.client_authentication != 0 {
		certificate, f := c.loadCertificate()
		if f != nil {
			return nil, f
		}
		made.shows(*certificate)
	}
	roots, f := c.loadAnchors()
	if f != nil {
		return nil, f
	}
	if isClient {
		c.configureClient(config, roots)
	} else {
		c.configureServer(config, roots)
	}
	return made, nil
}

func (c *context) configureClient(config *tls.Config, roots *x509.CertPool) {
	config.InsecureSkipVerify = c.verification == 0
	if c.verification != 0 {
		config.ServerName, config.RootCAs = text(c.host), roots
	}
	if c.retried_group != 0 {
		config.CurvePreferences = append([]tls.CurveID{tls.CurveID(c.retried())}, config.CurvePreferences...)
	}
}

func (c *context) configureServer(config *tls.Config, roots *x509.CertPool) {
	config.SessionTicketsDisabled = c.protocol != 0 && !c.keepsSessions()
	if c.client_authentication != 0 {
		config.ClientAuth = tls.RequireAnyClientCert
		if c.verification != 0 {
			config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, roots
		}
	}
}

func (c *context) keepsSessions() bool { return c.resumption != resumeNone || c.default_tickets != 0 }

func (c *context) loadCertificate() (*tls.Certificate, *fault) {
	key, err := readKey(text(c.key))
	if err != nil {
		return nil, broken("the key can't be read", err)
	}
	made := &tls.Certificate{PrivateKey: key}
	if made.Certificate, err = readPEM(text(c.certificate)); err == nil {
		made.Leaf, err = x509.ParseCertificate(made.Certificate[0])
	}
	if err != nil {
		return nil, broken("the certificate can't be read", err)
	}
	if public := key.Public().(interface{ Equal(crypto.PublicKey) bool }); !public.Equal(made.Leaf.PublicKey) {
		return nil, broken("the key does not belong to the certificate", nil)
	}
	if c.ocsp_response != nil {
		if made.OCSPStaple, err = os.ReadFile(text(c.ocsp_response)); err != nil {
			return nil, broken("the OCSP response can't be read", err)
		}
	}
	if c.protocol != 0 && c.signature != 0 {
		made.SupportedSignatureAlgorithms = []tls.SignatureScheme{tls.SignatureScheme(c.signature)}
	}
	return made, nil
}

func (c *context) loadAnchors() (*x509.CertPool, *fault) {
	if c.trust_anchors == nil {
		return nil, nil
	}
	roots := x509.NewCertPool()
	ders, err := readPEM(text(c.trust_anchors))
	for i := 0; i < len(ders) && err == nil; i++ {
		var root *x509.Certificate
		if root, err = x509.ParseCertificate(ders[i]); err == nil {
			roots.AddCert(root)
		}
	}
	if err != nil {
		return nil, broken("the trust anchors can't be read", err)
	}
	if c.anchor == nil { // at set-up; later loads are concurrent
		c.anchor = ders[0]
	}
	return roots, nil
}

func readKey(path string) (crypto.Signer, error) {
	ders, err := readPEM(path)
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKCS8PrivateKey(ders[0])
	if err != nil {
		return nil, err
	}
	if signer, can := key.(crypto.Signer); can {
		return signer, nil
	}
	return nil, errors.New("it can't sign")
}

// readPEM is what the blocks of a file hold, at least one of them.
func readPEM(path string) ([][]byte, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var ders [][]byte
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		ders = append(ders, block.Bytes)
	}
	if len(ders) == 0 {
		return nil, errors.New("no PEM block")
	}
	return ders, nil
}
