//! The tool itself, over its standard input and output.

use std::io::{BufReader, Write as _};
use std::process::{Child, Command, Stdio};

use lsp_server::{Message, Notification, Request, RequestId};
use serde_json::{Value, json};

fn server(arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_demeanor"));
    command.arg("lsp").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

fn request(id: i32, method: &str, params: Value) -> Message {
    Message::Request(Request::new(RequestId::from(id), method.into(), params))
}

fn notification(method: &str, params: Value) -> Message {
    Message::Notification(Notification::new(method.into(), params))
}

#[test]
fn the_tool_serves_over_its_standard_input_and_output() {
    let mut process = server(&["--stdio", "--vocabulary", "tests/files/words.json"]);
    let mut input = process.stdin.take().unwrap();
    let mut output = BufReader::new(process.stdout.take().unwrap());
    let text = "initial = 'a'\n[states.a]\nexits = [{ to = 'a', when = 'helth < 3' }]\n";
    let document = json!({ "uri": "untitled:new", "languageId": "toml", "version": 1, "text": text });
    for message in [
        request(1, "initialize", json!({ "capabilities": {} })),
        notification("initialized", json!({})),
        notification("textDocument/didOpen", json!({ "textDocument": document })),
    ] {
        message.write(&mut input).unwrap();
    }
    let Some(Message::Response(agreed)) = Message::read(&mut output).unwrap() else { panic!("it answers first") };
    assert_eq!(agreed.response_result.unwrap()["serverInfo"]["name"], "demeanor");
    let Some(Message::Notification(told)) = Message::read(&mut output).unwrap() else {
        panic!("it says what is wrong")
    };
    assert_eq!(
        told.params,
        json!({
            "uri": "untitled:new",
            "version": 1,
            "diagnostics": [{
                "range": { "start": { "line": 2, "character": 29 }, "end": { "line": 2, "character": 34 } },
                "severity": 1,
                "code": "unknown-value",
                "source": "demeanor",
                "message": "unknown value `helth`\ndid you mean `health`?",
            }],
        })
    );
    request(2, "shutdown", json!(null)).write(&mut input).unwrap();
    let Some(Message::Response(over)) = Message::read(&mut output).unwrap() else { panic!("it answers") };
    assert_eq!(over.response_result.unwrap(), json!(null));
    notification("exit", json!(null)).write(&mut input).unwrap();
    assert_eq!(process.wait().unwrap().code(), Some(0));
}

#[test]
fn the_tool_ends_when_the_editor_goes_away() {
    let mut process = server(&[]);
    let mut input = process.stdin.take().unwrap();
    request(1, "initialize", json!({ "capabilities": {} })).write(&mut input).unwrap();
    notification("initialized", json!({})).write(&mut input).unwrap();
    input.flush().unwrap();
    drop(input);
    assert_eq!(process.wait().unwrap().code(), Some(0));
}

#[test]
fn what_an_editor_asks_before_it_is_ready_is_refused() {
    let mut process = server(&[]);
    let mut input = process.stdin.take().unwrap();
    let mut output = BufReader::new(process.stdout.take().unwrap());
    let early = |id| [request(id, "textDocument/hover", json!({})), notification("textDocument/didOpen", json!({}))];
    let messages = [
        &early(1)[..],
        &[request(2, "initialize", json!({ "capabilities": {} }))],
        &early(3),
        &[notification("initialized", json!({})), request(4, "shutdown", json!(null))],
        &[notification("exit", json!(null))],
    ];
    messages.concat().into_iter().for_each(|message| message.write(&mut input).unwrap());
    let mut answers = Vec::new();
    while let Some(Message::Response(answer)) = Message::read(&mut output).unwrap() {
        answers.push((answer.id, answer.response_result.map(drop).map_err(|error| (error.code, error.message))));
    }
    let why = "`textDocument/hover` is too early: the server waits until it is initialized";
    let refused = || Err((-32002, why.to_owned()));
    let expected = [(1, refused()), (2, Ok(())), (3, refused()), (4, Ok(()))];
    assert_eq!(answers, expected.map(|(id, answer)| (RequestId::from(id), answer)));
    assert_eq!(process.wait().unwrap().code(), Some(0));
}

#[test]
fn an_editor_that_ends_before_it_is_ready_has_left() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_demeanor"));
    let piped = command.arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = piped.spawn().unwrap();
    notification("exit", json!(null)).write(&mut process.stdin.take().unwrap()).unwrap();
    let output = process.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("the editor has left without a shutdown"), "{said}");
}

#[test]
fn between_its_last_words_an_editor_may_say_anything() {
    let mut process = server(&[]);
    let mut input = process.stdin.take().unwrap();
    let mut output = BufReader::new(process.stdout.take().unwrap());
    request(1, "initialize", json!({ "capabilities": {} })).write(&mut input).unwrap();
    notification("initialized", json!({})).write(&mut input).unwrap();
    request(2, "shutdown", json!(null)).write(&mut input).unwrap();
    request(3, "textDocument/hover", json!({})).write(&mut input).unwrap();
    request(4, "shutdown", json!(null)).write(&mut input).unwrap();
    notification("exit", json!(null)).write(&mut input).unwrap();
    let mut answers = Vec::new();
    while let Some(Message::Response(answer)) = Message::read(&mut output).unwrap() {
        answers.push(answer.response_result.map_err(|error| error.message));
    }
    let refused = Err("the server has been told to shut down".to_owned());
    assert_eq!(answers.split_off(1), [Ok(json!(null)), refused, Ok(json!(null))]);
    assert_eq!(process.wait().unwrap().code(), Some(0));
}

#[test]
fn what_is_no_message_is_an_error_that_ends_the_tool() {
    let begun = {
        let mut bytes = Vec::new();
        request(1, "initialize", json!({ "capabilities": {} })).write(&mut bytes).unwrap();
        notification("initialized", json!({})).write(&mut bytes).unwrap();
        bytes
    };
    let deep = format!("{{\"method\":\"a\",\"params\":{}", "[".repeat(1_000_000));
    for (bytes, why) in [
        ("Content-Length: 18446744073709551615\r\n\r\n{}".to_owned(), "a Content-Length of more than 64000000 bytes"),
        ("Content-Length: 9223372036854775808\r\n\r\n{}".to_owned(), "a Content-Length of more than 64000000 bytes"),
        ("Content-Length: 64000001\r\n\r\n{}".to_owned(), "a Content-Length of more than 64000000 bytes"),
        ("Content-Length: -1\r\n\r\n{}".to_owned(), "a Content-Length that is not a number: -1"),
        ("a".repeat(1_000_000), "the header of a message is longer than 4000 bytes"),
        ("Content-Length: 100\r\n\r\n{}".to_owned(), "the input ends after 2 of the 100 bytes of a message"),
        (format!("Content-Length: {}\r\n\r\n{deep}", deep.len()), "not a message: recursion limit exceeded"),
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), "a line of a message's header is not `Name: value`"),
    ] {
        for before in [&b""[..], &begun] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_demeanor"));
            let piped = command.arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut process = piped.spawn().unwrap();
            let mut input = process.stdin.take().unwrap();
            // The tool may end before it has read everything.
            let _ = input.write_all(before).and_then(|()| input.write_all(bytes.as_bytes()));
            drop(input);
            let output = process.wait_with_output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(said.contains(&format!("the editor does not keep to the protocol: {why}")), "{said}");
            assert!(!said.contains("panicked"), "{said}");
            assert_eq!(output.status.code(), Some(2), "{why}");
        }
    }
}
