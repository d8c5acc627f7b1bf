// The border of foreign.h: each function that the worker calls, and what it is called with.
//
// The library is an archive inside the worker (go build -buildmode=c-archive), so its runtime has threads of its own there.
package main

/*
#cgo CFLAGS: -I${SRCDIR}/.. -D_GNU_SOURCE
#include <stdlib.h>
#include "foreign.h"
*/
import "C"

import (
	"runtime"
	"runtime/cgo"
	"strconv"
	"strings"
	"unsafe"
)

func main() {}

// fault is why something did not work: whose it is, our words, and the library's text.
type fault struct {
	kind   C.int
	reason string
	detail string
}

func unsupported(reason string) *fault {
	return &fault{kind: C.FOREIGN_FAULT_UNSUPPORTED, reason: reason}
}

func broken(reason string, err error) *fault {
	f := &fault{kind: C.FOREIGN_FAULT_ERROR, reason: reason}
	if err != nil {
		f.detail = err.Error()
	}
	return f
}

// tell hands a fault to the worker, if there is one. It says whether there is none.
func (f *fault) tell(out *C.struct_fault) bool {
	if f == nil {
		return true
	}
	reason, detail := []byte(f.reason), []byte(f.detail+"\x00")
	C.foreign_fail(out, f.kind, (*C.char)(unsafe.Pointer(&reason[0])), C.size_t(len(reason)),
		(*C.char)(unsafe.Pointer(&detail[0])), C.size_t(len(detail)-1))
	return false
}

func truth(value bool) C.int {
	if value {
		return 1
	}
	return 0
}

var (
	versionNumber = strings.TrimPrefix(strings.Fields(runtime.Version())[0], "go")
	version       = C.CString(versionNumber)
	versionText   = C.CString("Go " + versionNumber + " crypto/tls")
)

// minor is the second number of Go's version. It says what crypto/tls can do.
var minor = func() int {
	number, _ := strconv.Atoi(strings.FieldsFunc(versionNumber, func(r rune) bool { return r < '0' || r > '9' })[1])
	return number
}()

//export foreign_version
func foreign_version() *C.char { return version }

//export foreign_version_text
func foreign_version_text() *C.char { return versionText }

//export foreign_cpu_features
func foreign_cpu_features() *C.char { return nil }

//export foreign_start
func foreign_start(out *C.struct_fault) C.int { return truth(settle().tell(out)) }

//export foreign_setup
func foreign_setup(c *tlsCase, out *C.struct_fault) C.uintptr_t {
	made, f := newContext(c)
	if !f.tell(out) {
		return 0
	}
	return C.uintptr_t(cgo.NewHandle(made))
}

//export foreign_teardown
func foreign_teardown(handle C.uintptr_t) { cgo.Handle(handle).Delete() }

//export foreign_open
func foreign_open(handle C.uintptr_t, role C.int, in, out unsafe.Pointer, resume C.int, f *C.struct_fault) C.uintptr_t {
	defer onThread()()
	c := cgo.Handle(handle).Value().(*context)
	made, wrong := c.open(role == 0, pipes{in, out}, resume != 0)
	if !wrong.tell(f) {
		return 0
	}
	return C.uintptr_t(cgo.NewHandle(made))
}

// onThread keeps a call on the worker's thread as Go code keeps itself: `defer onThread()()`. It is there anyway, but a
// runtime that does not know asks this thread for new ones, which then have its CPU alone. The worker pins its threads.
// One that is preempted just before or after this may ask it nevertheless.
func onThread() func() {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

func sideOf(handle C.uintptr_t) *side { return cgo.Handle(handle).Value().(*side) }

//export foreign_step
func foreign_step(handle C.uintptr_t, f *C.struct_fault) C.int {
	defer onThread()()
	s := sideOf(handle)
	done, wrong := s.step()
	return progress(done, wrong, f)
}

// Those of enum progress in backend.h.
func progress(done bool, wrong *fault, f *C.struct_fault) C.int {
	const wait, finished, failed = 0, 1, 2
	if !wrong.tell(f) {
		return failed
	}
	if done {
		return finished
	}
	return wait
}

//export foreign_send
func foreign_send(handle C.uintptr_t, data unsafe.Pointer, length C.size_t, f *C.struct_fault) C.long {
	defer onThread()()
	n, err := sideOf(handle).conn.Write(unsafe.Slice((*byte)(data), length))
	if err != nil {
		broken("the application data can't be sent", err).tell(f)
		return -1
	}
	return C.long(n)
}

//export foreign_receive
func foreign_receive(handle C.uintptr_t, data unsafe.Pointer, size C.size_t, f *C.struct_fault) C.long {
	defer onThread()()
	n, wrong := sideOf(handle).receive(unsafe.Slice((*byte)(data), size))
	if !wrong.tell(f) {
		return -1
	}
	return C.long(n)
}

//export foreign_finish
func foreign_finish(handle C.uintptr_t, f *C.struct_fault) C.int {
	defer onThread()()
	done, wrong := sideOf(handle).finish()
	return progress(done, wrong, f)
}

//export foreign_keep
func foreign_keep(handle C.uintptr_t, f *C.struct_fault) C.int {
	defer onThread()()
	return truth(sideOf(handle).keep().tell(f))
}

//export foreign_close
func foreign_close(handle C.uintptr_t) {
	defer onThread()()
	sideOf(handle).close()
	cgo.Handle(handle).Delete()
}

//export foreign_inspect
func foreign_inspect(handle C.uintptr_t, out *C.struct_foreign_view, f *C.struct_fault) C.int {
	defer onThread()()
	seen := sideOf(handle).inspect()
	out.protocol, out.suite, out.group = C.int(seen.protocol), C.int(seen.suite), C.int(seen.group)
	out.signature, out.client_signature = C.int(seen.signature), C.int(seen.clientSignature)
	out.resumed, out.verified_length = truth(seen.resumed), C.int(seen.verifiedLength)
	out.extended_master_secret, out.tickets = C.int(seen.extendedMasterSecret), C.int(seen.tickets)
	out.early_data_bytes = 0
	for _, certificate := range seen.peer {
		show(out, C.FOREIGN_PEER, certificate.Raw)
	}
	show(out, C.FOREIGN_OWN, seen.own)
	show(out, C.FOREIGN_STAPLED, seen.stapled)
	return 1
}

func show(out *C.struct_foreign_view, what C.int, der []byte) {
	if len(der) > 0 {
		C.foreign_show(out, what, unsafe.Pointer(&der[0]), C.size_t(len(der)))
	}
}

// tlsCase is a case; it and its words live as long as the context. Numbers are IANA's, protocol is 0 with default settings.
type tlsCase = C.struct_foreign_case

func text(word *C.char) string { return C.GoString(word) }

// pipes are the worker's, which owns and counts them.
type pipes struct{ in, out unsafe.Pointer }

func (p pipes) read(data []byte) int {
	return int(C.foreign_pipe_read(p.in, unsafe.Pointer(&data[0]), C.size_t(len(data))))
}

func (p pipes) write(data []byte) int {
	return int(C.foreign_pipe_write(p.out, unsafe.Pointer(&data[0]), C.size_t(len(data))))
}
