//! Rule 30, as plainly as it can be written, with members whose machines are as plain: states side by side, without guards.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::program::{Act, Callback, Deed, GAME, Id, Key, Program, Step};

/// What a run has led to.
pub(crate) const CORNERS: [&str; 19] = [
    "a panic",
    "a panic while a member has rejoined",
    "a telegram that was put off before a panic",
    "a telegram to an acting member",
    "a telegram within 64 others",
    "a turn within 64 others",
    "posted to a member that is gone",
    "two telegrams merged",
    "delivered within what is due",
    "rejoined",
    "rejoined in exit",
    "rejoined and changed",
    "rejoined twice",
    "dismissed while it is acting",
    "dismissed while it has rejoined",
    "another with the key of one that is acting",
    "its turn is skipped, it is acting",
    "removed while it is acting",
    "saved with telegrams put off",
];

struct Panicked;

type Outcome<R> = Result<R, Panicked>;

#[derive(Clone, Copy)]
struct Telegram {
    sender: Key,
    receiver: Key,
    word: u8,
}

#[derive(Clone, Copy)]
enum Then {
    Change(Id),
    Tell(u8),
}

#[derive(Clone, Copy)]
struct Timer {
    due: u64,
    /// The stay in a state that it belongs to.
    stay: u32,
    then: Then,
}

#[derive(Clone, Copy)]
enum Request {
    Change(Id),
    Push(Id),
    Pop,
    Tell(u8),
    After(Timer),
    Due(Timer),
    Sleep,
}

struct Suspended {
    state: Id,
    time: u64,
    timers: Vec<Timer>,
}

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "they have nothing to do with each other")]
struct Member {
    key: Key,
    state: Id,
    previous: Option<Id>,
    /// `None` until it is entered: its time counts from 0.
    entered_at: i64,
    stay: u32,
    last_stay: u32,
    stack: Vec<Suspended>,
    timers: Vec<Timer>,
    sleeps_until: Option<u64>,
    /// Until when a callback has asked to sleep.
    wanted: Option<u64>,
    is_due_to_sleep: bool,
    requests: VecDeque<Request>,
    carried_out: u32,
    changes: u32,
    /// Whether an `exit` is running.
    is_leaving: bool,
    /// Whether it has rejoined in an `exit`.
    is_lent_in_exit: bool,
    /// Whose stay the callback belongs to that is running.
    asking: u32,
    is_acting: bool,
    turns: u32,
    is_dismissed: bool,
    put_off: VecDeque<Telegram>,
}

#[derive(Default)]
struct Naive {
    program: Program,
    /// In the order of joining. `None`: it has left.
    members: Vec<Option<Member>>,
    by_key: BTreeMap<Key, usize>,
    /// What waits for the end of the outermost turn.
    after_turn: VecDeque<Telegram>,
    /// Delayed telegrams, by due time and number.
    queue: BTreeMap<(u64, u32), Telegram>,
    sent: u32,
    depth: u32,
    rejoined: u32,
    /// In quarters of a second.
    now: u64,
    count: u32,
    fuel: u32,
    lines: Vec<String>,
    corners: BTreeSet<&'static str>,
}

/// Runs the program and returns what happens, and which corners it has led to.
pub(crate) fn run(program: &Program) -> (Vec<String>, BTreeSet<&'static str>) {
    let mut naive = Naive { program: program.clone(), ..Naive::default() };
    for key in 0..program.members {
        naive.join(key, key % 3);
    }
    for step in &program.steps {
        naive.fuel = program.fuel;
        naive.lines.push(format!("{step:?}"));
        if naive.step(step).is_err() {
            naive.lines.push("panicked".into());
            naive.corners.insert("a panic");
            if naive.rejoined > 0 {
                naive.corners.insert("a panic while a member has rejoined");
            }
            if naive.members.iter().flatten().any(|member| !member.put_off.is_empty()) {
                naive.corners.insert("a telegram that was put off before a panic");
            }
            naive.rejoined = 0;
        }
        naive.look();
    }
    (naive.lines, naive.corners)
}

