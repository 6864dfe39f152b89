//! `demeanor lsp`: a language server, with which an editor shows the mistakes in a definition while it is written, completes
//! names in it, and finds and renames its states.

mod completion;
mod condition;
mod diagnostics;
mod documents;
mod fix;
mod goto;
mod hover;
mod outline;
mod params;
mod place;
mod position;
mod schema;
mod server;
mod transport;

use std::path::Path;

use demeanor::definition::Words;
use lsp_server::Connection;

use crate::{Exit, Outcome, written};
use server::Server;
use transport::Transport;

/// Serves an editor over a connection, until the editor ends it or disconnects.
///
/// `words` are the words of the game, unless the editor names a file of words. Without either, the server searches for a file
/// `vocabulary.json` beside each definition, and in the folders around it.
///
/// # Errors
///
/// When the editor violates the protocol, or the connection breaks.
///
/// # Examples
///
/// ```
/// use lsp_server::{Connection, Message, Notification, Request, RequestId};
/// use serde_json::json;
///
/// let (server, editor) = Connection::memory();
/// let serving = std::thread::spawn(move || demeanor_cli::serve(&server, None));
/// let ask = |id: i32, method: &str, params| {
///     editor.sender.send(Message::Request(Request::new(RequestId::from(id), method.into(), params)))
/// };
/// let tell = |method: &str| editor.sender.send(Message::Notification(Notification::new(method.into(), json!({}))));
/// ask(1, "initialize", json!({ "capabilities": {} }))?;
/// let Message::Response(answer) = editor.receiver.recv()? else { panic!("it answers") };
/// assert_eq!(answer.response_result.unwrap()["capabilities"]["positionEncoding"], "utf-16");
/// tell("initialized")?;
/// ask(2, "shutdown", json!(null))?;
/// tell("exit")?;
/// assert_eq!(serving.join().unwrap(), Ok(()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn serve(connection: &Connection, words: Option<Words>) -> Result<(), String> {
    Server::start(connection, words, None)?.run()
}

/// Serves an editor over standard input and output.
pub(crate) fn lsp(words: Option<Words>, file: Option<&Path>) -> Outcome {
    let (connection, transport) = Transport::start();
    let served = Server::start(&connection, words, file).and_then(Server::run);
    drop(connection);
    if let Some(why) = transport.mistake() {
        return Err(format!("the editor does not keep to the protocol: {why}"));
    }
    served?;
    written(transport.join())?;
    Ok(Exit::Fine)
}
