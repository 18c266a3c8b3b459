//! The simulator of bad days: what each fault does, how failures are shown, and what it finds.

mod faults;
mod findings;
mod objects;
mod patterns;
mod runtime;
