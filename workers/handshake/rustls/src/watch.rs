//! What rustls tells only to those who take part: verifiers learn the scheme of a signature, stores get the
//! sessions. They are shared by all connections of a configuration, so what they learn goes to the thread, and from
//! there to the side that is at work.

use std::cell::RefCell;
use std::fmt;
use std::mem::{size_of, size_of_val, MaybeUninit};
use std::ptr;
use std::sync::{Arc, RwLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ProducesTickets, StoresServerSessions};
use rustls::{DigitallySignedStruct, DistinguishedName, Error, NamedGroup, SignatureScheme};

pub enum Session {
    Tls12(Tls12ClientSessionValue),
    Tls13(Tls13ClientSessionValue),
}

/// Of one side, since it last took it.
#[derive(Default)]
pub struct Seen {
    /// Of the peer, whose signature was right; 0: nothing was signed.
    pub signature: u16,
    /// The library accepted the peer's chain, and a client its host name.
    pub verified: bool,
    pub stapled: Vec<u8>,
    /// That a client took in, or a server issued.
    pub tickets: usize,
    pub session: Option<Session>,
}

impl Seen {
    pub fn add(&mut self, more: Self) {
        if more.signature != 0 {
            self.signature = more.signature;
        }
        self.verified |= more.verified;
        if !more.stapled.is_empty() {
            self.stapled = more.stapled;
        }
        self.tickets += more.tickets;
        if more.session.is_some() {
            self.session = more.session;
        }
    }
}

thread_local! {
    static SEEN: RefCell<Seen> = RefCell::default();
}

fn see(learn: impl FnOnce(&mut Seen)) {
    SEEN.with(|seen| learn(&mut seen.borrow_mut()));
}

pub fn taken() -> Seen {
    SEEN.with(RefCell::take)
}

/// Verifies signatures as every rustls does; `chain` verifies chains, where the case wants it. With `scheme` the
/// only one that is offered.
#[derive(Debug)]
pub struct Verifier<Chain: ?Sized> {
    pub chain: Option<Arc<Chain>>,
    pub scheme: Option<SignatureScheme>,
    pub algorithms: WebPkiSupportedAlgorithms,
}

/// What both traits ask for.
macro_rules! verifies_signatures {
    () => {
        verifies_signatures!(verify_tls12_signature);
        verifies_signatures!(verify_tls13_signature);
        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.scheme.map_or_else(|| self.algorithms.supported_schemes(), |scheme| vec![scheme])
        }
    };
    ($name:ident) => {
        fn $name(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            let valid = rustls::crypto::$name(message, certificate, signed, &self.algorithms)?;
            see(|seen| seen.signature = signed.scheme.into());
            Ok(valid)
        }
    };
}

impl ServerCertVerifier for Verifier<dyn ServerCertVerifier> {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if let Some(chain) = &self.chain {
            chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)?;
            see(|seen| seen.verified = true);
        }
        if !ocsp_response.is_empty() {
            see(|seen| seen.stapled = ocsp_response.to_vec());
        }
        Ok(ServerCertVerified::assertion())
    }
    verifies_signatures!();
}

impl ClientCertVerifier for Verifier<dyn ClientCertVerifier> {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.chain.as_ref().map_or(&[], |chain| chain.root_hint_subjects())
    }
    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        if let Some(chain) = &self.chain {
            chain.verify_client_cert(end_entity, intermediates, now)?;
            see(|seen| seen.verified = true);
        }
        Ok(ClientCertVerified::assertion())
    }
    verifies_signatures!();
}

/// A client's sessions: new ones go to the side, and all connections get the one that is kept, again and again.
/// The library's own cache would give each ticket once, and remember the group that a server took.
#[derive(Default)]
pub struct Sessions(RwLock<Option<Session>>);

impl Sessions {
    pub fn keep(&self, session: Session) {
        *self.0.write().unwrap() = Some(session);
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Sessions")
    }
}

impl ClientSessionStore for Sessions {
    fn set_kx_hint(&self, _: ServerName<'static>, _: NamedGroup) {}
    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        None
    }
    fn set_tls12_session(&self, _: ServerName<'static>, value: Tls12ClientSessionValue) {
        see(|seen| {
            seen.session = Some(Session::Tls12(value));
            seen.tickets += 1;
        });
    }
    fn tls12_session(&self, _: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        match &*self.0.read().unwrap() {
            Some(Session::Tls12(value)) => Some(value.clone()),
            _ => None,
        }
    }
    fn remove_tls12_session(&self, _: &ServerName<'static>) {}
    fn insert_tls13_ticket(&self, _: ServerName<'static>, value: Tls13ClientSessionValue) {
        see(|seen| {
            seen.session = Some(Session::Tls13(value));
            seen.tickets += 1;
        });
    }
    fn take_tls13_ticket(&self, _: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        match &*self.0.read().unwrap() {
            Some(Session::Tls13(value)) => Some(copy(value)),
            _ => None,
        }
    }
}

/// Another value for the same ticket. rustls gives each ticket once, so its type has no copy, no codec and no constructor
/// for others: there is no safe way. What owns memory in it is the part that it dereferences to, which can be cloned. In
/// each version from 0.23.12 to 0.23.46 (`Tls13ClientSessionValue` in src/msgs/persist.rs) the rest is a reference, two
/// numbers and the bytes of QUIC's parameters. A version with anything else is refused by its size.
fn copy(value: &Tls13ClientSessionValue) -> Tls13ClientSessionValue {
    const REST: usize = size_of::<(&(), u32, u32, Vec<u8>)>();
    fn with<Common: Clone>(value: &Tls13ClientSessionValue, common: &Common) -> Tls13ClientSessionValue {
        let offset = (common as *const Common as usize).wrapping_sub(value as *const _ as usize);
        assert!(offset <= size_of_val(value) - size_of_val(common), "the clone is part of the value");
        assert_eq!(size_of_val(value), size_of_val(common) + REST, "this version of rustls keeps other sessions");
        assert!(value.quic_params().is_empty(), "a session of TLS over a stream has no parameters of QUIC");
        let mut copied = MaybeUninit::<Tls13ClientSessionValue>::uninit();
        // SAFETY: a reference, numbers and an empty vector own nothing, so that two values may have the same bytes of
        // them; the clone goes over the one part that owns something, before anything reads it.
        unsafe {
            ptr::copy_nonoverlapping(value, copied.as_mut_ptr(), 1);
            copied.as_mut_ptr().byte_add(offset).cast::<Common>().write(common.clone());
            copied.assume_init()
        }
    }
    with(value, &**value)
}

/// Counts the sessions that a server stores for tickets.
#[derive(Debug)]
pub struct Counting(pub Arc<dyn StoresServerSessions>);

impl StoresServerSessions for Counting {
    fn put(&self, key: Vec<u8>, value: Vec<u8>) -> bool {
        see(|seen| seen.tickets += 1);
        self.0.put(key, value)
    }
    fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.0.get(key)
    }
    fn take(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.0.take(key)
    }
    fn can_cache(&self) -> bool {
        self.0.can_cache()
    }
}

/// Takes tickets, and issues none.
#[derive(Debug)]
pub struct TakesTickets(pub Arc<dyn ProducesTickets>);

impl ProducesTickets for TakesTickets {
    fn enabled(&self) -> bool {
        false
    }
    fn lifetime(&self) -> u32 {
        self.0.lifetime()
    }
    fn encrypt(&self, _: &[u8]) -> Option<Vec<u8>> {
        None
    }
    fn decrypt(&self, ticket: &[u8]) -> Option<Vec<u8>> {
        self.0.decrypt(ticket)
    }
}
