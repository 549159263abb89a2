//! Plays the WebSocket blocks of a page: `> ` is sent, `< ` must arrive, with any other frames of the server in
//! between.

use std::time::Duration;

use futures::{SinkExt, StreamExt};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::page::{Block, Page, matches};
use super::shell::Shell;

type Socket = WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>;

/// Longer than anything here takes; a test that waits for it has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// Sends the frames of a block, and waits for those that it shows.
pub(crate) fn talk(shell: &Shell, page: &Page, block: &Block) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (mut socket, _) = connect_async(format!("ws://{}/ws", shell.server())).await.unwrap();
        for (index, line) in block.text.lines().enumerate() {
            let place = page.place(block.line + index + 1);
            match line.split_at(2) {
                ("> ", frame) => socket.send(Message::text(frame.to_owned())).await.unwrap(),
                ("< ", frame) => until(&mut socket, frame, &place).await,
                _ => panic!("{place}: a line begins with `> ` or `< `"),
            }
        }
    });
}

async fn until(socket: &mut Socket, expected: &str, place: &str) {
    let mut others = Vec::new();
    loop {
        let Ok(Some(Ok(frame))) = tokio::time::timeout(PATIENCE, socket.next()).await else {
            panic!("{place}: never came: {expected}\nbut\n{}", others.join("\n"));
        };
        let Message::Text(frame) = frame else { continue };
        if matches(&format!("{expected}\n"), &frame) {
            return;
        }
        others.push(frame.to_string());
    }
}
