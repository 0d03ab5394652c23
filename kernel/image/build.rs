//! The linker script is the bare target's alone.
fn main() {
    println!("cargo::rerun-if-changed=kernel.ld");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("none") {
        println!("cargo::rustc-link-arg-bins=-T{}/kernel.ld", std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default());
        println!("cargo::rustc-link-arg-bins=-znostart-stop-gc");
    }
}
