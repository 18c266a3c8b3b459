//! `completion`, and what kubectl asks for.

use crate::process::{Running, run};
use conformance::cluster::Cluster;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

/// The candidates and the directive for these words after `kubectl informer`.
async fn candidates(words: &[&str]) -> (Vec<String>, String) {
    let args = [&["__complete", "--"], words].concat();
    let ended = Running::start_with(&args).end().await;
    assert_eq!(ended.code, Some(0), "{words:?}: {ended:?}");
    let mut lines: Vec<_> = ended.out.lines().map(ToOwned::to_owned).collect();
    let directive = lines.pop().unwrap();
    let words = lines
        .iter()
        .map(|line| line.split('\t').next().unwrap().to_owned());
    (words.collect(), directive)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_shell_gets_a_script() {
    for (shell, expected) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef kubectl-informer"),
        ("fish", "complete -c kubectl-informer"),
        ("powershell", "Register-ArgumentCompleter"),
        ("kubectl", "exec kubectl informer __complete -- \"$@\""),
    ] {
        let ended = run(&format!("completion {shell}")).await;
        assert_eq!((ended.code, &*ended.err), (Some(0), ""), "{shell}");
        assert!(ended.out.contains(expected), "{shell}: {}", ended.out);
        assert!(!ended.out.contains('\u{1b}'), "{shell}");
    }
    let ended = run("completion").await;
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(
        ended.err.contains("kubectl|bash|zsh|fish|powershell"),
        "{ended:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_gets_commands_options_and_values() {
    for (words, expected) in [
        (&["wa"][..], &["watch"][..]),
        (&["watch", "--unt"], &["--until"]),
        (
            &["watch", "pods", "--until", ""],
            &["condition=", "jsonpath=", "create", "delete"],
        ),
        (
            &["watch", "pods", "--until=c"],
            &["--until=condition=", "--until=create"],
        ),
        (&["watch", "pods", "--color", ""], &["auto", "always", "never"]),
        (&["watch", "pods", "--color=al"], &["--color=always"]),
        (&["watch", "pods", "--diff=a"], &["--diff=all"]),
        (&["measure", "--form", "p"], &["packed"]),
        (&["measure", "--form", "packed,m"], &["packed,metadata"]),
        (
            &["measure", "--form=packed,"],
            &["--form=packed,typed", "--form=packed,metadata"],
        ),
        (&["completion", "ku"], &["kubectl"]),
        (&["watch", "-v", "--show-m"], &["--show-managed-fields"]),
        (&["top", "--sort", "l"], &["lag"]),
        (&["advise", "-o", "h"], &["html"]),
        (&["watch", "pods", "-o", "j"], &["json", "jsonpath="]),
        (&["watch", "pods", "--output=cus"], &["--output=custom-columns="]),
    ] {
        let (found, directive) = candidates(words).await;
        assert_eq!(
            (&*found, &*directive),
            (
                &expected.iter().map(|word| word.to_string()).collect::<Vec<_>>()[..],
                ":4"
            )
        );
    }
    let (all, _) = candidates(&[""]).await;
    assert!(
        all.contains(&"watch".into()) && !all.contains(&"__complete".into()),
        "{all:?}"
    );
    // A file, which the shell completes.
    for words in [&["watch", "--kubeconfig", ""][..], &["show", ""], &["replay", ""]] {
        assert_eq!(candidates(words).await, (vec![], ":0".into()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn resources_are_those_of_the_server() {
    let cluster = Cluster::start().await;
    let at = cluster.arguments();
    let at: Vec<_> = at.split(' ').collect();
    for (command, incomplete, expected) in [
        ("watch", "deploy", "deployments.apps"),
        ("watch", "nodes,confi", "nodes,configmaps"),
        ("measure", "confi", "configmaps"),
        ("advise", "confi", "configmaps"),
        ("top", "confi", "configmaps"),
    ] {
        let words = [&[command][..], &at, &[incomplete]].concat();
        let (found, _) = candidates(&words).await;
        assert_eq!(found, [expected], "{words:?}");
    }
    let shop = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
    cluster.create(shop).await;
    for name in ["web-0", "web-1"] {
        cluster.create(crate::config_map("shop", name, "x")).await;
    }
    for (words, expected) in [
        (&["record", "-n", "shop", "confi"][..], &["configmaps"][..]),
        (&["watch", "cm", "-n", "sho"], &["shop"]),
        (&["watch", "--namespace=sho"], &["--namespace=shop"]),
        (&["top", "-n", "sho"], &["shop"]),
        (&["watch", "-n", "shop", "cm", "we"], &["web-0", "web-1"]),
        (&["-n", "shop", "watch", "cm", "web-0", "we"], &["web-1"]),
        (&["record", "-n", "shop", "cm/web-1"], &["cm/web-1"]),
        (&["watch", "-n", "shop", "cm,pods", ""], &[]),
    ] {
        let (last, before) = words.split_last().unwrap();
        let words = [before, &at, &[last]].concat();
        // The option whose value is completed is the last one.
        let words = match before.last() {
            Some(option) if option.starts_with('-') => {
                [&[before[0]][..], &at, &before[1..], &[last]].concat()
            }
            _ => words,
        };
        let (found, _) = candidates(&words).await;
        assert_eq!(found, expected, "{words:?}");
    }
    let nowhere = ["watch", "--server", "http://127.0.0.1:1", "po"];
    assert_eq!(candidates(&nowhere).await, (vec![], ":4".into()));
}

#[tokio::test]
async fn contexts_are_those_of_the_kubeconfig() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    let config = "{contexts: [{name: one, context: {cluster: c, user: u}}, {name: two, context: {cluster: c, user: u}}],
        clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}], users: [{name: u, user: {}}], current-context: one}";
    std::fs::write(&path, config).unwrap();
    let file = path.display().to_string();
    for (words, expected) in [
        (&["--context", ""][..], &["one", "two"][..]),
        (&["--context=t"], &["--context=two"]),
        (&["--cluster", ""], &["c"]),
        (&["--user", ""], &["u"]),
    ] {
        let words = [&["watch", "--kubeconfig", &file][..], words].concat();
        let expected = expected.iter().map(ToString::to_string).collect();
        assert_eq!(candidates(&words).await, (expected, ":4".into()));
    }
}

/// As kubectl runs it: by its name on the PATH.
#[tokio::test(flavor = "multi_thread")]
async fn the_script_of_kubectl_asks_the_plugin() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    };
    // kubectl runs a plugin with the words after its name.
    let plugin = env!("CARGO_BIN_EXE_kubectl-informer");
    write("kubectl", &format!("#!/bin/sh\nshift\nexec {plugin} \"$@\"\n"));
    let script = write(
        "kubectl_complete-informer",
        &(run("completion kubectl").await.out + "\n"),
    );
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let asked = tokio::process::Command::new(script)
        .args(["watch", "--diff=c"])
        .env("PATH", path)
        .output();
    let asked = asked.await.unwrap();
    let out = String::from_utf8(asked.stdout).unwrap();
    assert!(
        out.starts_with("--diff=content") && out.ends_with(":4\n"),
        "{out:?} {asked:?}",
        asked = asked.status
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("man1");
    let ended = run(&format!("man {}", folder.display())).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for (page, expected) in [
        ("kubectl-informer.1", ".SH \"EXIT STATUS\"\n"),
        ("kubectl-informer-watch.1", ".SH EXAMPLES\n"),
        ("kubectl-informer-watch.1", ".SH \"EXIT STATUS\"\n"),
        ("kubectl-informer-top.1", ".SH KEYS\n"),
        ("kubectl-informer-advise.1", "sample"),
        ("kubectl-informer-top.1", "filter"),
        ("kubectl-informer-replay.1", "speed"),
        ("kubectl-informer-completion.1", "kubectl_complete"),
    ] {
        let page = std::fs::read_to_string(folder.join(page)).unwrap();
        assert!(page.contains(expected) && !page.contains("EXTRA"), "{page}");
    }
}
