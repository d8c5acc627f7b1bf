//! The worker's side of the border: structs and functions of `foreign.h`, in its order.

use std::ffi::{c_char, c_int, c_void, CStr, OsStr};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// In views: this side can't tell.
pub const UNKNOWN: c_int = -1;
pub const NONE: c_int = 0;
pub const SERVER: c_int = 1;
pub const WAIT: c_int = 0;
pub const DONE: c_int = 1;
pub const FAILED: c_int = 2;

/// `enum resumption` of `case.h`.
pub mod resumption {
    use std::ffi::c_int;
    pub const NONE: c_int = 0;
    pub const SESSION_ID: c_int = 1;
    pub const PSK: c_int = 3;
    pub const PSK_DHE: c_int = 4;
}

#[repr(C)]
pub struct ForeignCase {
    pub protocol: c_int,
    pub suite: c_int,
    pub group: c_int,
    pub retried_group: c_int,
    pub signature: c_int,
    pub curve: c_int,
    pub rsa_bits: c_int,
    pub client_authentication: c_int,
    pub verification: c_int,
    pub resumption: c_int,
    pub early_data_bytes: c_int,
    pub anti_replay: c_int,
    pub default_tickets: c_int,
    pub per_connection: c_int,
    certificate: *const c_char,
    key: *const c_char,
    trust_anchors: *const c_char,
    ocsp_response: *const c_char,
    host: *const c_char,
}

impl ForeignCase {
    pub fn certificate(&self) -> &Path {
        path(self.certificate).unwrap_or(Path::new(""))
    }
    pub fn key(&self) -> &Path {
        path(self.key).unwrap_or(Path::new(""))
    }
    pub fn trust_anchors(&self) -> Option<&Path> {
        path(self.trust_anchors)
    }
    pub fn ocsp_response(&self) -> Option<&Path> {
        path(self.ocsp_response)
    }
    pub fn host(&self) -> &str {
        // SAFETY: a constant of the worker.
        unsafe { CStr::from_ptr(self.host) }.to_str().unwrap_or("")
    }
}

fn path<'a>(text: *const c_char) -> Option<&'a Path> {
    // SAFETY: NULL, or a word that lives as long as the context.
    (!text.is_null()).then(|| Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(text) }.to_bytes())))
}

#[repr(C)]
pub struct ForeignView {
    pub protocol: c_int,
    pub suite: c_int,
    pub group: c_int,
    pub signature: c_int,
    pub client_signature: c_int,
    pub resumed: c_int,
    pub verified_length: c_int,
    pub extended_master_secret: c_int,
    pub early_data_bytes: c_int,
    pub tickets: c_int,
    proof: *mut c_void,
}

pub const PEER: c_int = 0;
pub const STAPLED: c_int = 2;

impl ForeignView {
    pub fn show(&mut self, what: c_int, bytes: &[u8]) {
        // SAFETY: the worker reads the bytes before it returns.
        unsafe { foreign_show(self, what, bytes.as_ptr().cast(), bytes.len()) }
    }
}

/// The worker's `struct fault`.
#[repr(C)]
pub struct Fault {
    opaque: [u8; 0],
}

extern "C" {
    fn foreign_pipe_read(pipe: *mut c_void, data: *mut c_void, size: usize) -> usize;
    fn foreign_pipe_write(pipe: *mut c_void, data: *const c_void, length: usize) -> usize;
    fn foreign_fail(
        fault: *mut Fault,
        kind: c_int,
        reason: *const c_char,
        reason_length: usize,
        detail: *const c_char,
        detail_length: usize,
    );
    fn foreign_show(view: *mut ForeignView, what: c_int, bytes: *const c_void, length: usize);
}

/// Why there is no number: whether the library lacks something, our reason, and the library's own text.
pub struct Failure {
    pub lacks: bool,
    pub reason: String,
    pub detail: String,
}

impl Failure {
    pub fn lacks(reason: impl Into<String>) -> Self {
        Self { lacks: true, reason: reason.into(), detail: String::new() }
    }
    pub fn error(reason: impl Into<String>, detail: impl ToString) -> Self {
        Self { lacks: false, reason: reason.into(), detail: detail.to_string() }
    }
    pub fn tell(&self, fault: *mut Fault) {
        let (reason, detail) = (self.reason.as_bytes(), self.detail.as_bytes());
        // SAFETY: the worker copies both texts.
        unsafe {
            foreign_fail(
                fault,
                c_int::from(!self.lacks),
                reason.as_ptr().cast(),
                reason.len(),
                detail.as_ptr().cast(),
                detail.len(),
            );
        }
    }
}

/// The worker's pipes. An empty or full one would block.
pub struct Pipes {
    pub input: *mut c_void,
    pub output: *mut c_void,
}

impl Read for Pipes {
    fn read(&mut self, data: &mut [u8]) -> io::Result<usize> {
        // SAFETY: both outlive the side, which belongs to one thread.
        match unsafe { foreign_pipe_read(self.input, data.as_mut_ptr().cast(), data.len()) } {
            0 => Err(ErrorKind::WouldBlock.into()),
            given => Ok(given),
        }
    }
}

impl Write for Pipes {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        // SAFETY: as above.
        match unsafe { foreign_pipe_write(self.output, data.as_ptr().cast(), data.len()) } {
            0 => Err(ErrorKind::WouldBlock.into()),
            taken => Ok(taken),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
