//! A chat-completions server that always says the same, or calls a tool first.

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
        let answer = answer.to_owned();
        Model::answering(move |_last| said(&answer))
    }

    /// Starts a model that calls a tool once, and answers with this text when it has its result.
    pub(crate) fn calling(tool: &str, args: &Value, answer: &str) -> Model {
        let function = json!({ "name": tool, "arguments": args.to_string() });
        let calls = json!([{ "index": 0, "id": "call-1", "type": "function", "function": function }]);
        let call = piece(&json!({ "role": "assistant", "tool_calls": calls }), "tool_calls");
        let answer = answer.to_owned();
        Model::answering(move |last| if last["role"] == "tool" { said(&answer) } else { call.clone() })
    }

    /// Starts a model whose answer depends on the last message.
    fn answering(answer: impl Fn(&Value) -> Value + Send + 'static) -> Model {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (tell, told) = channel();
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

fn said(answer: &str) -> Value {
    piece(&json!({ "role": "assistant", "content": answer }), "stop")
}

fn piece(delta: &Value, finish_reason: &str) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": finish_reason }] })
}

fn serve(mut stream: &TcpStream, answer: &impl Fn(&Value) -> Value) -> String {
    let mut reader = BufReader::new(stream);
    let head = reader.by_ref().lines().map(Result::unwrap).take_while(|line| !line.is_empty());
    let lengths = head.filter_map(|line| Some(line.to_lowercase().strip_prefix("content-length:")?.trim().to_owned()));
    let mut body = vec![0; lengths.last().unwrap().parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    let last = body["messages"].as_array().unwrap().last().unwrap();
    let piece = answer(last);
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    let _gone = write!(stream, "{head}data: {piece}\n\ndata: [DONE]\n\n");
    let content = &last["content"];
    content.as_str().map_or_else(|| content.to_string(), str::to_owned)
}
