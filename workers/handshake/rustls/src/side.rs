//! A context and the sides of its connections: rustls' buffered connections over the worker's pipes.

use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{
    ClientConfig, ClientConnection, Connection, HandshakeKind, ProtocolVersion, ServerConfig, ServerConnection,
};

use crate::border::{self, Failure, ForeignCase, ForeignView, Pipes};
use crate::configure;
use crate::watch::{self, Seen, Sessions};

/// The configurations stand by whether a connection resumes.
pub struct Context {
    case: &'static ForeignCase,
    host: ServerName<'static>,
    kept: Arc<Sessions>,
    clients: [Arc<ClientConfig>; 2],
    servers: [Arc<ServerConfig>; 2],
    verified_length: i32,
}

impl Context {
    pub fn new(case: &'static ForeignCase) -> Result<Self, Failure> {
        configure::check(case)?;
        let verified_length = configure::verified_length(case)?;
        let kept = Arc::new(Sessions::default());
        let client = configure::client(case, Arc::default())?;
        let mut resuming = client.clone(); // a session belongs to the verifier that it was made with
        resuming.resumption = configure::resumption(case, Arc::clone(&kept));
        let server = configure::server(case)?;
        let resumed = configure::resuming(&server, case);
        Ok(Self {
            case,
            host: configure::host(case)?,
            kept,
            clients: [Arc::new(client), Arc::new(resuming)],
            servers: [Arc::new(server), Arc::new(resumed)],
            verified_length,
        })
    }
}

/// One end of a connection, as the worker makes it. A rustls client makes its key share when it is made, which is part
/// of the handshake: so it is made in its first turn.
pub struct Side {
    context: &'static Context,
    start: Option<Start>,
    live: Option<Live>,
}

struct Start {
    config: Arc<ClientConfig>,
    pipes: Pipes,
    early_bytes: usize,
}

impl Side {
    pub fn open(context: &'static Context, role: i32, pipes: Pipes, resume: bool) -> Result<Self, Failure> {
        let case = context.case;
        let (anew, place) = (case.per_connection != 0, usize::from(resume));
        let mut side = Self { context, start: None, live: None };
        if role == border::SERVER {
            let config = if anew { Arc::new(configure::server(case)?) } else { Arc::clone(&context.servers[place]) };
            let made = ServerConnection::new(config).map_err(|error| Failure::error("no connection", error))?;
            side.live = Some(Live::new(context, made.into(), pipes));
        } else {
            let config = match anew {
                true => Arc::new(configure::client(case, Arc::default())?),
                false => Arc::clone(&context.clients[place]),
            };
            let early_bytes = if resume { case.early_data_bytes as usize } else { 0 };
            side.start = Some(Start { config, pipes, early_bytes });
        }
        Ok(side)
    }

    /// Whether the handshake is done.
    pub fn step(&mut self) -> Result<bool, Failure> {
        if let Some(Start { config, pipes, early_bytes }) = self.start.take() {
            let made = ClientConnection::new(config, self.context.host.clone());
            let mut client = made.map_err(|error| Failure::error("no connection", error))?;
            send_early(&mut client, early_bytes).map_err(|error| Failure::error("early data", error))?;
            self.live = Some(Live::new(self.context, client.into(), pipes));
        }
        self.live().step()
    }

    /// Of a side that took a turn, and of servers.
    pub fn live(&mut self) -> &mut Live {
        self.live.as_mut().expect("the side has not begun")
    }
}

fn send_early(client: &mut ClientConnection, bytes: usize) -> io::Result<()> {
    static DATA: [u8; 16384] = [0; 16384];
    match (bytes, client.early_data()) {
        (1.., Some(mut early)) => early.write_all(&DATA[..bytes]),
        _ => Ok(()),
    }
}

pub struct Live {
    context: &'static Context,
    connection: Connection,
    pipes: Pipes,
    early_taken: usize,
    seen: Seen,
    close_sent: bool,
    peer_closed: bool,
}

impl Live {
    fn new(context: &'static Context, connection: Connection, pipes: Pipes) -> Self {
        let seen = Seen::default();
        Self { context, connection, pipes, early_taken: 0, seen, close_sent: false, peer_closed: false }
    }

    fn flush(&mut self) -> io::Result<()> {
        while self.connection.wants_write() {
            self.connection.write_tls(&mut self.pipes)?;
        }
        Ok(())
    }

