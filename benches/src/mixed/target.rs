//! The target of the clients, and its failures: a single server that is killed, or nodes behind a load
//! balancer.
//!
//! With nodes, one of them is killed at the end of each interval but the last. Of every ten intervals,
//! PostgreSQL also restarts after the second and crashes after the third, and a node is paused
//! after the fourth. The last failure is a restart of all nodes in turn instead.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use crate::{
    Options,
    cluster::{
        Run, free_address,
        services::{Cluster, Services},
    },
    corpus,
    server::{self, Server},
};

/// How long a node is paused.
const PAUSE: Duration = Duration::from_secs(30);
/// Time between the restarts of two nodes.
const RESTART_INTERVAL: Duration = Duration::from_secs(5);

pub(super) enum Target<'a> {
    Single { server: Server, data: PathBuf },
    Nodes(Nodes<'a>),
}

impl<'a> Target<'a> {
    /// Starts a single server with content.
    pub(super) fn single(options: &Options, folder: &Path) -> Self {
        let (data, bare) = (folder.join("data"), folder.join("bare.db"));
        crate::prepare(options, folder, &data, &bare, options.posts[0]);
        Self::Single { server: Server::cms(&options.cms, &data), data }
    }

    /// Starts nodes with content.
    pub(super) fn nodes(options: &Options, services: &'a Services) -> Self {
        let cluster = services.create_cluster("mixed");
        let nodes: Vec<_> =
            (0..options.nodes).map(|index| start(&cluster, index, &free_address())).collect();
        let run = Run::new(options, services);
        run.prepare(&nodes[0].address);
        run.import(&nodes[0].address, 0..options.posts[0]);
        let photo = corpus::write_photo(services.folder());
        server::run_remotely(&options.cms, &nodes[0].address, &["media", "upload"], &[&photo]);
        let (balancer, address) = start_balancer(services.folder(), &nodes);
        Self::Nodes(Nodes { services, cluster, running: nodes, _balancer: balancer, address })
    }

    /// The address that clients use.
    pub(super) fn address(&self) -> &str {
        match self {
            Self::Single { .. } => &self.any_server().address,
            Self::Nodes(nodes) => &nodes.address,
        }
    }

    /// A running server.
    pub(super) fn any_server(&self) -> &Server {
        match self {
            Self::Single { server, .. } => server,
            Self::Nodes(nodes) => &nodes.running[0],
        }
    }

    /// Resident and anonymous memory in megabytes, of the largest process.
    pub(super) fn memory(&self) -> (f64, f64) {
        let memory = |server: &Server| (server.memory_megabytes(), server.anonymous_megabytes());
        match self {
            Self::Single { .. } => memory(self.any_server()),
            Self::Nodes(nodes) => {
                let all = nodes.running.iter().map(memory);
                all.fold((0.0, 0.0), |peak, node| (peak.0.max(node.0), peak.1.max(node.1)))
            }
        }
    }

    /// Causes a failure at the end of an interval; returns a description with the downtime.
    pub(super) fn fail(&mut self, options: &Options, interval: u32) -> String {
        match self {
            Self::Single { server, data } => {
                let took = timed(|| {
                    server.kill();
                    *server = Server::cms_at(&options.cms, data, &server.address);
                    server.wait_until_healthy();
                });
                format!("killed, {took}")
            }
            Self::Nodes(nodes) => nodes.fail(interval, options.kills),
        }
    }

    /// Compares the replicas of all nodes with the shared database.
    pub(super) fn compare(&self) {
        let Self::Nodes(Nodes { cluster, running, .. }) = self else { return };
        for index in 0..running.len() {
            let data = cluster.data(&name(index));
            let data = data.to_str().expect("the path is text");
            let compare = || cluster.run(&["--data", data, "cluster", "compare"]);
            // A commit of a background task meanwhile counts as a difference.
            let is_equal = (0..10).any(|_| compare() == "no differences\n");
            assert!(is_equal, "the replica of {}: {}", name(index), compare());
        }
    }
}

/// Nodes of one cluster, and their balancer.
pub(super) struct Nodes<'a> {
    services: &'a Services,
    cluster: Cluster<'a>,
    running: Vec<Server>,
    _balancer: Balancer,
    address: String,
}

impl Nodes<'_> {
    fn fail(&mut self, interval: u32, kills: u32) -> String {
        if interval + 1 == kills {
            for index in 0..self.running.len() {
                self.restart(index, Server::terminate);
                sleep(RESTART_INTERVAL);
            }
            return "all restarted in turn".to_owned();
        }
        let postgres = &self.services.postgres;
        let without_postgres = |what: &str, stop: &dyn Fn()| {
            let took = timed(|| {
                stop();
                postgres.run();
            });
            format!("PostgreSQL {what}, {took}; ")
        };
        // With more than ten intervals, these failures repeat.
        let what = match interval % 10 {
            1 => without_postgres("restarted", &|| postgres.shut_down()),
            2 => without_postgres("crashed", &|| postgres.kill()),
            3 => {
                let paused = &self.running[1];
                paused.signal("STOP");
                sleep(PAUSE);
                paused.signal("CONT");
                format!("{} paused for {} s; ", name(1), PAUSE.as_secs())
            }
            _ => String::new(),
        };
        let index = interval as usize % self.running.len();
        let took = timed(|| self.restart(index, Server::kill));
        format!("{what}{} killed, {took}", name(index))
    }

    fn restart(&mut self, index: usize, end: impl FnOnce(&mut Server)) {
        let node = &mut self.running[index];
        end(node);
        *node = start(&self.cluster, index, &node.address);
    }
}

fn name(index: usize) -> String {
    format!("n{}", index + 1)
}

fn start(cluster: &Cluster<'_>, index: usize, listen: &str) -> Server {
    cluster.forwarding_node(&name(index), listen, &[])
}

/// A running load balancer. It is killed on drop.
struct Balancer(Child);

impl Drop for Balancer {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Starts `haproxy` with the settings of the guide, but without a second group for writes.
fn start_balancer(folder: &Path, nodes: &[Server]) -> (Balancer, String) {
    let address = free_address();
    let servers: Vec<_> = nodes
        .iter()
        .enumerate()
        .map(|(index, node)| format!(" server {} {}\n", name(index), node.address))
        .collect();
    let settings = format!(
        "global\n maxconn 4000\n\
         defaults\n mode http\n timeout connect 5s\n timeout client 1h\n timeout server 1h\n timeout check 3s\n \
         option redispatch 1\n option httpchk\n http-check send meth GET uri /readyz\n \
         default-server check inter 1s fall 2 rise 2\n\
         frontend all\n bind {address}\n default_backend nodes\n\
         backend nodes\n balance leastconn\n{}",
        servers.concat()
    );
    let file = folder.join("haproxy.cfg");
    std::fs::write(&file, settings).expect("the folder is writable");
    let mut command = Command::new("haproxy");
    command.arg("-db").arg("-f").arg(&file).stdout(Stdio::null()).stderr(Stdio::null());
    let balancer = Balancer(command.spawn().expect("HAProxy is installed"));
    while std::net::TcpStream::connect(&address).is_err() {
        sleep(Duration::from_millis(10));
    }
    // Waits until the checks of HAProxy have found the nodes.
    sleep(Duration::from_secs(2));
    (balancer, address)
}

/// Milliseconds of a step, as text.
fn timed(step: impl FnOnce()) -> String {
    let start = Instant::now();
    step();
    format!("{:.0} ms", start.elapsed().as_secs_f64() * 1000.0)
}
