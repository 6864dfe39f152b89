//! What an owner asks of the handle that it is lent.

use demeanor::{Fsm, Owner, StateRef};

use crate::program::{Id, Verb, Wait};
use crate::told_panic::{Panicked, caught, panic_as_told};

/// Asks for something. Returns what has come of it, if that is known at once.
pub(crate) fn use_verb<T: Owner<Message: Clone + Send + Sync>>(
    verb: Verb,
    owner: &mut T,
    fsm: &mut Fsm<'_, T>,
    cx: &mut T::Context<'_>,
    to: impl Fn(Id) -> StateRef<T>,
    message: &T::Message,
) -> Option<Result<bool, Panicked>> {
    let done = match verb {
        Verb::ChangeAhead(id) => fsm.change_state_ahead(owner, to(id), cx),
        Verb::ChangeNow(id) => fsm.change_state_now(owner, to(id), cx),
        Verb::PushNow(id) => fsm.push_state_now(owner, to(id), cx),
        Verb::PopNow => fsm.pop_state_now(owner, cx),
        Verb::SendAhead => fsm.send_ahead(owner, message, cx),
        Verb::SendNow => fsm.send_now(owner, message, cx),
        Verb::TryChangeNow(id) => return Some(caught(|| fsm.change_state_now(owner, to(id), cx))),
        Verb::TrySendNow => return Some(caught(|| fsm.send_now(owner, message, cx))),
        Verb::CancelTo(id) => fsm.cancel(|pending| pending.target() == Some(&to(id))) > 0,
        Verb::CancelMessages => fsm.cancel(|pending| pending.message().is_some()) > 0,
        _ => {
            request(verb, fsm, to, message);
            return None;
        }
    };
    Some(Ok(done))
}

fn request<T: Owner<Message: Clone + Send + Sync>>(
    verb: Verb,
    fsm: &mut Fsm<'_, T>,
    to: impl Fn(Id) -> StateRef<T>,
    message: &T::Message,
) {
    match verb {
        Verb::Change(id) => fsm.change_state(to(id)),
        Verb::Replace(id) => fsm.replace_state(to(id)),
        Verb::Clear => fsm.clear_requests(),
        Verb::Stay => fsm.stay(),
        Verb::Ensure(id) => fsm.ensure_state(to(id)),
        Verb::Force(id) => fsm.force_state(to(id)),
        Verb::Revert => fsm.revert_state(),
        Verb::Push(id) => fsm.push_state(to(id)),
        Verb::Pop => fsm.pop_state(),
        Verb::Resume(id) => fsm.resume_state(to(id)),
        Verb::Send => fsm.send(message.clone()),
        Verb::ChangeAfter(wait, id) => fsm.change_state_after(wait.seconds(), to(id)),
        Verb::ChangeNext(id) => fsm.change_state_next(to(id)),
        Verb::SendAfter(wait) => fsm.send_after(wait.seconds(), message.clone()),
        Verb::SendEvery(wait) => fsm.send_every(wait.seconds(), message.clone()),
        Verb::PopAfter(wait) => fsm.pop_state_after(wait.seconds()),
        Verb::Sleep(Wait::ForEver) => fsm.sleep(),
        Verb::Sleep(wait) => fsm.sleep_for(wait.seconds()),
        Verb::Panic => panic_as_told(),
        _ => unreachable!("it acts within the call"),
    }
}