impl Naive {
    fn step(&mut self, step: &Step) -> Outcome<()> {
        match step {
            Step::Deed(deed) => self.perform(GAME, *deed),
            Step::Advance(by) => {
                self.now += u64::from(*by);
                Ok(())
            }
            Step::With(key, state, deed) => {
                let Some(&index) = self.by_key.get(key) else {
                    self.lines.push("unavailable".into());
                    return Ok(());
                };
                self.act(index, |naive| {
                    naive.begin(index);
                    naive.carry_out(index, Request::Change(*state))?;
                    naive.settle(index)?;
                    naive.perform(*key, *deed)
                })?;
                Ok(())
            }
            Step::SaveAndLoad => {
                if self.members.iter().flatten().any(|member| !member.put_off.is_empty()) || !self.after_turn.is_empty()
                {
                    self.corners.insert("saved with telegrams put off");
                }
                Ok(())
            }
        }
    }

    /// What can be seen from outside.
    fn look(&mut self) {
        let keys: Vec<_> = self.members.iter().flatten().filter(|member| !member.is_dismissed).collect();
        let keys = keys.iter().map(|member| {
            let acting = if member.is_acting { " acts" } else { "" };
            format!("{} in {}{acting}", member.key, member.state)
        });
        let queued: Vec<_> = self
            .queue
            .iter()
            .map(|((due, _), Telegram { sender, receiver, word })| format!("{due}: {word} {sender}>{receiver}"))
            .collect();
        self.lines.push(format!("{:?} {queued:?}", keys.collect::<Vec<_>>()));
    }

    #[expect(clippy::too_many_lines, reason = "a few lines for each deed")]
    fn perform(&mut self, by: Key, deed: Deed) -> Outcome<()> {
        match deed {
            Deed::Send(receiver, word) => {
                let delivery = self.deliver(Telegram { sender: by, receiver, word })?;
                self.lines.push(format!("sent: {delivery}"));
            }
            Deed::PassOn(word) => {
                let delivery = self.deliver(Telegram { sender: by, receiver: by.wrapping_add(1), word })?;
                self.lines.push(format!("sent: {delivery}"));
            }
            Deed::Post(receiver, word) => {
                self.after_turn.push_back(Telegram { sender: by, receiver, word });
                if self.depth == 0 {
                    self.deliver_after_turn()?;
                }
            }
            Deed::SendAfter(delay, receiver, word) => {
                let telegram = Telegram { sender: by, receiver, word };
                let delivery = match u64::try_from(delay) {
                    Ok(delay @ 1..) => {
                        self.send_at(self.now + delay, telegram);
                        "Delayed"
                    }
                    _ => self.deliver(telegram)?,
                };
                self.lines.push(format!("sent: {delivery}"));
            }
            Deed::UpdateOne(key) => {
                let is_done = match self.by_key.get(&key).copied() {
                    None => false,
                    Some(_) if self.depth >= 64 => {
                        self.corners.insert("a turn within 64 others");
                        false
                    }
                    Some(index) => self.act(index, |naive| naive.update_machine(index))?.is_some(),
                };
                self.lines.push(format!("updated: {is_done}"));
            }
            Deed::Update => {
                if self.depth >= 64 {
                    self.corners.insert("a turn within 64 others");
                    return Ok(());
                }
                for index in 0..self.members.len() {
                    // Who is dismissed is no member any more.
                    if self.members[index].as_ref().is_some_and(|member| !member.is_dismissed || member.is_acting) {
                        self.act(index, |naive| naive.update_machine(index))?;
                    }
                }
            }
            Deed::DeliverDue => {
                if self.depth > 0 {
                    self.corners.insert("delivered within what is due");
                }
                let (end, now, mut unknown) = (self.sent, self.now, 0);
                while let Some(when) = self.queue.keys().copied().find(|(due, number)| *due <= now && *number < end) {
                    let telegram = self.queue.remove(&when).expect("it is there");
                    unknown += u32::from(self.deliver(telegram)? == "UnknownReceiver");
                }
                self.lines.push(format!("{unknown} to nobody"));
            }
            Deed::Dismiss(key) => {
                let is_done = self.dismiss(key);
                self.lines.push(format!("dismissed: {is_done}"));
            }
            Deed::Remove(key) => {
                let is_done = match self.by_key.get(&key).copied() {
                    Some(index) => {
                        let is_here = self.member(index).turns == 0;
                        if !is_here {
                            self.corners.insert("removed while it is acting");
                        }
                        is_here && self.dismiss(key)
                    }
                    None => false,
                };
                self.lines.push(format!("removed: {is_done}"));
            }
            Deed::Replace(key, state) => {
                self.perform(by, Deed::Dismiss(key))?;
                self.perform(by, Deed::Spawn(key, state))?;
            }
            Deed::Spawn(key, state) => {
                let is_done = !self.by_key.contains_key(&key);
                if is_done {
                    if self.members.iter().flatten().any(|member| member.key == key) {
                        self.corners.insert("another with the key of one that is acting");
                    }
                    let index = self.join(key, state);
                    self.act(index, |naive| {
                        naive.begin(index);
                        let now = naive.now;
                        naive.enter(index, now)?;
                        naive.settle(index)
                    })?;
                }
                self.lines.push(format!("spawned: {is_done}"));
            }
            Deed::TakeBack(key) => self.queue.retain(|_, telegram| telegram.receiver != key),
            Deed::Look => self.look(),
            Deed::Panic => return Err(Panicked),
        }
        Ok(())
    }

