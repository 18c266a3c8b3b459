//! Controllers, as their users see them, against a simulated cluster. The clock is paused wherever there is no socket.

mod example;
mod face;
mod harness;
mod metrics;
mod own_writes;
mod runs;
mod shard_manager;
mod shards;
mod sources;
mod stops;
mod streams;

use instances as _;
