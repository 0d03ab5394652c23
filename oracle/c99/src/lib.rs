//! What softfloat-sys uses of the registry's crate `c99`, which finds the types with CMake: a program that few hosts have.
//! The types are those of glibc and musl on 64-bit hosts; softfloat-sys builds for x86-64 Linux only.
#![no_std]
#![allow(non_camel_case_types)]

/// `int_fast32_t`.
pub type int_fast32_t = i64;
/// `int_fast64_t`.
pub type int_fast64_t = i64;
/// `uint_fast8_t`.
pub type uint_fast8_t = u8;
/// `uint_fast32_t`.
pub type uint_fast32_t = u64;
/// `uint_fast64_t`.
pub type uint_fast64_t = u64;
