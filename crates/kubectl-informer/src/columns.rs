//! The columns of `-o custom-columns`.

use crate::grid::Grid;
use crate::path::{Path, plain};
use serde_json::Value;

/// Columns of the user: a header and a path each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Columns(Vec<(String, Path)>);

impl Columns {
    /// Parses `HEADER:PATH,...`.
    ///
    /// # Errors
    /// Says what is wrong.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let column = |column: &str| match column.split_once(':') {
            Some((header, path)) if !header.is_empty() => Ok((header.to_owned(), Path::parse(path)?)),
            _ => Err(format!(
                "{column:?} is not HEADER:PATH, such as NAME:.metadata.name"
            )),
        };
        text.split(',').map(column).collect::<Result<_, _>>().map(Self)
    }

    /// The header.
    pub(crate) fn header(&self, grid: &mut Grid) -> String {
        let names = self.0.iter().map(|(name, _)| name.clone());
        grid.row(std::iter::once("EVENT".to_owned()).chain(names))
    }

    /// The row of an object; several values of a path are separated by commas, and there is `<none>` without any.
    pub(crate) fn row(&self, grid: &mut Grid, event: &str, object: &Value) -> String {
        let cells = self.0.iter().map(|(_, path)| match &*path.find(object) {
            [] => "<none>".to_owned(),
            values => values
                .iter()
                .map(|value| plain(value))
                .collect::<Vec<_>>()
                .join(","),
        });
        grid.row(std::iter::once(event.to_owned()).chain(cells))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn cells_are_what_the_paths_find() {
        let columns = Columns::parse("NAME:.metadata.name,IMAGES:.spec.containers[*].image,X:.x").unwrap();
        let object = json!({
            "metadata": {"name": "web-0"}, "spec": {"containers": [{"image": "a"}, {"image": "b"}]},
        });
        let mut grid = Grid::default();
        let rows = [columns.header(&mut grid), columns.row(&mut grid, "add", &object)];
        assert_eq!(rows[0], "EVENT   NAME   IMAGES   X");
        assert_eq!(rows[1], "add     web-0   a,b      <none>");
    }

    #[test]
    fn malformed_columns_are_refused() {
        for (text, expected) in [
            ("", "is not HEADER:PATH"),
            ("NAME", "\"NAME\" is not HEADER:PATH"),
            (":.a", "is not HEADER:PATH"),
            ("A:.a,B:", "names no field"),
        ] {
            let error = Columns::parse(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
