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

// settings is a case as foreign.h has it. Numbers are IANA's; protocol is 0 with default settings.
type settings struct {
	protocol, suite, group, signature, curve      uint16
	retries, clientAuthentication, verification   bool
	earlyData, defaultTickets, perConnection      bool
	resumption                                    resumption
	certificate, key, trustAnchors, stapled, host string
	signed                                        [2]*schemes // by the server's key, and by the client's
}

type resumption int

// As in case.h.
const (
	resumeNone resumption = iota
	resumeSessionID
	resumeTicket
	resumePSK
	resumePSKDHE
)

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
var preference = []struct {
	group uint16
	since int
}{
	{x25519MLKEM768, 24}, {secP256r1MLKEM768, 26}, {secP384r1MLKEM1024, 26},
	{uint16(tls.X25519), 0}, {uint16(tls.CurveP256), 0}, {uint16(tls.CurveP384), 0}, {uint16(tls.CurveP521), 0},
}

// context is a case, set up. All threads share it.
type context struct {
	settings
	client, server *role
	kept           *tls.ClientSessionState // that clients resume
}

// role is the configuration of one side.
type role struct {
	config *tls.Config
	own    []byte // the certificate that it shows; nil: none
}

func newContext(s settings) (*context, *fault) {
	if f := s.lacksKey(); f != nil {
		return nil, f
	}
	s.signed = [2]*schemes{{}, {}}
	c := &context{settings: s}
	var f *fault
	if c.client, f = s.load(true); f != nil {
		return nil, f
	}
	if c.server, f = s.load(false); f != nil {
		return nil, f
	}
	if f := c.leads(); f != nil {
		return nil, f
	}
	return c, s.lacks()
}

// lacksKey is nil, or which kind of key crypto/tls does not have.
func (s *settings) lacksKey() *fault {
	switch {
	case s.curve == secp192r1:
		return unsupported("crypto/tls has no curve secp192r1")
	case s.signature == ed448:
		return unsupported("crypto/tls has no Ed448")
	case s.signature == rsaPSSKey:
		return unsupported("crypto/x509 reads no RSA-PSS keys")
	case s.signature >= mldsa44 && s.signature <= mldsa87:
		return unsupported("crypto/tls has no ML-DSA")
	}
	return nil
}

// lacks is nil, or what else of the case crypto/tls does not have or cannot be told.
func (s *settings) lacks() *fault {
	switch {
	case s.protocol == tls.VersionTLS13 && s.suite != tls.TLS_AES_128_GCM_SHA256:
		return unsupported("crypto/tls chooses the cipher suite of TLS 1.3 itself, and prefers AES-128-GCM")
	case s.resumption == resumeSessionID:
		return unsupported("crypto/tls resumes by tickets alone, its servers keep no sessions")
	case s.resumption == resumePSK:
		return unsupported("crypto/tls resumes TLS 1.3 with a key share only")
	case s.earlyData:
		return unsupported("crypto/tls has early data for QUIC alone")
	case s.group != 0 && !slices.Contains(groups(), s.group):
		return unsupported("crypto/tls of this version has no such group")
	case s.retries && s.retried() == 0:
		return unsupported("clients of crypto/tls always have a key share of this group when they offer it")
	}
	return nil
}

// groups are those that this version has, in the order of its preference.
func groups() []uint16 {
	var has []uint16
	for _, each := range preference {
		if minor >= each.since {
			has = append(has, each.group)
		}
	}
	return has
}

// retried is a group that a client prefers to the case's, so that its only key share is of that one. A share of X25519
// comes along with the one of X25519MLKEM768. 0: there is none.
func (s *settings) retried() uint16 {
	if minor < 24 && s.group == uint16(tls.X25519) { // whose order is the configuration's
		return uint16(tls.CurveP256)
	}
	for _, other := range groups() {
		if other == s.group {
			return 0
		}
		if other != x25519MLKEM768 || s.group != uint16(tls.X25519) {
			return other
		}
	}
	return 0
}