    /// Two telegrams that are alike, and due at nearly the same time, may be one.
    fn send_at(&mut self, due: u64, telegram: Telegram) {
        if let Some(window) = self.program.merges_within {
            let Telegram { sender, receiver, word } = telegram;
            let is_alike = |((other, _), queued): (&(u64, u32), &Telegram)| {
                (queued.sender, queued.receiver, queued.word) == (sender, receiver, word)
                    && due.abs_diff(*other) < u64::from(window)
            };
            if self.queue.iter().any(is_alike) {
                self.corners.insert("two telegrams merged");
                return;
            }
        }
        self.queue.insert((due, self.sent), telegram);
        self.sent += 1;
    }

    fn join(&mut self, key: Key, state: Id) -> usize {
        self.by_key.insert(key, self.members.len());
        self.members.push(Some(Member { key, state, stay: 1, last_stay: 1, ..Member::default() }));
        self.members.len() - 1
    }

    fn dismiss(&mut self, key: Key) -> bool {
        let Some(index) = self.by_key.remove(&key) else { return false };
        let member = self.member(index);
        member.is_dismissed = true;
        member.put_off.clear();
        let (turns, is_acting) = (member.turns, member.is_acting);
        if turns == 0 {
            self.members[index] = None;
        } else if is_acting {
            self.corners.insert("dismissed while it is acting");
        } else {
            self.corners.insert("dismissed while it has rejoined");
        }
        true
    }

    fn member(&mut self, index: usize) -> &mut Member {
        self.members[index].as_mut().expect("it has not left")
    }

