//! A case's configurations: exactly one protocol, cipher suite, group and signature scheme on each side, or, with
//! default settings, none of them.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::ServerCertVerifier;
use rustls::client::{Resumption, Tls12Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, SupportedKxGroup};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;
use rustls::{version, ClientConfig, Error, InconsistentKeys, RootCertStore, ServerConfig, SignatureScheme};

use crate::border::{resumption, Failure, ForeignCase};
use crate::provider;
use crate::watch::{Counting, Sessions, TakesTickets, Verifier};

/// All the early data that a case can ask for.
const EARLY_DATA_MAX: u32 = 16384;

fn failed(reason: &'static str) -> impl Fn(Error) -> Failure {
    move |error| Failure::error(reason, error)
}

fn certificates(path: &Path, reason: &str) -> Result<Vec<CertificateDer<'static>>, Failure> {
    CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|error| Failure::error(reason, format!("{error:?}")))
}

fn chain(case: &ForeignCase) -> Result<Vec<CertificateDer<'static>>, Failure> {
    certificates(case.certificate(), "the certificate can't be read")
}

fn key(case: &ForeignCase) -> Result<PrivateKeyDer<'static>, Failure> {
    PrivateKeyDer::from_pem_file(case.key())
        .map_err(|error| Failure::error("the key can't be read", format!("{error:?}")))
}

fn roots(anchors: impl IntoIterator<Item = CertificateDer<'static>>) -> Result<Arc<RootCertStore>, Failure> {
    let mut store = RootCertStore::empty();
    for anchor in anchors {
        store.add(anchor).map_err(failed("the trust anchors can't be read"))?;
    }
    Ok(Arc::new(store))
}

pub fn host(case: &ForeignCase) -> Result<ServerName<'static>, Failure> {
    ServerName::try_from(case.host().to_owned()).map_err(|error| Failure::error("not a host name", error))
}

fn server_verifier(roots: Arc<RootCertStore>) -> Result<Arc<dyn ServerCertVerifier>, Failure> {
    let provider = Arc::new(provider::default_provider());
    Ok(WebPkiServerVerifier::builder_with_provider(roots, provider)
        .build()
        .map_err(|error| Failure::error("no verifier", error))?)
}

/// Certificates from the server's to the first trust anchor. The library tells only that it verified a chain: the
/// chain's length is that of the shortest one that it accepts with this anchor alone.
pub fn verified_length(case: &ForeignCase) -> Result<i32, Failure> {
    let Some(path) = case.trust_anchors() else { return Ok(0) };
    let (chain, host) = (chain(case)?, host(case)?);
    let first = certificates(path, "the trust anchors can't be read")?.into_iter().take(1);
    let verifier = server_verifier(roots(first)?)?;
    let verify = |sent: usize| {
        verifier.verify_server_cert(&chain[0], &chain[1..sent], &host, &[], UnixTime::now()).map(|_| sent as i32 + 1)
    };
    let all = verify(chain.len()).map_err(failed("verification: the chain does not lead to the first trust anchor"))?;
    Ok((1..chain.len()).find_map(|sent| verify(sent).ok()).unwrap_or(all))
}

/// That the key is the certificate's, and that the library has all that the case asks for.
pub fn check(case: &ForeignCase) -> Result<(), Failure> {
    let signing = provider::default_provider()
        .key_provider
        .load_private_key(key(case)?)
        .map_err(|error| Failure { detail: error.to_string(), ..Failure::lacks("rustls takes no such key") })?;
    match CertifiedKey::new(chain(case)?, Arc::clone(&signing)).keys_match() {
        Err(Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => {
            return Err(Failure::error("the key does not belong to the certificate", ""));
        }
        Err(Error::InconsistentKeys(_)) | Ok(()) => {}
        Err(error) => return Err(failed("the certificate can't be read")(error)),
    }
    let lacks = |reason| Err(Failure::lacks(reason));
    if case.default_tickets != 0 && case.protocol == 0x0303 {
        return lacks("a rustls server issues no tickets in TLS 1.2 by default");
    }
    if case.resumption == resumption::PSK {
        return lacks("rustls resumes with a key exchange only");
    }
    if case.early_data_bytes > 0 && case.anti_replay == 0 {
        return lacks("a rustls server takes early data of sessions that it remembers, each of them once");
    }
    let Some(scheme) = scheme(case) else { return Ok(()) };
    let verifiable = provider::default_provider().signature_verification_algorithms.supported_schemes();
    if signing.choose_scheme(&[scheme]).is_none() || !verifiable.contains(&scheme) {
        return lacks("rustls does not have this signature scheme");
    }
    providers(case).map(|_| ())
}

fn scheme(case: &ForeignCase) -> Option<SignatureScheme> {
    (case.protocol != 0).then(|| SignatureScheme::from(case.signature as u16))
}

fn group(number: i32) -> Result<&'static dyn SupportedKxGroup, Failure> {
    let groups = provider::ALL_KX_GROUPS.iter().copied();
    groups
        .into_iter()
        .find(|group| i32::from(u16::from(group.name())) == number)
        .ok_or_else(|| Failure::lacks("rustls does not have this group"))
}

