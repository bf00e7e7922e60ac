fn main() {
    // A new migration is otherwise not noticed: the list is read at compile time.
    println!("cargo:rerun-if-changed=migrations");
}
