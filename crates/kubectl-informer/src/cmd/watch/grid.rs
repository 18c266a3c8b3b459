//! Rows of an endless table: a column is as wide as its widest cell so far, so that each row can be printed
//! immediately.

use crate::text::{printable, width};

/// The separator of two columns.
const GAP: &str = "   ";

/// The widths of the columns so far.
#[derive(Debug, Default)]
pub(super) struct Grid(Vec<usize>);

impl Grid {
    /// Whether a row has been formatted.
    pub(super) fn has_rows(&self) -> bool {
        !self.0.is_empty()
    }

    /// Makes the columns wide enough for these cells and all earlier ones, and puts them in a row.
    pub(super) fn row(&mut self, cells: impl Iterator<Item = String>) -> String {
        let mut row = String::new();
        for (column, cell) in cells.enumerate() {
            let cell = printable(&cell);
            let width = width(&cell);
            if column == self.0.len() {
                self.0.push(0);
            }
            self.0[column] = self.0[column].max(width);
            row.push_str(&cell);
            row.push_str(&" ".repeat(self.0[column] - width));
            row.push_str(GAP);
        }
        row.truncate(row.trim_end().len());
        row
    }
}
