//! What kube-sim costs; the case `simulator` of `bench/run`.
//!
//! `simulator start`, `simulator write`, `simulator list PODS` and `simulator watch WATCHERS RATE SECONDS` print lines of JSON: what was
//! measured, the figure, its unit. `simulator read ADDRESS VERSION WATCHERS EVENTS` is the other side of `watch`, which starts it.

#[path = "informer-client/usage.rs"]
#[expect(dead_code, reason = "only the processor time is asked for")]
mod usage;

use anyhow::{Context as _, ensure};
use http_body_util::{BodyExt as _, Full};
use kube_sim::{Sim, SimServer};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tower::ServiceExt as _;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
/// So many starts and writes of a kind.
const STARTS: u32 = 50;
const WRITES: u32 = 20_000;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["start"] => start().await,
        ["write"] => write().await,
        ["list", pods] => list(pods.parse()?).await,
        ["watch", watchers, rate, seconds] => watch(watchers.parse()?, rate.parse()?, seconds.parse()?).await,
        ["read", address, version, watchers, events] => {
            read(address, version, watchers.parse()?, events.parse()?)
        }
        _ => anyhow::bail!("usage: simulator start | write | list PODS | watch WATCHERS RATE SECONDS"),
    }
}

fn print(what: &str, figure: f64, unit: &str) {
    println!("{}", json!({"what": what, "figure": figure, "unit": unit}));
}

fn map(name: &str, number: u64) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "default", "name": name, "labels": {"app": "a"}},
        "data": {"number": number.to_string(), "text": "some configuration of some program"},
    })
}

/// Sends a request in the process, and takes the whole answer.
async fn send(sim: &Sim, method: &str, path: &str, accept: &str, body: &Value) -> anyhow::Result<usize> {
    let body = match body {
        Value::Null => String::new(),
        body => body.to_string(),
    };
    let content = match method {
        "PATCH" => "application/merge-patch+json",
        _ => "application/json",
    };
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", content)
        .header("accept", accept)
        .body(Full::<bytes::Bytes>::from(body))?;
    let answer = sim
        .service()
        .oneshot(request)
        .await
        .map_err(anyhow::Error::from)?;
    let status = answer.status();
    let mut body = answer.into_body();
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| anyhow::anyhow!("{method} {path}: {error}"))?;
        length += frame.data_ref().map_or(0, bytes::Bytes::len);
    }
    ensure!(status.is_success(), "{method} {path}: {status}");
    Ok(length)
}

