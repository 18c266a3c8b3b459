//! Where in an object.

use std::fmt;

/// The way to a value; it is written only for a message.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Path<'a> {
    Root,
    Field(&'a Path<'a>, &'a str),
    Index(&'a Path<'a>, usize),
    /// A member of a map that is no field: `labels[app]`.
    Key(&'a Path<'a>, &'a str),
}

impl<'a> Path<'a> {
    pub(crate) fn field(&'a self, name: &'a str) -> Self {
        Self::Field(self, name)
    }

    pub(crate) fn index(&'a self, index: usize) -> Self {
        Self::Index(self, index)
    }

    pub(crate) fn key(&'a self, name: &'a str) -> Self {
        Self::Key(self, name)
    }

    pub(crate) fn is_root(&self) -> bool {
        matches!(self, Self::Root)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f).map(|_| ())
    }
}

impl Path<'_> {
    /// Writes up to [`LONGEST`] bytes. Returns how many more there may be.
    fn write(&self, f: &mut fmt::Formatter<'_>) -> Result<usize, fmt::Error> {
        let (parent, steps) = match self {
            Self::Root => return Ok(LONGEST),
            Self::Field(parent, name) if parent.is_root() => (parent, ["", name, ""]),
            Self::Field(parent, name) => (parent, [".", name, ""]),
            Self::Index(parent, index) => {
                let room = parent.write(f)?;
                return write_cut(f, &format!("[{index}]"), room);
            }
            Self::Key(parent, name) => (parent, ["[", name, "]"]),
        };
        let room = parent.write(f)?;
        steps
            .into_iter()
            .try_fold(room, |room, text| write_cut(f, text, room))
    }
}

fn write_cut(f: &mut fmt::Formatter<'_>, text: &str, room: usize) -> Result<usize, fmt::Error> {
    let text = &text[..boundary(text, room)];
    f.write_str(text)?;
    Ok(room - text.len())
}

/// The last place up to `at` where a text may be cut.
fn boundary(text: &str, at: usize) -> usize {
    let mut end = at.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}

/// Paths in writing have at most so many bytes: objects may have thousands of levels with long names, and each level, or each
/// fault, has its path.
const LONGEST: usize = 4096;

/// The path with another step, such as `.name` or `[0]`, for those who carry it along.
pub(crate) fn below(path: &str, step: fmt::Arguments<'_>) -> String {
    let mut path = match path.len() < LONGEST {
        true => format!("{path}{step}"),
        false => path.to_owned(),
    };
    path.truncate(boundary(&path, LONGEST));
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_writing_are_cut_between_characters() {
        let long = "\u{e4}".repeat(LONGEST);
        let field = Path::Root.field("a");
        let key = field.key(&long);
        for path in [key, key.index(3), key.field("b")] {
            assert_eq!(path.to_string(), format!("a[{}", &long[..LONGEST - 2]));
        }
        assert_eq!(
            below("a.", format_args!("{long}")),
            format!("a.{}", &long[..LONGEST - 2])
        );
        assert_eq!(
            below("ab.", format_args!("{long}")),
            format!("ab.{}", &long[..LONGEST - 4])
        );
        assert_eq!(field.key("b").index(0).field("c").to_string(), "a[b][0].c");
    }
}
