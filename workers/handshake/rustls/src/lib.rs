//! rustls as a library of the worker: the functions that `../foreign.h` asks for.

mod border;
mod configure;
mod side;
mod watch;

#[cfg(not(feature = "ring"))]
use rustls::crypto::aws_lc_rs as provider;
#[cfg(feature = "ring")]
use rustls::crypto::ring as provider;

use std::ffi::{c_char, c_int, c_long, c_void};
use std::ptr;

use border::{Failure, Fault, ForeignCase, ForeignView, Pipes};
use side::{Context, Live, Side};

#[no_mangle]
pub static foreign_library: [u8; 7] = *b"rustls\0";
/// `struct traits` of `backend.h`.
#[no_mangle]
pub static foreign_traits: [bool; 5] = [false; 5];
static VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
#[cfg(not(feature = "ring"))]
static VERSION_TEXT: &str = concat!("rustls ", env!("CARGO_PKG_VERSION"), " with aws-lc-rs\0");
#[cfg(feature = "ring")]
static VERSION_TEXT: &str = concat!("rustls ", env!("CARGO_PKG_VERSION"), " with ring\0");

/// The answer, or the word for a failure that was told.
fn told<T, R>(result: Result<T, Failure>, fault: *mut Fault, failed: R, good: impl FnOnce(T) -> R) -> R {
    match result {
        Ok(value) => good(value),
        Err(failure) => {
            failure.tell(fault);
            failed
        }
    }
}

fn progress(result: Result<bool, Failure>, fault: *mut Fault) -> c_int {
    told(result, fault, border::FAILED, |done| if done { border::DONE } else { border::WAIT })
}

// SAFETY, here and below: the worker keeps to foreign.h. A handle is what `setup` or `open` gave it, a side belongs to
// one thread and is closed before its context, and buffers are as long as it says.

unsafe fn live<'a>(handle: usize) -> &'a mut Live {
    (*(handle as *mut Side)).live()
}

#[no_mangle]
pub extern "C" fn foreign_start(_: *mut Fault) -> c_int {
    1
}

#[no_mangle]
pub extern "C" fn foreign_version() -> *const c_char {
    VERSION.as_ptr().cast()
}

#[no_mangle]
pub extern "C" fn foreign_version_text() -> *const c_char {
    VERSION_TEXT.as_ptr().cast()
}

#[no_mangle]
pub extern "C" fn foreign_cpu_features() -> *const c_char {
    ptr::null()
}

#[no_mangle]
pub unsafe extern "C" fn foreign_setup(case: *const ForeignCase, fault: *mut Fault) -> usize {
    told(Context::new(&*case), fault, 0, |context| Box::into_raw(Box::new(context)) as usize)
}

#[no_mangle]
pub unsafe extern "C" fn foreign_teardown(context: usize) {
    drop(Box::from_raw(context as *mut Context));
}

#[no_mangle]
pub unsafe extern "C" fn foreign_open(
    context: usize,
    role: c_int,
    input: *mut c_void,
    output: *mut c_void,
    resume: c_int,
    fault: *mut Fault,
) -> usize {
    let opened = Side::open(&*(context as *const Context), role, Pipes { input, output }, resume != 0);
    told(opened, fault, 0, |side| Box::into_raw(Box::new(side)) as usize)
}

#[no_mangle]
pub unsafe extern "C" fn foreign_step(handle: usize, fault: *mut Fault) -> c_int {
    progress((*(handle as *mut Side)).step(), fault)
}

#[no_mangle]
pub unsafe extern "C" fn foreign_send(handle: usize, data: *const u8, length: usize, fault: *mut Fault) -> c_long {
    told(live(handle).send(std::slice::from_raw_parts(data, length)), fault, -1, |length| length as c_long)
}

#[no_mangle]
pub unsafe extern "C" fn foreign_receive(handle: usize, data: *mut u8, size: usize, fault: *mut Fault) -> c_long {
    told(live(handle).receive(std::slice::from_raw_parts_mut(data, size)), fault, -1, |length| length as c_long)
}

#[no_mangle]
pub unsafe extern "C" fn foreign_finish(handle: usize, fault: *mut Fault) -> c_int {
    progress(live(handle).finish(), fault)
}

#[no_mangle]
pub unsafe extern "C" fn foreign_inspect(handle: usize, view: *mut ForeignView, fault: *mut Fault) -> c_int {
    told(live(handle).inspect(&mut *view), fault, 0, |()| 1)
}

#[no_mangle]
pub unsafe extern "C" fn foreign_keep(handle: usize, fault: *mut Fault) -> c_int {
    told(live(handle).keep(), fault, 0, |()| 1)
}

#[no_mangle]
pub unsafe extern "C" fn foreign_close(handle: usize) {
    drop(Box::from_raw(handle as *mut Side));
}