    /// *Delivery.*
    fn deliver(&mut self, telegram: Telegram) -> Outcome<&'static str> {
        let Some(&index) = self.by_key.get(&telegram.receiver) else { return Ok("UnknownReceiver") };
        if self.member(index).is_acting {
            self.corners.insert("a telegram to an acting member");
            self.member(index).put_off.push_back(telegram);
            return Ok("PutOff");
        }
        if self.depth >= 64 {
            self.corners.insert("a telegram within 64 others");
            self.after_turn.push_back(telegram);
            return Ok("PutOff");
        }
        let is_handled = self.act(index, |naive| naive.receive(index, telegram.word))?;
        Ok(if is_handled == Some(true) { "Handled" } else { "Declined" })
    }

    /// A turn, and what was put off until it is over.
    fn act<R>(&mut self, index: usize, act: impl FnOnce(&mut Self) -> Outcome<R>) -> Outcome<Option<R>> {
        if self.members[index].as_ref().is_some_and(|member| member.is_acting) {
            self.corners.insert("its turn is skipped, it is acting");
            return Ok(None);
        }
        let result = self.turn(index, act)?;
        self.deliver_put_off(index)?;
        if self.depth == 0 {
            self.deliver_after_turn()?;
        }
        Ok(Some(result))
    }

    fn turn<R>(&mut self, index: usize, act: impl FnOnce(&mut Self) -> Outcome<R>) -> Outcome<R> {
        let member = self.member(index);
        member.is_acting = true;
        member.turns += 1;
        self.depth += 1;
        let result = act(self);
        self.depth -= 1;
        let member = self.member(index);
        member.is_acting = false;
        member.turns -= 1;
        if result.is_err() {
            member.requests.clear();
            member.wanted = None;
            member.is_leaving = false;
        }
        if member.is_dismissed && member.turns == 0 {
            self.members[index] = None;
        }
        result
    }

    fn deliver_put_off(&mut self, index: usize) -> Outcome<()> {
        while let Some(telegram) = self.next_put_off(index) {
            self.turn(index, |naive| naive.receive(index, telegram.word))?;
        }
        Ok(())
    }

    fn next_put_off(&mut self, index: usize) -> Option<Telegram> {
        self.members[index].as_mut()?.put_off.pop_front()
    }

    /// *After the outermost turn.*
    fn deliver_after_turn(&mut self) -> Outcome<()> {
        while let Some(telegram) = self.after_turn.pop_front() {
            if let Some(&index) = self.by_key.get(&telegram.receiver) {
                self.turn(index, |naive| naive.receive(index, telegram.word))?;
                self.deliver_put_off(index)?;
            } else {
                self.corners.insert("posted to a member that is gone");
            }
        }
        Ok(())
    }

    /// *Rejoining.*
    fn rejoin(&mut self, index: usize, deeds: &[Deed]) -> Outcome<&'static str> {
        let key = self.member(index).key;
        match self.by_key.get(&key) {
            None => return Ok("Unknown"),
            Some(&other) if other != index => {
                return Ok(if self.member(other).is_acting { "AnotherOwner" } else { "NoCallback" });
            }
            Some(_) => {}
        }
        self.corners.insert("rejoined");
        if self.member(index).is_leaving {
            self.corners.insert("rejoined in exit");
        } else {
            self.carry_out_all(index)?;
        }
        if self.member(index).turns > 1 {
            self.corners.insert("rejoined twice");
        }
        let member = self.member(index);
        member.is_acting = false;
        let put_off = std::mem::take(&mut member.put_off);
        // There are some only in `exit`, which is within what asked for them.
        let requests = std::mem::take(&mut member.requests);
        let (leaving, lent, asking, carried_out, changes, due) = (
            member.is_leaving,
            member.is_lent_in_exit,
            member.asking,
            member.carried_out,
            member.changes,
            member.is_due_to_sleep,
        );
        member.is_lent_in_exit |= leaving;
        member.is_leaving = false;
        self.rejoined += 1;
        let mut result = Ok(());
        for deed in deeds {
            if self.spend() {
                result = self.perform(key, *deed);
            }
            if result.is_err() {
                break;
            }
        }
        let member = self.member(index);
        member.is_acting = true;
        member.requests = requests;
        let meanwhile = std::mem::replace(&mut member.put_off, put_off);
        member.put_off.extend(meanwhile);
        if member.is_dismissed {
            member.put_off.clear();
        }
        (member.is_leaving, member.is_lent_in_exit) = (leaving, lent);
        (member.asking, member.carried_out, member.is_due_to_sleep) = (asking, carried_out, due);
        if member.changes != changes {
            self.corners.insert("rejoined and changed");
        }
        result?;
        self.rejoined -= 1;
        Ok("Ok")
    }

    fn spend(&mut self) -> bool {
        let has_any = self.fuel > 0;
        self.fuel = self.fuel.saturating_sub(1);
        has_any
    }
}

/// The machine of one member.
impl Naive {
    /// An outermost callback begins.
    fn begin(&mut self, index: usize) {
        let member = self.member(index);
        member.requests.clear();
        member.carried_out = 0;
        member.wanted = None;
        member.is_due_to_sleep = false;
    }

    fn settle(&mut self, index: usize) -> Outcome<()> {
        self.carry_out_all(index)?;
        let member = self.member(index);
        if let Some(until) = member.wanted.take().filter(|_| member.is_due_to_sleep) {
            member.sleeps_until = Some(until);
        }
        Ok(())
    }