/// From nothing to the answer to the first request, which a test waits for.
async fn start() -> anyhow::Result<()> {
    let mut in_process = Vec::new();
    let mut on_socket = Vec::new();
    for _ in 0..STARTS {
        let begun = Instant::now();
        let sim = Sim::builder().build()?;
        send(&sim, "GET", MAPS, "application/json", &Value::Null).await?;
        in_process.push(begun.elapsed());

        let begun = Instant::now();
        let server = Sim::builder().start().await?;
        let mut stream = connect(&server)?;
        write!(
            stream,
            "GET {MAPS} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )?;
        let answered = tokio::task::spawn_blocking(move || stream.read_to_end(&mut Vec::new()));
        answered.await??;
        on_socket.push(begun.elapsed());
        server.shutdown().await;
    }
    for (what, times) in [
        ("start, in the process", in_process),
        ("start, on a socket", on_socket),
    ] {
        let [median, worst] = usage::percentiles(times).context("there were starts")?;
        print(&format!("{what}, p50"), median / 1000.0, "ms");
        print(&format!("{what}, p99"), worst / 1000.0, "ms");
    }
    Ok(())
}

/// Writes one after the other, by requests in the process and from code.
async fn write() -> anyhow::Result<()> {
    let sim = Sim::builder().build()?;
    for method in ["POST", "PUT", "PATCH", "DELETE"] {
        let begun = usage::cpu_time();
        for number in 0..WRITES {
            let name = format!("m-{number}");
            let path = format!("{MAPS}/{name}");
            let (path, body) = match method {
                "POST" => (MAPS, map(&name, 0)),
                "PUT" => (&*path, map(&name, 1)),
                "PATCH" => (&*path, json!({"data": {"number": "2"}})),
                _ => (&*path, Value::Null),
            };
            send(&sim, method, path, "application/json", &body).await?;
        }
        let each = (usage::cpu_time() - begun) / WRITES;
        print(
            &format!("a request, {method}"),
            each.as_secs_f64() * 1e6,
            "CPU us",
        );
    }
    let begun = usage::cpu_time();
    for number in 0..WRITES {
        sim.store().create(map(&format!("m-{number}"), 0))?;
    }
    let each = (usage::cpu_time() - begun) / WRITES;
    print("from code, create", each.as_secs_f64() * 1e6, "CPU us");
    let begun = usage::cpu_time();
    for number in 0..WRITES {
        sim.store().update(map(&format!("m-{number}"), 1))?;
    }
    let each = (usage::cpu_time() - begun) / WRITES;
    print("from code, update", each.as_secs_f64() * 1e6, "CPU us");
    Ok(())
}

/// All pods at once, the first time and again.
async fn list(pods: usize) -> anyhow::Result<()> {
    let sim = Sim::builder().nodes(10).pods(pods).build()?;
    for (name, accept) in [
        ("JSON", "application/json"),
        ("protobuf", "application/vnd.kubernetes.protobuf"),
    ] {
        for time in ["first", "again"] {
            let begun = usage::cpu_time();
            let length = send(&sim, "GET", "/api/v1/pods", accept, &Value::Null).await?;
            let took = usage::cpu_time() - begun;
            print(
                &format!("list of {pods} pods, {name}, {time}"),
                took.as_secs_f64(),
                "CPU s",
            );
            if time == "first" {
                print(&format!("a pod in {name}"), length as f64 / pods as f64, "bytes");
            }
        }
    }
    Ok(())
}

/// Watchers in a process of their own, which are told of so many changes a second.
async fn watch(watchers: u32, rate: u32, seconds: u32) -> anyhow::Result<()> {
    let changes = rate.checked_mul(seconds).filter(|changes| *changes > 0);
    let changes = changes.context("there is nothing to change")?;
    let server = Sim::builder().history(changes as usize + 10_000).start().await?;
    let names: Vec<String> = (0..1_000).map(|number| format!("m-{number}")).collect();
    for name in &names {
        server.store().create(map(name, 0))?;
    }
    let address = server.url().replace("http://", "");
    let mut reader = Command::new(std::env::current_exe()?)
        .args(["read", &address, &server.store().resource_version().to_string()])
        .args([watchers.to_string(), changes.to_string()])
        .stdout(Stdio::piped())
        .spawn()?;
    let output = reader.stdout.take().context("it has an output")?;
    let mut output = BufReader::new(output).lines();
    output.next().context("the reader has ended")??;

    let store = server.store();
    let begun = (Instant::now(), usage::cpu_time());
    let writing = tokio::task::spawn_blocking(move || {
        for number in 0..changes {
            let due = begun.0 + Duration::from_secs(1) * number / rate;
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            store.update(map(&names[number as usize % names.len()], u64::from(number) + 1))?;
        }
        anyhow::Ok(begun.0.elapsed())
    });
    let wrote = writing.await??;
    let told = tokio::task::spawn_blocking(move || output.next()).await?;
    told.context("the reader has ended")??;
    let (all, cpu) = (begun.0.elapsed(), usage::cpu_time() - begun.1);
    ensure!(reader.wait()?.success(), "the reader failed");
    let what = format!("{rate} changes a second for {seconds} s, {watchers} watchers");
    print(
        &format!("{what}: made"),
        f64::from(changes) / wrote.as_secs_f64(),
        "a second",
    );
    print(
        &format!("{what}: the last is there after"),
        (all - wrote).as_secs_f64() * 1e3,
        "ms",
    );
    print(
        &format!("{what}: the server, a change"),
        cpu.as_secs_f64() * 1e6 / f64::from(changes),
        "CPU us",
    );
    server.shutdown().await;
    Ok(())
}

fn connect(server: &SimServer) -> anyhow::Result<TcpStream> {
    let url = server.url();
    let address = url.strip_prefix("http://").context("it speaks HTTP")?;
    Ok(TcpStream::connect(address)?)
}

/// Reads so many watches until each has so many events. Prints a line when they are open, and one in the end.
fn read(address: &str, version: &str, watchers: u32, events: u32) -> anyhow::Result<()> {
    let mut streams = Vec::new();
    for _ in 0..watchers {
        let mut stream = TcpStream::connect(address)?;
        write!(
            stream,
            "GET {MAPS}?watch=true&resourceVersion={version} HTTP/1.1\r\nHost: localhost\r\n\r\n"
        )?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            ensure!(stream.read(&mut byte)? == 1, "the watch was refused");
            head.extend(byte);
        }
        ensure!(
            head.starts_with(b"HTTP/1.1 200"),
            "{}",
            String::from_utf8_lossy(&head)
        );
        streams.push(stream);
    }
    println!("open");
    let each = |mut stream: TcpStream| {
        // The first byte is the last one that was read before.
        let mut buffer = vec![0; 1 << 18];
        let mut seen = 0;
        while seen < events {
            let length = stream.read(&mut buffer[1..])?;
            ensure!(length > 0, "a watch has ended after {seen} events");
            // Each event ends with a line break; those of HTTP's chunks come after a carriage return.
            let ends = buffer[..=length].windows(2).filter(|two| *two == b"}\n");
            seen += u32::try_from(ends.count())?;
            buffer[0] = buffer[length];
        }
        anyhow::Ok(())
    };
    std::thread::scope(|scope| {
        let reading: Vec<_> = streams
            .into_iter()
            .map(|stream| scope.spawn(move || each(stream)))
            .collect();
        reading
            .into_iter()
            .try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    println!("read");
    Ok(())
}
