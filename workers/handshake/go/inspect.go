package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"reflect"
)

// view is what one side knows of a handshake that is done; numbers as in struct foreign_view.
type view struct {
	protocol, suite, group, signature, clientSignature int
	resumed                                            bool
	verifiedLength, extendedMasterSecret, tickets      int
	peer                                               []*x509.Certificate
	own, stapled                                       []byte
}

const unknown, none = -1, 0

func (s *side) inspect() view {
	state := s.conn.ConnectionState()
	v := view{
		protocol:             int(state.Version),
		suite:                int(state.CipherSuite),
		group:                int(s.hidden("curveID").Uint()),
		signature:            none,
		clientSignature:      none,
		resumed:              state.DidResume,
		extendedMasterSecret: unknown,
		tickets:              unknown,
		peer:                 state.PeerCertificates,
		stapled:              state.OCSPResponse,
	}
	if len(state.VerifiedChains) > 0 {
		chain := state.VerifiedChains[0]
		if bytes.Equal(chain[len(chain)-1].Raw, s.anchor) {
			v.verifiedLength = len(chain)
		}
	}
	if !s.isClient {
		v.own = s.own
	}
	if state.Version == tls.VersionTLS12 {
		v.extendedMasterSecret = int(truth(s.hidden("extMasterSecret").Bool()))
	}
	v.tickets = s.toldTickets(state.Version)
	if state.DidResume && state.Version == tls.VersionTLS12 {
		v.group = none // crypto/tls tells that of the session's first handshake
	}
	if !state.DidResume {
		s.inspectSignatures(&v)
	}
	return v
}

// inspectSignatures fills in both signatures of a full handshake.
func (s *side) inspectSignatures(v *view) {
	own, peers := s.signed, unknown
	if connectionsKnow {
		own, peers = unknown, int(s.hidden("peerSigAlg").Uint())
	}
	v.signature, v.clientSignature = own, peers
	if s.isClient {
		v.signature, v.clientSignature = peers, own
	}
	// Nothing is signed with RSA key exchange but the client's certificate.
	if v.group == none {
		v.signature = none
	}
	if s.isClient && s.own == nil || !s.isClient && len(v.peer) == 0 {
		v.clientSignature = none
	}
}

// toldTickets is how many tickets a client took in and a server issued. The one of a resumed handshake of TLS 1.3 the client
// leaves unread, so the server tells it (sendSessionTicket in handshake_server_tls13.go).
func (s *side) toldTickets(protocol uint16) int {
	switch {
	case s.isClient && !s.resumes:
		return s.tickets
	case !s.isClient && protocol == tls.VersionTLS13 && s.hidden("ticketKeys").Len() == 0:
		return 0
	case !s.isClient && protocol == tls.VersionTLS13 && s.conn.ConnectionState().DidResume:
		return 1
	}
	return unknown
}

// hidden reads a field of the connection that is not exported, and so in no version's promise: each version that is
// tracked is measured with proof, which fails where a field is missing.
func (s *side) hidden(name string) reflect.Value {
	return reflect.ValueOf(s.conn).Elem().FieldByName(name)
}