// load reads the files of one role, and configures it.
func (s *settings) load(isClient bool) (*role, *fault) {
	config := &tls.Config{
		MinVersion: s.protocol,
		MaxVersion: s.protocol,
		// Otherwise a connection begins with records of a packet's size.
		DynamicRecordSizingDisabled: true,
	}
	if s.protocol == tls.VersionTLS12 {
		config.CipherSuites = []uint16{s.suite}
	}
	if s.group != 0 {
		config.CurvePreferences = []tls.CurveID{tls.CurveID(s.group)}
	}
	made := &role{config: config}
	if !isClient || s.clientAuthentication {
		certificate, f := s.loadCertificate(isClient)
		if f != nil {
			return nil, f
		}
		config.Certificates = []tls.Certificate{*certificate}
		made.own = certificate.Certificate[0]
	}
	roots, f := s.loadAnchors()
	if f != nil {
		return nil, f
	}
	if isClient {
		s.configureClient(config, roots)
	} else {
		s.configureServer(config, roots)
	}
	return made, nil
}

func (s *settings) configureClient(config *tls.Config, roots *x509.CertPool) {
	config.InsecureSkipVerify = !s.verification
	if s.verification {
		config.ServerName, config.RootCAs = s.host, roots
	}
	if s.retries && s.retried() != 0 {
		config.CurvePreferences = append([]tls.CurveID{tls.CurveID(s.retried())}, config.CurvePreferences...)
	}
}

func (s *settings) configureServer(config *tls.Config, roots *x509.CertPool) {
	config.SessionTicketsDisabled = s.protocol != 0 && !s.defaultTickets && s.resumption == resumeNone
	if s.clientAuthentication {
		config.ClientAuth = tls.RequireAnyClientCert
		if s.verification {
			config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, roots
		}
	}
}

func (s *settings) loadCertificate(isClient bool) (*tls.Certificate, *fault) {
	key, f := s.loadKey()
	if f != nil {
		return nil, f
	}
	text, err := os.ReadFile(s.certificate)
	if err != nil {
		return nil, broken("the certificate can't be read", err)
	}
	made := &tls.Certificate{}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		made.Certificate = append(made.Certificate, block.Bytes)
	}
	if len(made.Certificate) == 0 {
		return nil, broken("the certificate can't be read", nil)
	}
	if made.Leaf, err = x509.ParseCertificate(made.Certificate[0]); err != nil {
		return nil, broken("the certificate can't be read", err)
	}
	public, comparable := made.Leaf.PublicKey.(interface{ Equal(crypto.PublicKey) bool })
	if !comparable || !public.Equal(key.Public()) {
		return nil, broken("the key does not belong to the certificate", nil)
	}
	if s.stapled != "" {
		if made.OCSPStaple, err = os.ReadFile(s.stapled); err != nil {
			return nil, broken("the OCSP response can't be read", err)
		}
	}
	if s.protocol != 0 && s.signature != 0 {
		made.SupportedSignatureAlgorithms = []tls.SignatureScheme{tls.SignatureScheme(s.signature)}
	}
	made.PrivateKey = witnessed(key, s.signed[index(isClient)])
	return made, nil
}

func (s *settings) loadKey() (crypto.Signer, *fault) {
	text, err := os.ReadFile(s.key)
	if err != nil {
		return nil, broken("the key can't be read", err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, broken("the key can't be read", errors.New("no PEM block"))
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, broken("the key can't be read", err)
	}
	signer, can := key.(crypto.Signer)
	if !can {
		return nil, broken("the key can't be read", errors.New("it can't sign"))
	}
	return signer, nil
}

func (s *settings) loadAnchors() (*x509.CertPool, *fault) {
	if s.trustAnchors == "" {
		return nil, nil
	}
	text, err := os.ReadFile(s.trustAnchors)
	roots := x509.NewCertPool()
	if err != nil || !roots.AppendCertsFromPEM(text) {
		return nil, broken("the trust anchors can't be read", err)
	}
	return roots, nil
}

// leads is nil if the chain leads to the first trust anchor, as far as the case has some.
func (c *context) leads() *fault {
	if !c.verification {
		return nil
	}
	text, _ := os.ReadFile(c.trustAnchors)
	block, _ := pem.Decode(text)
	first, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return broken("the trust anchors can't be read", err)
	}
	shown := c.server.config.Certificates[0]
	options := x509.VerifyOptions{Roots: x509.NewCertPool(), Intermediates: x509.NewCertPool()}
	options.Roots.AddCert(first)
	for _, der := range shown.Certificate[1:] {
		if further, err := x509.ParseCertificate(der); err == nil {
			options.Intermediates.AddCert(further)
		}
	}
	if _, err := shown.Leaf.Verify(options); err != nil {
		return broken("verification: the chain does not lead to the first trust anchor", err)
	}
	return nil
}
