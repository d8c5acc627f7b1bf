package main

import (
	std "context"
	"crypto/tls"
	"errors"
	"io"
	"iter"
	"net"
	"time"
)

// side is one end of one connection.
//
// crypto/tls waits for its peer inside a handshake, in Read. So the handshake runs as a coroutine (iter.Pull), which
// leaves when there is nothing to read and goes on in the next turn. Unlike a goroutine, it stays on the thread that
// calls it, without the scheduler, so that the thread's CPU clock has all of it.
type side struct {
	net.Conn // nil: what nobody calls
	pipes
	*context
	*role
	isClient, resumes bool
	conn              *tls.Conn
	next              func() (struct{}, bool)
	stop              func()
	leave             func(struct{}) bool // out of the handshake, until the next turn; nil outside of it
	err               error               // of the handshake
	session           *tls.ClientSessionState
	tickets           int // that this client took in
	signed            int // the scheme that its own key signed with; 0: it signed nothing, or nobody asked it
	closed            bool
}

func (c *context) open(isClient bool, p pipes, resumes bool) (*side, *fault) {
	s := &side{pipes: p, context: c, isClient: isClient, resumes: resumes}
	if s.role = c.server; isClient {
		s.role = c.client
	}
	if c.per_connection != 0 {
		var f *fault
		if s.role, f = c.load(isClient); f != nil {
			return nil, f
		}
	}
	if resumes && c.kept == nil {
		return nil, broken("there is no session to resume", nil)
	}
	if !isClient {
		s.conn = tls.Server(s, s.config)
	} else if c.keepsSessions() {
		config := s.config.Clone() // as net/http makes one for each connection
		config.ClientSessionCache = s
		s.conn = tls.Client(s, config)
	} else {
		s.conn = tls.Client(s, s.config)
	}
	s.next, s.stop = iter.Pull(s.handshake)
	return s, nil
}

func (s *side) handshake(leave func(struct{}) bool) {
	s.leave = leave
	if connectionsKnow {
		s.err = s.conn.Handshake()
	} else {
		s.err = s.conn.HandshakeContext(std.WithValue(std.Background(), sideKey{}, s))
	}
	s.leave = nil
}

// step is whether the handshake is done. A server's ticket comes with its first flight, unless the client has to show a
// certificate. So what a client that wants it can read of it belongs to its last turn.
func (s *side) step() (bool, *fault) {
	if _, waits := s.next(); waits {
		return false, nil
	}
	if s.err != nil && s.isClient {
		return false, broken("the client's handshake failed", s.err)
	}
	if s.err != nil {
		return false, broken("the server's handshake failed", s.err)
	}
	if s.isClient && s.keepsSessions() && !s.resumes {
		return true, s.takeTickets()
	}
	return true, nil
}

func (s *side) takeTickets() *fault {
	var unexpected [1]byte
	n, f := s.receive(unexpected[:])
	if n > 0 {
		return broken("application data came before they were asked for", nil)
	}
	return f
}

func (s *side) receive(data []byte) (int, *fault) {
	n, err := s.conn.Read(data)
	if err != nil && err != io.EOF && !errors.Is(err, nothingThere{}) {
		return n, broken("application data can't be received", err)
	}
	return n, nil
}

func (s *side) finish() (bool, *fault) {
	if !s.closed {
		s.closed = true
		if err := s.conn.CloseWrite(); err != nil {
			return false, broken("the connection can't be closed", err)
		}
	}
	var unexpected [1]byte
	_, err := s.conn.Read(unexpected[:])
	if err == nil || errors.Is(err, nothingThere{}) {
		return false, nil
	}
	if err != io.EOF {
		return false, broken("the connection can't be closed", err)
	}
	return true, nil
}

func (s *side) keep() *fault {
	if s.session == nil {
		if f := s.takeTickets(); f != nil {
			return f
		}
	}
	if s.session == nil {
		return broken("the client got no session", nil)
	}
	s.kept = s.session
	return nil
}

// close ends a handshake that is under way, so that its coroutine does not stay.
func (s *side) close() { s.stop() }

// Get and Put make a client its own tls.ClientSessionCache.

func (s *side) Get(string) (*tls.ClientSessionState, bool) { return s.kept, s.resumes }

func (s *side) Put(_ string, session *tls.ClientSessionState) {
	if session != nil {
		s.session = session
		s.tickets++
	}
}

// What follows makes a side the net.Conn of its connection.

// nothingThere is an error after which crypto/tls goes on reading.
type nothingThere struct{}

func (nothingThere) Error() string   { return "nothing to read" }
func (nothingThere) Timeout() bool   { return true }
func (nothingThere) Temporary() bool { return true }

func (s *side) Read(data []byte) (int, error) {
	for {
		if n := s.pipes.read(data); n > 0 {
			return n, nil
		}
		if s.leave == nil {
			return 0, nothingThere{}
		}
		if !s.leave(struct{}{}) {
			return 0, net.ErrClosed
		}
	}
}

func (s *side) Write(data []byte) (int, error) {
	if n := s.pipes.write(data); n < len(data) {
		return n, io.ErrShortWrite
	}
	return len(data), nil
}

// RemoteAddr is what a client without a server's name keeps sessions by.
func (s *side) RemoteAddr() net.Addr { return &net.UnixAddr{Name: "the other side"} }

// SetWriteDeadline is asked for before a close_notify.
func (s *side) SetWriteDeadline(time.Time) error { return nil }
