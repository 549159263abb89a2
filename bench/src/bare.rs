//! The model calls of a three-task run and nothing else: as plain HTTP, and
//! through the model seam.

use anyhow::bail;
use consort_models::openai::OpenAi;
use consort_models::{Ask, Model, Piece};
use futures::StreamExt;
use reqwest::Client;
use reqwest::header::CONTENT_TYPE;

/// Posts each body and reads the whole answer to it.
pub(crate) async fn post(client: &Client, url: &str, bodies: &[Vec<u8>]) -> anyhow::Result<()> {
    for body in bodies {
        let request = client.post(url).header(CONTENT_TYPE, "application/json").body(body.clone());
        request.send().await?.error_for_status()?.bytes().await?;
    }
    Ok(())
}

/// Sends each request and reads the answer to its end.
pub(crate) async fn ask(model: &OpenAi, asks: &[Ask]) -> anyhow::Result<()> {
    for ask in asks {
        let mut pieces = model.stream(ask.clone());
        let mut done = false;
        while let Some(piece) = pieces.next().await {
            done = matches!(piece?, Piece::Done(..));
        }
        if !done {
            bail!("an answer was cut off");
        }
    }
    Ok(())
}
