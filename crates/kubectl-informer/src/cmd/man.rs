//! `man`: writes manual pages.

use crate::args::Args;
use anyhow::Context as _;
use clap::{Command, CommandFactory as _};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// Writes a page for each command to a folder.
///
/// # Errors
/// The folder or a page cannot be written.
pub(crate) fn write(folder: &Path) -> anyhow::Result<ExitCode> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let mut root = Args::command().disable_help_subcommand(true);
    root.build();
    let shown = root.get_subcommands().filter(|command| !command.is_hide_set());
    for command in std::iter::once(&root).chain(shown) {
        let name = command.get_display_name().unwrap_or(command.get_name());
        let path = folder.join(format!("{name}.1"));
        std::fs::write(&path, page(command.clone())?)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A page, in which each paragraph after the help has a section of its own.
fn page(command: Command) -> io::Result<Vec<u8>> {
    let after = command.get_after_help().map(ToString::to_string);
    let mut page = Vec::new();
    Man::new(command.after_help(None)).render(&mut page)?;
    let mut roff = Roff::new();
    for paragraph in after.unwrap_or_default().split("\n\n") {
        let Some((heading, lines)) = paragraph.split_once(":\n") else {
            continue;
        };
        let heading = match heading {
            "Exit codes" => "EXIT STATUS".to_owned(),
            heading => heading.to_uppercase(),
        };
        // Lines stay as they are.
        roff.control("SH", [&*heading]);
        roff.control("nf", []);
        roff.text([roman(lines)]);
        roff.control("fi", []);
    }
    roff.to_writer(&mut page)?;
    Ok(page)
}
