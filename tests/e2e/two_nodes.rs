//! With `CMS_TEST_CLUSTER=2`, [`Server::start`] starts two nodes of a new cluster behind a load
//! balancer, which sends reads to one of them and everything else to the other: the tests of a single
//! server show that clients see no difference. In this mode, tests that use the data directory, the
//! arguments or the log of the server fail.

use std::{
    env, fs,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, Weak},
    thread,
    time::Duration,
};

use super::{
    cluster::{Shared, free_address},
    support::{Server, client},
};

/// The services of all tests that run at the moment, and the number of clusters so far.
static SHARED: Mutex<(Weak<Shared>, u32)> = Mutex::new((Weak::new(), 0));

/// The second node, the load balancer, and the services that both nodes share.
pub(crate) struct TwoNodes {
    pub(crate) url: String,
    balancer: Child,
    _second: Server,
    _shared: Arc<Shared>,
}

impl Drop for TwoNodes {
    fn drop(&mut self) {
        self.balancer.kill().ok();
        self.balancer.wait().ok();
    }
}

/// Starts two nodes, the first one in `folder`, if tests are to run on two nodes.
#[expect(clippy::disallowed_methods, reason = "a setting of the tests")]
pub(crate) fn start(folder: &Path) -> Option<Server> {
    if env::var("CMS_TEST_CLUSTER").ok()? != "2" {
        return None;
    }
    let (shared, number) = {
        let mut shared = SHARED.lock().unwrap();
        shared.1 += 1;
        let running = shared.0.upgrade().or_else(|| Shared::start().map(Arc::new))?;
        shared.0 = Arc::downgrade(&running);
        (running, shared.1)
    };
    let name = format!("cluster{number}");
    shared.postgres.create_database(&name);
    let variables = shared.variables_of(&name);
    let first = Server::start_with_variables(folder, &[], &variables);
    let other = folder.join("other");
    fs::create_dir(&other).unwrap();
    let second = Server::start_with_variables(&other, &[], &variables);
    let address = free_address();
    let url = format!("http://{address}");
    let settings = format!(
        "defaults\n mode http\n timeout connect 5s\n timeout client 10m\n timeout server 10m\n\
         frontend all\n bind {address}\n use_backend read if METH_GET\n default_backend write\n\
         backend write\n server first {}\nbackend read\n server second {}\n",
        first.url.trim_start_matches("http://"),
        second.url.trim_start_matches("http://"),
    );
    fs::write(folder.join("haproxy.cfg"), settings).unwrap();
    let balancer = Command::new("haproxy")
        .args(["-db", "-f"])
        .arg(folder.join("haproxy.cfg"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("HAProxy is installed");
    let client = client().build().unwrap();
    while client.get(format!("{url}/healthz")).send().is_err() {
        thread::sleep(Duration::from_millis(20));
    }
    Some(first.behind(TwoNodes { url, balancer, _second: second, _shared: shared }))
}
