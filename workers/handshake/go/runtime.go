package main

import (
	"math/bits"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"
)

// cpus is a set of CPUs as the kernel has it, with room for 1,024 of them.
type cpus [16]uint64

func (c *cpus) call(number uintptr, thread int) syscall.Errno {
	_, _, code := syscall.RawSyscall(number, uintptr(thread), unsafe.Sizeof(*c), uintptr(unsafe.Pointer(c)))
	return code
}

// settle gives the runtime's threads the CPUs of this thread, and the runtime as many processors as those are. The
// runtime started before the worker pinned this thread; under taskset it would have found both so itself.
func settle() *fault {
	_, _ = os.ReadFile(os.DevNull) // opens the files of Go's poller, which stay open, before a load counts them
	var own cpus
	if code := own.call(syscall.SYS_SCHED_GETAFFINITY, 0); code != 0 {
		return broken("the CPUs of the worker can't be read", code)
	}
	// New threads have the CPUs of those that start them, so the second pass finds what was started in the first.
	for pass := 0; pass < 2; pass++ {
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return broken("the worker's threads can't be listed", err)
		}
		for _, each := range threads {
			thread, _ := strconv.Atoi(each.Name())
			if code := own.call(syscall.SYS_SCHED_SETAFFINITY, thread); code != 0 && code != syscall.ESRCH {
				return broken("a thread of Go's runtime can't be pinned", code)
			}
		}
	}
	count := 0
	for _, word := range own {
		count += bits.OnesCount64(word)
	}
	if count != runtime.GOMAXPROCS(0) {
		runtime.GOMAXPROCS(count)
	}
	return nil
}
