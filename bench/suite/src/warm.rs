//! Starts from a saved cache: `bench/forms/src/bin/warm.rs`.

use crate::cases::Case;
use crate::machine;
use crate::options::Options;
use crate::programs::{Programs, Server, lines};
use crate::results::Results;
use anyhow::{Context as _, Result};
use serde_json::json;
use std::time::{Duration, Instant};

pub fn measure(programs: &Programs, options: &Options, results: &Results) -> Result<()> {
    let (pods, seconds) = match options.quick {
        true => (5_000, 5),
        false => (
            100_000.min(*options.sizes().last().context("there is a size")?),
            60,
        ),
    };
    if let Some(why) = machine::too_large(200 + pods as u64 * 24 / 1024)? {
        return results.skip(Case::Warm, "packed", pods, &why);
    }
    let folder = std::env::temp_dir().join(format!("kube-informer-bench-{}", std::process::id()));
    let server = Server::start(programs, "sim", &[pods, options.templates as usize])?;
    let cache = folder.join("cache");
    let cache = cache
        .to_str()
        .context("the folder for temporary files has a name in UTF-8")?;
    let run = |what: &str, arguments: &[&str]| -> Result<()> {
        eprintln!("warm starts, {pods} pods: {what}");
        for mut line in lines(programs.rust("warm").args(["run", &server.api]).args(arguments))? {
            line["client"] = json!("packed");
            line["pods"] = json!(pods);
            line["start"] = json!(what);
            results.add(Case::Warm, &line)?;
        }
        Ok(())
    };
    run("without a file", &[cache, "3"])?;
    for _ in 0..options.rounds() {
        run("from a file", &[cache, "3"])?;
    }
    // 100 pods change each second.
    let churning = |what: &str, arguments: &[&str]| {
        let churn = Churn {
            server: &server,
            changes: pods.min(100 * (seconds + 10)),
        };
        churn.begin()?;
        let begun = Instant::now();
        run(what, arguments)?;
        // The next one begins when the changes have ended.
        std::thread::sleep(Duration::from_secs(seconds as u64 + 12).saturating_sub(begun.elapsed()));
        anyhow::Ok(())
    };
    let seconds_text = seconds.to_string();
    churning("100 changes a second, not saved", &["-", &seconds_text])?;
    churning(
        "100 changes a second, saved each second",
        &[
            folder.join("churn").to_str().unwrap_or("churn"),
            &seconds_text,
            "1",
        ],
    )?;
    _ = std::fs::remove_dir_all(&folder);
    Ok(())
}

struct Churn<'a> {
    server: &'a Server,
    changes: usize,
}

impl Churn<'_> {
    /// Asks the server on loopback to change pods, 100 a second.
    fn begin(&self) -> Result<()> {
        use std::io::{Read as _, Write as _};
        let address = self
            .server
            .control
            .strip_prefix("http://")
            .context("the server is on loopback")?;
        let mut stream = std::net::TcpStream::connect(address)?;
        let path = format!("/bench/churn?changes={}&rate=100", self.changes);
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        anyhow::ensure!(
            answer.starts_with("HTTP/1.1 200"),
            "{path}: {}",
            answer.lines().next().unwrap_or_default()
        );
        Ok(())
    }
}