/// The client's and the server's. The first group is the one that a client makes a key share of.
fn providers(case: &ForeignCase) -> Result<(CryptoProvider, CryptoProvider), Failure> {
    let (mut client, mut server) = (provider::default_provider(), provider::default_provider());
    if case.protocol == 0 {
        return Ok((client, server));
    }
    let suite = provider::ALL_CIPHER_SUITES
        .iter()
        .find(|suite| i32::from(u16::from(suite.suite())) == case.suite)
        .ok_or_else(|| Failure::lacks("rustls does not have this cipher suite"))?;
    client.cipher_suites = vec![*suite];
    server.cipher_suites = vec![*suite];
    server.kx_groups = vec![group(case.group)?];
    client.kx_groups = server.kx_groups.clone();
    if case.retried_group != 0 {
        client.kx_groups.insert(0, group(case.retried_group)?);
    }
    Ok((client, server))
}

fn versions(case: &ForeignCase) -> &'static [&'static rustls::SupportedProtocolVersion] {
    static TLS12: &[&rustls::SupportedProtocolVersion] = &[&version::TLS12];
    static TLS13: &[&rustls::SupportedProtocolVersion] = &[&version::TLS13];
    match case.protocol {
        0x0303 => TLS12,
        0x0304 => TLS13,
        _ => rustls::DEFAULT_VERSIONS,
    }
}

fn all_roots(case: &ForeignCase) -> Result<Option<Arc<RootCertStore>>, Failure> {
    let Some(path) = case.trust_anchors() else { return Ok(None) };
    roots(certificates(path, "the trust anchors can't be read")?).map(Some)
}

/// `sessions`: where its connections look for one, and tell theirs.
pub fn client(case: &ForeignCase, sessions: Arc<Sessions>) -> Result<ClientConfig, Failure> {
    let provider = providers(case)?.0;
    let verifier = Verifier::<dyn ServerCertVerifier> {
        chain: all_roots(case)?.map(server_verifier).transpose()?,
        scheme: scheme(case),
        algorithms: provider.signature_verification_algorithms,
    };
    let builder = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(versions(case))
        .map_err(failed("the client can't be configured"))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = if case.client_authentication == 0 {
        builder.with_no_client_auth()
    } else {
        builder.with_client_auth_cert(chain(case)?, key(case)?).map_err(failed("the client can't be configured"))?
    };
    config.resumption = resumption(case, sessions);
    config.enable_early_data = case.early_data_bytes > 0;
    config.enable_sni = false; // as the clients of the other libraries
    Ok(config)
}

/// What a client asks for and keeps; one that resumes keeps nothing new.
pub fn resumption(case: &ForeignCase, sessions: Arc<Sessions>) -> Resumption {
    match case.resumption {
        resumption::SESSION_ID => Resumption::store(sessions).tls12_resumption(Tls12Resumption::SessionIdOnly),
        resumption::NONE if case.protocol != 0 && case.default_tickets == 0 => Resumption::disabled(),
        _ => Resumption::store(sessions),
    }
}

pub fn server(case: &ForeignCase) -> Result<ServerConfig, Failure> {
    let failure = failed("the server can't be configured");
    let provider = Arc::new(providers(case)?.1);
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(versions(case))
        .map_err(&failure)?;
    let builder = if case.client_authentication == 0 {
        builder.with_no_client_auth()
    } else {
        let verifier = |roots| WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(&provider)).build();
        builder.with_client_cert_verifier(Arc::new(Verifier::<dyn ClientCertVerifier> {
            chain: all_roots(case)?.map(verifier).transpose().map_err(|error| Failure::error("no verifier", error))?,
            scheme: scheme(case),
            algorithms: provider.signature_verification_algorithms,
        }))
    };
    let (chain, key) = (chain(case)?, key(case)?);
    let mut config = match case.ocsp_response().map(std::fs::read) {
        None => builder.with_single_cert(chain, key),
        Some(response) => builder.with_single_cert_with_ocsp(
            chain,
            key,
            response.map_err(|error| Failure::error("the OCSP response can't be read", error))?,
        ),
    }
    .map_err(&failure)?;
    if case.protocol == 0 || case.default_tickets != 0 {
        config.session_storage = Arc::new(Counting(config.session_storage));
        return Ok(config);
    }
    // Early data is for sessions that the server remembers.
    let remembers = case.resumption == resumption::SESSION_ID || case.early_data_bytes > 0;
    if !remembers {
        config.session_storage = Arc::new(NoServerSessionStorage {});
        if case.resumption != resumption::NONE {
            config.ticketer = provider::Ticketer::new().map_err(&failure)?;
        }
    }
    config.send_tls13_tickets = usize::from(case.resumption == resumption::PSK_DHE);
    config.max_early_data_size = if case.early_data_bytes > 0 { EARLY_DATA_MAX } else { 0 };
    Ok(config)
}

/// The same for connections that resume: it issues no session, but where each is taken once. In TLS 1.2 a rustls
/// server would renew the ticket in every resumption.
pub fn resuming(config: &ServerConfig, case: &ForeignCase) -> ServerConfig {
    let mut config = config.clone();
    config.send_tls13_tickets = usize::from(case.anti_replay != 0);
    if case.protocol == 0x0303 && config.ticketer.enabled() {
        config.ticketer = Arc::new(TakesTickets(config.ticketer));
    }
    config
}
