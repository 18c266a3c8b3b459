//! An allocator that counts, for the benches that report memory. Each includes this file as a module.

#![allow(dead_code, reason = "each bench asks for some of the counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};

/// The system's allocator. Bytes are those that are asked for, without what the allocator adds.
struct Counting;

static ON: AtomicBool = AtomicBool::new(true);
static BYTES: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static ALLOCATED: AtomicU64 = AtomicU64::new(0);
static FREED: AtomicU64 = AtomicU64::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The bytes in use.
pub fn bytes() -> i64 {
    BYTES.load(Relaxed)
}

/// The most bytes that were in use at once.
pub fn peak() -> i64 {
    PEAK.load(Relaxed)
}

/// The number of allocations so far.
pub fn allocations() -> u64 {
    ALLOCATIONS.load(Relaxed)
}

/// The bytes that were allocated so far, whether they are in use or not. What grows counts as allocated anew.
pub fn allocated() -> u64 {
    ALLOCATED.load(Relaxed)
}

/// The number of allocations in use.
pub fn blocks() -> i64 {
    allocations() as i64 - FREED.load(Relaxed) as i64
}

/// Counts from now on, or no longer: what is counted costs some nanoseconds.
pub fn count(on: bool) {
    ON.store(on, Relaxed);
}

fn grow(bytes: i64) {
    let now = BYTES.fetch_add(bytes, Relaxed) + bytes;
    if now > PEAK.load(Relaxed) {
        PEAK.fetch_max(now, Relaxed);
    }
}

// SAFETY: all calls go to the system's allocator as they are.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if ON.load(Relaxed) {
            ALLOCATIONS.fetch_add(1, Relaxed);
            ALLOCATED.fetch_add(layout.size() as u64, Relaxed);
            grow(layout.size() as i64);
        }
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if ON.load(Relaxed) {
            FREED.fetch_add(1, Relaxed);
            grow(-(layout.size() as i64));
        }
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if ON.load(Relaxed) {
            ALLOCATIONS.fetch_add(1, Relaxed);
            ALLOCATED.fetch_add(size as u64, Relaxed);
            FREED.fetch_add(1, Relaxed);
            grow(size as i64 - layout.size() as i64);
        }
        // SAFETY: the caller's contract.
        unsafe { System.realloc(block, layout, size) }
    }
}