    fn update_machine(&mut self, index: usize) -> Outcome<()> {
        self.begin(index);
        let now = self.now;
        let member = self.member(index);
        let (mut due, left): (Vec<_>, Vec<_>) = member.timers.iter().partition(|timer| timer.due <= now);
        due.sort_by_key(|timer: &Timer| timer.due);
        member.timers = left;
        if !due.is_empty() || member.sleeps_until.is_some_and(|until| until <= now) {
            member.sleeps_until = None;
        }
        member.requests.extend(due.into_iter().map(Request::Due));
        self.settle(index)?;
        if self.member(index).sleeps_until.is_none() {
            self.begin(index);
            self.call(index, Callback::Update)?;
            self.settle(index)?;
        }
        Ok(())
    }

    fn receive(&mut self, index: usize, word: u8) -> Outcome<bool> {
        self.begin(index);
        let is_handled = self.hear(index, word)?;
        self.settle(index)?;
        Ok(is_handled)
    }

    fn hear(&mut self, index: usize, word: u8) -> Outcome<bool> {
        let is_handled = self.call(index, Callback::Message(word))?;
        if is_handled {
            self.member(index).sleeps_until = None;
        }
        self.carry_out_all(index)?;
        Ok(is_handled)
    }

    fn carry_out_all(&mut self, index: usize) -> Outcome<()> {
        while let Some(request) = self.member(index).requests.pop_front() {
            self.carry_out(index, request)?;
        }
        Ok(())
    }

    fn carry_out(&mut self, index: usize, request: Request) -> Outcome<bool> {
        let now = self.now;
        let member = self.member(index);
        let request = match request {
            Request::After(timer) => {
                if timer.stay == member.stay {
                    member.timers.push(Timer { due: now + timer.due, ..timer });
                }
                return Ok(true);
            }
            Request::Sleep => {
                member.is_due_to_sleep = true;
                return Ok(true);
            }
            Request::Due(Timer { then: Then::Change(to), .. }) => Request::Change(to),
            Request::Due(Timer { then: Then::Tell(word), .. }) => Request::Tell(word),
            other => other,
        };
        if member.carried_out == 64 {
            member.requests.clear();
            member.wanted = None;
            return Ok(false);
        }
        match request {
            Request::Tell(word) => {
                member.carried_out += 1;
                self.hear(index, word)
            }
            _ if member.is_lent_in_exit => Ok(false),
            Request::Change(to) => self.change(index, to),
            Request::Push(to) => self.push(index, to),
            Request::Pop => self.pop(index),
            Request::After(_) | Request::Due(_) | Request::Sleep => unreachable!("it has been carried out"),
        }
    }

    fn change(&mut self, index: usize, to: Id) -> Outcome<bool> {
        self.exit(index)?;
        self.leave(index);
        self.arrive(index, to);
        let now = self.now;
        self.enter_for(index, now)
    }

    fn push(&mut self, index: usize, to: Id) -> Outcome<bool> {
        if self.member(index).stack.len() == 64 {
            return Ok(false);
        }
        self.exit(index)?;
        let now = self.now;
        let member = self.member(index);
        let stay = member.stay;
        let running = member.timers.iter().filter(|timer| timer.stay == stay);
        let mut timers: Vec<_> = running.map(|timer| Timer { due: timer.due.saturating_sub(now), ..*timer }).collect();
        timers.extend(member.requests.iter().filter_map(|request| match request {
            Request::After(timer) if timer.stay == stay => Some(*timer),
            Request::Due(timer) if timer.stay == stay => Some(Timer { due: 0, ..*timer }),
            _ => None,
        }));
        let time = now.checked_add_signed(-member.entered_at).expect("the clock does not go back");
        member.stack.push(Suspended { state: member.state, time, timers });
        self.leave(index);
        self.arrive(index, to);
        self.enter_for(index, now)
    }

    fn pop(&mut self, index: usize) -> Outcome<bool> {
        if self.member(index).stack.is_empty() {
            return Ok(false);
        }
        self.exit(index)?;
        let now = self.now;
        self.leave(index);
        let member = self.member(index);
        let Suspended { state, time, timers } = member.stack.pop().expect("it is there");
        let stay = member.stay;
        member.timers.extend(timers.into_iter().map(|timer| Timer { due: now + timer.due, stay, ..timer }));
        self.arrive(index, state);
        self.enter_since(index, i64::try_from(now).expect("it is early") - i64::try_from(time).expect("it is early"))
    }

