// Package handshake measures crypto/tls as a Go program would, without the worker: a client and a server, each a new goroutine,
// over a connection in memory.
//
//	CERTIFICATE=cert.pem KEY=key.pem taskset -c 0 go test -bench . -benchtime 5s -cpu 1
//
// cpu-ns/op is the CPU time of the whole process, garbage collection included.
package handshake

import (
	"crypto/tls"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"
)

// queue is one direction of a connection.
type queue struct {
	lock  sync.Mutex
	ready sync.Cond
	bytes []byte
}

func newQueue() *queue {
	q := &queue{}
	q.ready.L = &q.lock
	return q
}

type end struct {
	net.Conn
	in, out *queue
}

func (e end) Read(data []byte) (int, error) {
	e.in.lock.Lock()
	defer e.in.lock.Unlock()
	for len(e.in.bytes) == 0 {
		e.in.ready.Wait()
	}
	n := copy(data, e.in.bytes)
	e.in.bytes = e.in.bytes[n:]
	return n, nil
}

func (e end) Write(data []byte) (int, error) {
	e.out.lock.Lock()
	defer e.out.lock.Unlock()
	e.out.bytes = append(e.out.bytes, data...)
	e.out.ready.Signal()
	return len(data), nil
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func benchmark(b *testing.B, version uint16, group tls.CurveID) {
	certificate, err := tls.LoadX509KeyPair(os.Getenv("CERTIFICATE"), os.Getenv("KEY"))
	if err != nil {
		b.Fatal(err)
	}
	common := tls.Config{
		MinVersion:       version,
		MaxVersion:       version,
		CipherSuites:     []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256},
		CurvePreferences: []tls.CurveID{group},
	}
	client, server := common.Clone(), common.Clone()
	client.InsecureSkipVerify = true
	server.Certificates, server.SessionTicketsDisabled = []tls.Certificate{certificate}, true
	done := make(chan error)
	begin := cpuTime()
	for b.Loop() {
		up, down := newQueue(), newQueue()
		go func() { done <- tls.Server(end{in: up, out: down}, server).Handshake() }()
		go func() { done <- tls.Client(end{in: down, out: up}, client).Handshake() }()
		for range 2 {
			if err := <-done; err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(cpuTime()-begin)/float64(b.N), "cpu-ns/op")
}

func BenchmarkTLS13X25519(b *testing.B)         { benchmark(b, tls.VersionTLS13, tls.X25519) }
func BenchmarkTLS13X25519MLKEM768(b *testing.B) { benchmark(b, tls.VersionTLS13, tls.X25519MLKEM768) }
func BenchmarkTLS12P256(b *testing.B)           { benchmark(b, tls.VersionTLS12, tls.CurveP256) }
