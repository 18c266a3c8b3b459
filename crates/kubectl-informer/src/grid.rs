//! Rows of an endless table: a column is as wide as its widest cell so far, so that each row can be printed
//! immediately.

use crate::text::{printable, width};

/// The separator of two columns.
const GAP: &str = "   ";

/// The widths of the columns so far.
#[derive(Debug, Default)]
pub(crate) struct Grid(Vec<usize>);

impl Grid {
    /// Whether a row has been formatted.
    pub(crate) fn has_rows(&self) -> bool {
        !self.0.is_empty()
    }

    /// Makes the first columns at least as wide as those of another grid.
    pub(crate) fn widen(&mut self, other: &Self, columns: usize) {
        self.0.resize(self.0.len().max(columns), 0);
        let widths = self.0.iter_mut().zip(&other.0).take(columns);
        widths.for_each(|(width, other)| *width = (*width).max(*other));
    }

    /// Makes the columns wide enough for these cells and all earlier ones, and puts them in a row.
    pub(crate) fn row(&mut self, cells: impl Iterator<Item = String>) -> String {
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

/// A table whose rows are all known, in lines.
pub(crate) fn table(rows: impl Iterator<Item = Vec<String>>) -> Vec<String> {
    let rows: Vec<_> = rows.collect();
    let mut grid = Grid::default();
    for row in &rows {
        grid.row(row.iter().cloned());
    }
    rows.into_iter().map(|row| grid.row(row.into_iter())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_a_table_are_aligned() {
        let row = |cells: [&str; 2]| cells.map(ToOwned::to_owned).to_vec();
        let table = table([row(["a", "b"]), row(["long", "c"])].into_iter());
        assert_eq!(table, ["a      b", "long   c"]);
    }
}
