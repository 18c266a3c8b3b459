//! Users, and how they prove who they are.

use std::io;
use std::path::Path;
use std::sync::PoisonError;

use kube::config::{KubeConfigOptions, Kubeconfig};
use serde_json::json;

use super::{RealServer, ServerError};

/// A user as the server knows it: by a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The name, as role bindings have it.
    pub name: String,
    /// A group the user is in; `system:masters` may everything.
    pub group: Option<String>,
    /// What proves it; any text without commas and spaces.
    pub token: String,
}

impl User {
    /// Somebody who may everything.
    pub fn admin() -> Self {
        Self {
            group: Some("system:masters".into()),
            ..Self::new("admin")
        }
    }

    /// Somebody who may nothing until it is [allowed](RealServer::allow).
    pub fn nobody() -> Self {
        Self::new("nobody")
    }

    /// A user in no group, with a token of its own.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            group: None,
            token: format!("{name}-token"),
        }
    }
}

/// A client certificate and its key, both in PEM.
#[derive(Clone)]
pub struct Certificate {
    /// The certificate.
    pub certificate: String,
    /// Its private key.
    pub key: String,
}

impl RealServer {
    /// A kubeconfig with this user's token, and the server's authority.
    pub fn kubeconfig_of(&self, user: &User) -> Kubeconfig {
        self.kubeconfig_with(&user.name, json!({"token": user.token}))
    }

    /// A kubeconfig whose `user` is as given, such as `{"exec": …}` or `{"client-certificate-data": …}`.
    ///
    /// # Panics
    ///
    /// When `user` has members that no kubeconfig has, of the wrong type.
    pub fn kubeconfig_with(&self, name: &str, user: serde_json::Value) -> Kubeconfig {
        kubeconfig(&self.url(), self.folder(), name, user)
    }

    /// The configuration of a client with this user's token.
    ///
    /// # Errors
    ///
    /// When the authority's certificate cannot be read.
    pub async fn config(&self, user: &User) -> Result<kube::Config, ServerError> {
        config(self.kubeconfig_of(user)).await
    }

    /// A client with this user's token.
    ///
    /// # Errors
    ///
    /// As [`config`](Self::config).
    pub async fn client(&self, user: &User) -> Result<kube::Client, ServerError> {
        kube::Client::try_from(self.config(user).await?).map_err(ServerError::client)
    }

    /// A certificate that the server takes for this user, at once and for as long as the server lives.
    pub fn certificate(&self, user: &str, group: Option<&str>) -> Certificate {
        self.authority.client(user, group)
    }

    /// Knows this user's token from the next start of the API server on; also in the [kubeconfig](Self::kubeconfig).
    ///
    /// # Errors
    ///
    /// When the files cannot be written.
    pub fn admit(&self, user: User) -> Result<(), ServerError> {
        self.change_users(|users| {
            users.retain(|other| other.name != user.name);
            users.push(user);
        })
    }

    /// Answers this user's token with 401 from the next start of the API server on, until it is admitted again.
    ///
    /// # Errors
    ///
    /// When the files cannot be written.
    pub fn dismiss(&self, name: &str) -> Result<(), ServerError> {
        self.change_users(|users| users.retain(|user| user.name != name))
    }

    fn change_users(&self, change: impl FnOnce(&mut Vec<User>)) -> Result<(), ServerError> {
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut users);
        write_tokens(self.folder(), &users)?;
        drop(users);
        self.write_kubeconfig()
    }
}

pub(super) fn kubeconfig(url: &str, folder: &Path, name: &str, user: serde_json::Value) -> Kubeconfig {
    let authority = folder.join("ca.crt");
    let kubeconfig = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": name,
        "clusters": [{"name": "real", "cluster": {"server": url, "certificate-authority": authority}}],
        "users": [{"name": name, "user": user}],
        "contexts": [{"name": name, "context": {"cluster": "real", "user": name, "namespace": "default"}}],
    });
    serde_json::from_value(kubeconfig).expect("a kubeconfig")
}

async fn config(kubeconfig: Kubeconfig) -> Result<kube::Config, ServerError> {
    let options = KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &options).await;
    config.map_err(ServerError::client)
}

/// A client of `admin`.
pub(super) async fn admin(url: &str, folder: &Path) -> Result<kube::Client, ServerError> {
    let admin = User::admin();
    let config = config(kubeconfig(
        url,
        folder,
        &admin.name,
        json!({"token": admin.token}),
    ))
    .await?;
    kube::Client::try_from(config).map_err(ServerError::client)
}

pub(super) fn write_tokens(folder: &Path, users: &[User]) -> io::Result<()> {
    let lines = users.iter().map(|User { name, group, token }| {
        let group = group.as_deref().unwrap_or("");
        format!("{token},{name},uid-of-{name},{group}\n")
    });
    std::fs::write(folder.join("tokens.csv"), lines.collect::<String>())
}
