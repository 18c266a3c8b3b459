//! What kubectl prints, asked of the simulator and of a real API server: the same commands, one after the other.
//!
//! What a server chooses itself is replaced. Commands whose output differs for a reason are listed with it in
//! `table/kubectl.md`; the test fails on others, and on those that no longer differ.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use conformance::real_server::RealServer;
use kube_sim::SimServer;

/// Commands of a shell, in the order in which they run; `kubectl` has the namespace `demo` already.
const COMMANDS: &str = include_str!("../table/kubectl.sh");

fn commands() -> impl Iterator<Item = &'static str> {
    COMMANDS
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
}

/// Runs one command; what it printed, and whether it failed.
fn run(command: &str, kubeconfig: &Path, folder: &Path) -> String {
    let script =
        format!("kubectl() {{ command kubectl --namespace=demo --request-timeout=10s \"$@\"; }}\n{command}");
    let output = Command::new("bash")
        .args(["-c", &script])
        .current_dir(folder)
        .env("KUBECONFIG", kubeconfig)
        .env("HOME", folder)
        .env("TZ", "UTC")
        .output()
        .expect("bash can be started");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut printed = text(&output.stdout) + &text(&output.stderr);
    if !output.status.success() {
        printed.push_str("(failed)\n");
    }
    normal(&printed)
}

/// The text without what a server chooses itself.
fn normal(text: &str) -> String {
    let patterns = [
        // What kubectl itself logs of a watch that ended at once depends on the instant.
        (r"(?m)^[WIE]\d{4} \d\d:\d\d:\d\d.*\breflector\.go.*\n", ""),
        (
            r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
            "<uid>",
        ),
        (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "<time>"),
        (
            r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000",
            "<time>",
        ),
        (r#"(resourceVersion"?: "?)\d+"#, "$1<version>"),
        (r"\b10\.(9[6-9]|1\d\d)\.\d+\.\d+", "<address>"),
        (r"https?://127\.0\.0\.1:\d+", "<server>"),
        (r"127\.0\.0\.1:\d+", "<server>"),
        (r"\b3[0-2]\d{3}\b", "<port>"),
        (r"\b\d+(s|ms|m\d+s)\b", "<age>"),
        (r"/tmp/\S*", "<file>"),
        (r"[ \t]+", " "),
    ];
    let mut text = text.to_owned();
    for (pattern, name) in patterns {
        let pattern = regex::Regex::new(pattern).expect("a pattern");
        text = pattern.replace_all(&text, name).into_owned();
    }
    text
}

/// What all commands print.
fn outputs(kubeconfig: &Path) -> BTreeMap<&'static str, String> {
    let folder = tempfile::tempdir().expect("a folder");
    commands()
        .map(|command| (command, run(command, kubeconfig, folder.path())))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a real API server and kubectl, and is run by hand: see conformance/README.md"]
async fn kubectl_prints_the_same() {
    let real = RealServer::start().await.unwrap();
    let simulator = SimServer::builder().controllers([]).start().await.unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, simulator.kubeconfig()).unwrap();
    let (of_real, of_simulator) = (real.kubeconfig(), file.path().to_owned());
    let real_outputs = tokio::task::spawn_blocking(move || outputs(&of_real));
    let simulated = tokio::task::spawn_blocking(move || outputs(&of_simulator));
    let (real_outputs, simulated) = (real_outputs.await.unwrap(), simulated.await.unwrap());

    let known: Vec<_> = include_str!("../table/kubectl.md")
        .lines()
        .filter_map(|line| line.strip_prefix("- `")?.strip_suffix('`'))
        .collect();
    let mut wrong = String::new();
    for command in commands() {
        let (simulator, real) = (&simulated[command], &real_outputs[command]);
        match (simulator == real, known.contains(&command)) {
            (true, true) => wrong += &format!("no longer differs: {command}\n"),
            (false, false) => wrong += &format!("$ {command}\n-- simulator\n{simulator}-- real\n{real}\n"),
            _ => {}
        }
    }
    let unknown = known
        .iter()
        .filter(|known| !commands().any(|command| command == **known));
    unknown.for_each(|known| wrong += &format!("no command: {known}\n"));
    assert!(wrong.is_empty(), "{wrong}");
}
