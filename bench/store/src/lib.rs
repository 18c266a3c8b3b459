//! What the measurements of the store share: objects, contenders and clocks.

pub mod contenders;
pub mod measure;
pub mod objects;