    /// Takes in what lies in the pipe. False: nothing did.
    fn take_in(&mut self, what: &str) -> Result<bool, Failure> {
        match self.connection.read_tls(&mut self.pipes) {
            Ok(0) => return Ok(false), // it reads nothing after a close_notify
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(self.failed(what, error)),
        }
        let processed = self.connection.process_new_packets();
        self.seen.add(watch::taken());
        match processed {
            Ok(state) => self.peer_closed |= state.peer_has_closed(),
            Err(error) => {
                let _ = self.flush(); // the alert
                return Err(self.failed(what, error));
            }
        }
        if let Connection::Server(server) = &mut self.connection {
            if let Some(mut early) = server.early_data() {
                let mut data = [0; 4096];
                while let Ok(taken @ 1..) = early.read(&mut data) {
                    self.early_taken += taken;
                }
            }
        }
        Ok(true)
    }

    fn failed(&self, what: &str, error: impl ToString) -> Failure {
        let role = if matches!(self.connection, Connection::Client(_)) { "client" } else { "server" };
        Failure::error(format!("the {role}'s {what} failed"), error)
    }

    fn step(&mut self) -> Result<bool, Failure> {
        loop {
            self.flush().map_err(|error| self.failed("handshake", error))?;
            if !self.connection.is_handshaking() {
                return Ok(true);
            }
            if !self.take_in("handshake")? {
                return Ok(false);
            }
        }
    }

    pub fn send(&mut self, data: &[u8]) -> Result<usize, Failure> {
        let sent = self.connection.writer().write(data);
        let flushed = sent.and_then(|sent| self.flush().map(|()| sent));
        flushed.map_err(|error| self.failed("application data", error))
    }

    pub fn receive(&mut self, data: &mut [u8]) -> Result<usize, Failure> {
        loop {
            match self.connection.reader().read(data) {
                Ok(received) => return Ok(received),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(self.failed("application data", error)),
            }
            if !self.take_in("application data")? {
                return Ok(0);
            }
        }
    }

    /// Whether both have the other's close_notify.
    pub fn finish(&mut self) -> Result<bool, Failure> {
        if !self.close_sent {
            self.connection.send_close_notify();
            self.close_sent = true;
        }
        self.flush().map_err(|error| self.failed("closing", error))?;
        while !self.peer_closed && self.take_in("closing")? {}
        Ok(self.peer_closed)
    }

    pub fn keep(&mut self) -> Result<(), Failure> {
        while self.take_in("reading a ticket")? {}
        match self.seen.session.take() {
            Some(session) => Ok(self.context.kept.keep(session)),
            None => Err(Failure::error("the server issued no session", "")),
        }
    }

    pub fn inspect(&self, view: &mut ForeignView) -> Result<(), Failure> {
        let connection = &*self.connection;
        let kind = connection.handshake_kind().ok_or_else(|| Failure::error("the handshake is not done", ""))?;
        let resumed = !matches!(kind, HandshakeKind::Full | HandshakeKind::FullWithHelloRetryRequest);
        let is_client = matches!(self.connection, Connection::Client(_));
        if let Some(version) = connection.protocol_version() {
            view.protocol = u16::from(version).into();
        }
        if let Some(suite) = connection.negotiated_cipher_suite() {
            view.suite = u16::from(suite.suite()).into();
        }
        view.group = match connection.negotiated_key_exchange_group() {
            Some(group) => u16::from(group.name()).into(),
            // A TLS 1.3 handshake of rustls always exchanges keys, but 0.23.12 does not tell the group of a server that
            // resumes. The client tells it.
            None if connection.protocol_version() == Some(ProtocolVersion::TLSv1_3) => border::UNKNOWN,
            None => border::NONE,
        };
        view.resumed = resumed.into();
        // Each side knows what the other signed with.
        if is_client {
            view.signature = self.seen.signature.into();
        } else {
            view.client_signature = self.seen.signature.into();
            view.early_data_bytes = self.early_taken as i32;
        }
        view.tickets = self.seen.tickets as i32;
        if resumed {
            view.signature = border::NONE;
            return Ok(());
        }
        view.verified_length = if self.seen.verified { self.context.verified_length } else { 0 };
        for certificate in connection.peer_certificates().unwrap_or_default() {
            view.show(border::PEER, certificate);
        }
        if !self.seen.stapled.is_empty() {
            view.show(border::STAPLED, &self.seen.stapled);
        }
        Ok(())
    }
}
