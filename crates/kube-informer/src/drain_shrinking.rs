//! Going over a long list without keeping all of it.

/// A list of no more than this is not given back in parts.
const SHORT: usize = 4096;

/// The items in their order. Of a list of a million, what has been taken is given back to the allocator from time to time,
/// so that most of it is gone when whatever is made of it is complete.
pub(crate) fn drain_shrinking<T>(mut items: Vec<T>) -> impl Iterator<Item = T> {
    let part = items.len().div_ceil(16).max(SHORT);
    // Only the end of a vector can be given back.
    items.reverse();
    std::iter::from_fn(move || {
        let item = items.pop()?;
        if items.len().is_multiple_of(part) {
            items.shrink_to_fit();
        }
        Some(item)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_comes_in_order() {
        for length in [0, 1, 4096, 4097, 200_000] {
            assert!(drain_shrinking((0..length).collect()).eq(0..length));
        }
    }
}