    fn exit(&mut self, index: usize) -> Outcome<()> {
        let member = self.member(index);
        member.previous = Some(member.state);
        member.is_leaving = true;
        self.call(index, Callback::Exit)?;
        self.member(index).is_leaving = false;
        Ok(())
    }

    /// The state is left: its timers end, and the machine is awake.
    fn leave(&mut self, index: usize) {
        let member = self.member(index);
        let stay = member.stay;
        member.timers.retain(|timer| timer.stay != stay);
        member.requests.retain(|request| match request {
            Request::After(timer) | Request::Due(timer) => timer.stay != stay,
            _ => true,
        });
        member.last_stay += 1;
        member.stay = member.last_stay;
        member.sleeps_until = None;
        member.wanted = None;
    }

    fn arrive(&mut self, index: usize, to: Id) {
        let member = self.member(index);
        member.carried_out += 1;
        member.changes += 1;
        member.state = to;
    }

    fn enter_for(&mut self, index: usize, now: u64) -> Outcome<bool> {
        self.enter_since(index, i64::try_from(now).expect("it is early"))
    }

    fn enter_since(&mut self, index: usize, since: i64) -> Outcome<bool> {
        let member = self.member(index);
        member.entered_at = since;
        let changes = member.changes;
        self.call(index, Callback::Enter)?;
        let member = self.member(index);
        if member.changes == changes {
            let line = format!("{} is in {}", member.key, member.state);
            self.lines.push(line);
        }
        Ok(true)
    }

    /// As `start` does.
    fn enter(&mut self, index: usize, now: u64) -> Outcome<()> {
        self.member(index).entered_at = i64::try_from(now).expect("it is early");
        self.call(index, Callback::Enter)?;
        Ok(())
    }

    fn call(&mut self, index: usize, callback: Callback) -> Outcome<bool> {
        let now = i64::try_from(self.now).expect("it is early");
        let member = self.member(index);
        let (key, state, previous) = (member.key, member.state, member.previous);
        let time = now - member.entered_at;
        let asked_before = std::mem::replace(&mut member.asking, member.stay);
        self.lines.push(format!("{key} {state} {callback:?} after {previous:?} for {time}"));
        let count = self.count;
        self.count += 1;
        for act in self.program.acts(key, state, callback, count) {
            if self.spend() {
                self.do_act(index, act)?;
            }
        }
        self.member(index).asking = asked_before;
        Ok(match callback {
            Callback::Message(word) => self.program.handles(key, state, word),
            _ => false,
        })
    }

    fn do_act(&mut self, index: usize, act: Act) -> Outcome<()> {
        let now = self.now;
        let member = self.member(index);
        let stay = member.asking;
        let request = match act {
            Act::Do(deed) => {
                let key = member.key;
                return self.perform(key, deed);
            }
            Act::Rejoin(deeds) => {
                let rejoined = self.rejoin(index, &deeds)?;
                self.lines.push(format!("rejoined: {rejoined}"));
                return Ok(());
            }
            Act::ChangeNow(to) => return self.now(index, Request::Change(to)),
            Act::TellNow(word) => return self.now(index, Request::Tell(word)),
            Act::Change(to) => Request::Change(to),
            Act::Push(to) => Request::Push(to),
            Act::Pop => Request::Pop,
            Act::Tell(word) => Request::Tell(word),
            Act::ChangeAfter(after, to) => Request::After(Timer { due: after.into(), stay, then: Then::Change(to) }),
            Act::TellAfter(after, word) => Request::After(Timer { due: after.into(), stay, then: Then::Tell(word) }),
            Act::SleepFor(time) => {
                if !member.is_leaving {
                    member.wanted = Some(now + u64::from(time));
                }
                Request::Sleep
            }
        };
        // What is asked for in `exit` is refused.
        if !member.is_leaving {
            member.requests.push_back(request);
        }
        Ok(())
    }

    fn now(&mut self, index: usize, request: Request) -> Outcome<()> {
        let is_done = if self.member(index).is_leaving {
            false
        } else {
            self.carry_out_all(index)?;
            let is_done = self.carry_out(index, request)?;
            self.carry_out_all(index)?;
            is_done
        };
        self.lines.push(format!("now: {is_done}"));
        Ok(())
    }
}
