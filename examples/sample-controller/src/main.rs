//! The program: `controller` runs the controller, `controller crd` prints its resource definition.

use std::io::Write as _;
use tracing_subscriber::EnvFilter;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    if std::env::args().nth(1).as_deref() == Some("crd") {
        let definition = serde_json::to_string_pretty(&controller::definition())?;
        return Ok(writeln!(std::io::stdout(), "{definition}")?);
    }
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).init();
    let client = kube::Client::try_default().await?;
    let options = controller::Options::from_env()?;
    Ok(controller::program(client, options)?.run().await?)
}
