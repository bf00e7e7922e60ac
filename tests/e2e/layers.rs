//! The layers, as Cargo sees them: which package may depend on which.
//!
//! A package cannot name what it does not depend on, so the compiler enforces these rules in the
//! sources. ARCHITECTURE.md has the map.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

use serde_json::Value;

/// The layers below `cms-core`.
const LAYERS: [&str; 7] =
    ["cms-cluster", "cms-jpeg", "cms-media", "cms-model", "cms-search", "cms-store", "cms-system"];

/// Packages for databases, images, network, terminal and the like, each with the layers that may depend on it, directly
/// or indirectly.
const RESTRICTED_PACKAGES: &[(&str, &[&str])] = &[
    ("axum", &[]),
    ("clap", &[]),
    ("hyper", &["cms-media"]),
    ("image", &["cms-media"]),
    ("object_store", &["cms-media"]),
    ("refinery", &["cms-cluster", "cms-store"]),
    ("reqwest", &["cms-media"]),
    ("rusqlite", &["cms-cluster", "cms-store"]),
    ("tantivy", &["cms-search"]),
    ("tokio", &["cms-cluster", "cms-media"]),
    ("tokio-postgres", &["cms-cluster"]),
    ("webp", &["cms-media"]),
];

/// The layers on which each layer depends directly.
const LAYER_DEPENDENCIES: [(&str, &[&str]); 7] = [
    ("cms-jpeg", &[]),
    ("cms-model", &[]),
    ("cms-system", &["cms-model"]),
    ("cms-search", &["cms-model"]),
    ("cms-store", &["cms-model", "cms-system"]),
    ("cms-media", &["cms-jpeg", "cms-model", "cms-system"]),
    ("cms-cluster", &["cms-model", "cms-store"]),
];

#[test]
fn layers_depend_on_lower_layers_only() {
    let packages = Packages::read();
    for (layer, below) in LAYER_DEPENDENCIES {
        let ours: BTreeSet<_> =
            packages.direct(layer).filter(|name| is_workspace_package(name)).collect();
        assert_eq!(ours, below.iter().copied().collect(), "{layer}");
    }
    assert_eq!(packages.direct("cms-jpeg").count(), 0, "cms-jpeg has no dependencies");
}

#[test]
fn layers_depend_on_no_restricted_package_of_another() {
    let packages = Packages::read();
    for layer in LAYERS {
        let all_dependencies = packages.all_dependencies(layer);
        let found = RESTRICTED_PACKAGES
            .iter()
            .filter(|(name, layers)| all_dependencies.contains(name) && !layers.contains(&layer))
            .map(|(name, _)| *name);
        assert_eq!(found.collect::<Vec<_>>(), [""; 0], "{layer} depends on it");
    }
}

#[test]
fn core_depends_on_no_restricted_package_directly() {
    let packages = Packages::read();
    let found = packages
        .direct("cms-core")
        .filter(|name| RESTRICTED_PACKAGES.iter().any(|(restricted, _)| restricted == name));
    assert_eq!(found.collect::<Vec<_>>(), [""; 0], "cms-core depends on it directly");
}

fn is_workspace_package(package: &str) -> bool {
    package.starts_with("cms-")
}

/// Normal dependencies by package; those of tests and build scripts are left out.
struct Packages(BTreeMap<String, Vec<String>>);

impl Packages {
    fn read() -> Self {
        let host = cargo(&["-vV"]);
        let host = host.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
        let metadata = cargo(&[
            "metadata",
            "--format-version=1",
            "--locked",
            "--offline",
            "--filter-platform",
            host,
        ]);
        let metadata: Value = serde_json::from_str(&metadata).unwrap();
        let list = |value: &Value| value.as_array().unwrap().clone();
        let names: BTreeMap<String, String> = list(&metadata["packages"])
            .iter()
            .map(|package| (text(&package["id"]), text(&package["name"])))
            .collect();
        let dependencies = |node: &Value| -> Vec<String> {
            let dependencies = list(&node["deps"]);
            let normal = dependencies.iter().filter(|dependency| {
                list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null())
            });
            normal.map(|dependency| names[&text(&dependency["pkg"])].clone()).collect()
        };
        let nodes = list(&metadata["resolve"]["nodes"]);
        let mut packages = BTreeMap::<String, Vec<String>>::new();
        for node in &nodes {
            // Several versions of a package count as one.
            packages
                .entry(names[&text(&node["id"])].clone())
                .or_default()
                .extend(dependencies(node));
        }
        Self(packages)
    }

    fn direct<'p>(&'p self, package: &str) -> impl Iterator<Item = &'p str> {
        self.0[package].iter().map(String::as_str)
    }

    /// All packages that a package depends on, directly or not, and the package itself.
    fn all_dependencies<'p>(&'p self, package: &'p str) -> BTreeSet<&'p str> {
        let (mut all_dependencies, mut open) = (BTreeSet::new(), vec![package]);
        while let Some(package) = open.pop() {
            if all_dependencies.insert(package) {
                open.extend(self.direct(package));
            }
        }
        all_dependencies
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn cargo(arguments: &[&str]) -> String {
    let run = Command::new(env!("CARGO"))
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .args(arguments)
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap()
}
