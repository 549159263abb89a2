//! A chat-completions server that always says the same.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

/// The server, until the test is over.
pub(crate) struct Model {
    /// Its block of a configuration, as the model `m`.
    pub(crate) config: String,
    /// The last message it was told, each time; as JSON where it has several parts.
    pub(crate) told: Receiver<String>,
}

impl Model {
    /// Starts a model that answers with this text.
    pub(crate) fn saying(answer: &str) -> Model {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (tell, told) = channel();
        let answer = answer.to_owned();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let _test_is_over = tell.send(serve(&stream, &answer));
            }
        });
        let url = format!("http://127.0.0.1:{port}/v1");
        let config = format!("[models.m]\nprovider = 'openai'\nmodel = 'm'\nbase_url = '{url}'\nretries = 0\n");
        Model { config, told }
    }
}

fn serve(mut stream: &TcpStream, answer: &str) -> String {
    let mut reader = BufReader::new(stream);
    let head = reader.by_ref().lines().map(Result::unwrap).take_while(|line| !line.is_empty());
    let lengths = head.filter_map(|line| Some(line.to_lowercase().strip_prefix("content-length:")?.trim().to_owned()));
    let mut body = vec![0; lengths.last().unwrap().parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    let delta = json!({ "role": "assistant", "content": answer });
    let piece = json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": "stop" }] });
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    let _gone = write!(stream, "{head}data: {piece}\n\ndata: [DONE]\n\n");
    let content = &body["messages"].as_array().unwrap().last().unwrap()["content"];
    content.as_str().map_or_else(|| content.to_string(), str::to_owned)
}
