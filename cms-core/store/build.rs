fn main() {
    // Rebuild when a migration is added: the list is read at compile time.
    println!("cargo:rerun-if-changed=migrations");
}
