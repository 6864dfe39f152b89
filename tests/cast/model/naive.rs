//! Rule 30 in its simplest form. The machines of the members follow the simple rules of one machine; their states are flat and
//! have no guards.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::{Deref, DerefMut};

use super::program::{Act, Callback, Deed, GAME, Id, Key, Program, Step};
use super::rules::program::{End, Guard, StateRow, Verb, Wait};
use super::rules::regions::Regions as _;
use super::rules::{self, Change, Machine, Offering, Outcome, Panicked, Request, Rules, Then};

/// The special cases that a run has reached.
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

#[derive(Clone, Copy)]
struct Telegram {
    sender: Key,
    receiver: Key,
    word: u8,
}

#[derive(Default)]
struct Member {
    key: Key,
    machine: Machine<u8>,
    is_acting: bool,
    turns: u32,
    is_dismissed: bool,
    put_off: VecDeque<Telegram>,
}

#[derive(Default)]
struct Naive {
    program: Program,
    /// The members in the order of joining. `None` if the member has left.
    members: Vec<Option<Member>>,
    by_key: BTreeMap<Key, usize>,
    /// The member whose machine the rules are applied to.
    in_hand: usize,
    /// The row of every state.
    row: StateRow,
    /// The telegrams that wait for the end of the outermost turn.
    after_turn: VecDeque<Telegram>,
    /// Delayed telegrams, by due time and number.
    queue: BTreeMap<(i64, u32), Telegram>,
    sent: u32,
    depth: u32,
    rejoined: u32,
    /// The time in quarters of a second.
    now: i64,
    count: u32,
    fuel: u32,
    lines: Vec<String>,
    corners: BTreeSet<&'static str>,
}

/// Runs the program. Returns its events and the special cases that it has reached.
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
            Step::Deed(deed) => self.do_deed(GAME, *deed),
            Step::Advance(by) => {
                self.now += i64::from(*by);
                Ok(())
            }
            Step::With(key, state, deed) => {
                let Some(&index) = self.by_key.get(key) else {
                    self.lines.push("unavailable".into());
                    return Ok(());
                };
                self.act(index, |naive| {
                    naive.begin();
                    naive.carry_out(Request::Verb(Verb::Change(*state)))?;
                    naive.settle()?;
                    naive.do_deed(*key, *deed)
                })?;
                Ok(())
            }
            Step::SaveAndLoad => {
                if self.members.iter().flatten().any(|member| !member.put_off.is_empty()) || !self.after_turn.is_empty()
                {
                    self.reached("saved with telegrams put off");
                }
                Ok(())
            }
        }
    }

    /// Records everything that can be queried from outside.
    fn look(&mut self) {
        let keys: Vec<_> = self.members.iter().flatten().filter(|member| !member.is_dismissed).collect();
        let keys = keys.iter().map(|member| {
            let acting = if member.is_acting { " acts" } else { "" };
            format!("{} in {}{acting}", member.key, state_of(&member.machine))
        });
        let queued: Vec<_> = self
            .queue
            .iter()
            .map(|((due, _), Telegram { sender, receiver, word })| format!("{due}: {word} {sender}>{receiver}"))
            .collect();
        self.lines.push(format!("{:?} {queued:?}", keys.collect::<Vec<_>>()));
    }

    fn do_deed(&mut self, by: Key, deed: Deed) -> Outcome<()> {
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
                let delivery = if delay > 0 {
                    self.send_at(self.now + i64::from(delay), telegram);
                    "Delayed"
                } else {
                    self.deliver(telegram)?
                };
                self.lines.push(format!("sent: {delivery}"));
            }
            Deed::UpdateOne(key) => {
                let is_done = match self.by_key.get(&key).copied() {
                    None => false,
                    Some(_) if self.depth >= 64 => {
                        self.reached("a turn within 64 others");
                        false
                    }
                    Some(index) => self.act(index, Rules::update)?.is_some(),
                };
                self.lines.push(format!("updated: {is_done}"));
            }
            Deed::Update => {
                if self.depth >= 64 {
                    self.reached("a turn within 64 others");
                    return Ok(());
                }
                for index in 0..self.members.len() {
                    // A dismissed member is no longer a member.
                    if self.members[index].as_ref().is_some_and(|member| !member.is_dismissed || member.is_acting) {
                        self.act(index, Rules::update)?;
                    }
                }
            }
            Deed::DeliverDue => {
                if self.depth > 0 {
                    self.reached("delivered within what is due");
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
                            self.reached("removed while it is acting");
                        }
                        is_here && self.dismiss(key)
                    }
                    None => false,
                };
                self.lines.push(format!("removed: {is_done}"));
            }
            Deed::Replace(key, state) => {
                self.do_deed(by, Deed::Dismiss(key))?;
                self.do_deed(by, Deed::Spawn(key, state))?;
            }
            Deed::Spawn(key, state) => {
                let is_done = !self.by_key.contains_key(&key);
                if is_done {
                    if self.members.iter().flatten().any(|member| member.key == key) {
                        self.reached("another with the key of one that is acting");
                    }
                    let index = self.join(key, state);
                    self.start_spawned(index)?;
                }
                self.lines.push(format!("spawned: {is_done}"));
            }
            Deed::TakeBack(key) => self.queue.retain(|_, telegram| telegram.receiver != key),
            Deed::Look => self.look(),
            Deed::Panic => return Err(Panicked),
        }
        Ok(())
    }

    fn start_spawned(&mut self, index: usize) -> Outcome<()> {
        if self.depth >= 64 {
            self.reached("a turn within 64 others");
            return Ok(());
        }
        let start = |naive: &mut Self| {
            naive.begin();
            naive.start()
        };
        self.act(index, start).map(drop)
    }

    /// Queues a telegram. Two similar telegrams that are due at nearly the same time may be merged.
    fn send_at(&mut self, due: i64, telegram: Telegram) {
        if let Some(window) = self.program.merges_within {
            let Telegram { sender, receiver, word } = telegram;
            let is_alike = |((other, _), queued): (&(i64, u32), &Telegram)| {
                (queued.sender, queued.receiver, queued.word) == (sender, receiver, word)
                    && due.abs_diff(*other) < u64::from(window)
            };
            if self.queue.iter().any(is_alike) {
                self.reached("two telegrams merged");
                return;
            }
        }
        self.queue.insert((due, self.sent), telegram);
        self.sent += 1;
    }

    fn join(&mut self, key: Key, state: Id) -> usize {
        self.by_key.insert(key, self.members.len());
        let machine = Machine::new(Some(state), None);
        self.members.push(Some(Member { key, machine, ..Member::default() }));
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
            self.reached("dismissed while it is acting");
        } else {
            self.reached("dismissed while it has rejoined");
        }
        true
    }

    fn reached(&mut self, corner: &'static str) {
        self.corners.insert(corner);
    }

    fn member(&mut self, index: usize) -> &mut Member {
        self.members[index].as_mut().expect("it has not left")
    }

    /// Rule 30, *Delivery.*
    fn deliver(&mut self, telegram: Telegram) -> Outcome<&'static str> {
        let Some(&index) = self.by_key.get(&telegram.receiver) else { return Ok("UnknownReceiver") };
        if self.member(index).is_acting {
            self.reached("a telegram to an acting member");
            self.member(index).put_off.push_back(telegram);
            return Ok("PutOff");
        }
        if self.depth >= 64 {
            self.reached("a telegram within 64 others");
            self.after_turn.push_back(telegram);
            return Ok("PutOff");
        }
        let is_handled = self.act(index, |naive| naive.offer(telegram.word, Offering::FromOutside))?;
        Ok(if is_handled == Some(true) { "Handled" } else { "Declined" })
    }

    /// Runs a turn, and delivers the telegrams that were put off until its end.
    fn act<R>(&mut self, index: usize, act: impl FnOnce(&mut Self) -> Outcome<R>) -> Outcome<Option<R>> {
        if self.members[index].as_ref().is_some_and(|member| member.is_acting) {
            self.reached("its turn is skipped, it is acting");
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
        let in_hand = std::mem::replace(&mut self.in_hand, index);
        let result = act(self);
        self.depth -= 1;
        if result.is_err() {
            self.begin();
        }
        self.in_hand = in_hand;
        let member = self.member(index);
        member.is_acting = false;
        member.turns -= 1;
        if member.is_dismissed && member.turns == 0 {
            self.members[index] = None;
        }
        result
    }

    fn deliver_put_off(&mut self, index: usize) -> Outcome<()> {
        while let Some(telegram) = self.next_put_off(index) {
            self.turn(index, |naive| naive.offer(telegram.word, Offering::FromOutside))?;
        }
        Ok(())
    }

    fn next_put_off(&mut self, index: usize) -> Option<Telegram> {
        self.members[index].as_mut()?.put_off.pop_front()
    }

    /// Rule 30, *After the outermost turn.*
    fn deliver_after_turn(&mut self) -> Outcome<()> {
        while let Some(telegram) = self.after_turn.pop_front() {
            if let Some(&index) = self.by_key.get(&telegram.receiver) {
                self.turn(index, |naive| naive.offer(telegram.word, Offering::FromOutside))?;
                self.deliver_put_off(index)?;
            } else {
                self.reached("posted to a member that is gone");
            }
        }
        Ok(())
    }

    /// Rule 30, *Rejoining.*
    fn rejoin(&mut self, deeds: &[Deed]) -> Outcome<&'static str> {
        let index = self.in_hand;
        let key = self.member(index).key;
        match self.by_key.get(&key) {
            None => return Ok("Unknown"),
            Some(&other) if other != index => {
                return Ok(if self.member(other).is_acting { "AnotherOwner" } else { "NoCallback" });
            }
            Some(_) => {}
        }
        self.reached("rejoined");
        if self.leaving {
            self.reached("rejoined in exit");
        } else {
            self.carry_out_all()?;
        }
        if self.member(index).turns > 1 {
            self.reached("rejoined twice");
        }
        let member = self.member(index);
        member.is_acting = false;
        let put_off = std::mem::take(&mut member.put_off);
        let Machine { leaving, is_lent_in_exit, asking, carried_out, changes, is_due_to_sleep, .. } = **self;
        let (entering, offering) = (self.entering, self.offering);
        // Such requests exist only in `exit`, whose caller carries them out.
        let requests = std::mem::take(&mut self.requests);
        let left = self.left.clone();
        self.is_lent_in_exit |= leaving;
        self.leaving = false;
        self.rejoined += 1;
        let mut result = Ok(());
        for deed in deeds {
            if self.spend() {
                result = self.do_deed(key, *deed);
            }
            if result.is_err() {
                break;
            }
        }
        let member = self.member(index);
        member.is_acting = true;
        let meanwhile = std::mem::replace(&mut member.put_off, put_off);
        member.put_off.extend(meanwhile);
        if member.is_dismissed {
            member.put_off.clear();
        }
        self.requests = requests;
        self.left.extend(left);
        (self.leaving, self.is_lent_in_exit, self.asking) = (leaving, is_lent_in_exit, asking);
        (self.carried_out, self.is_due_to_sleep) = (carried_out, is_due_to_sleep);
        (self.entering, self.offering) = (entering, offering);
        if self.changes != changes {
            self.reached("rejoined and changed");
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

impl Deref for Naive {
    type Target = Machine<u8>;

    fn deref(&self) -> &Machine<u8> {
        &self.members[self.in_hand].as_ref().expect("it has not left").machine
    }
}

impl DerefMut for Naive {
    fn deref_mut(&mut self) -> &mut Machine<u8> {
        &mut self.member(self.in_hand).machine
    }
}

fn state_of(machine: &Machine<u8>) -> Id {
    machine.current.expect("nobody stops")
}

/// The machine of the member in hand. Times are in quarters of a second.
impl Rules for Naive {
    type Word = u8;

    fn row(&self, _: Id) -> &StateRow {
        &self.row
    }

    fn now(&self) -> i64 {
        self.now
    }

    fn perform(
        &mut self,
        state: Id,
        callback: rules::program::Callback,
        word: Option<u8>,
        _: Option<Id>,
    ) -> Outcome<bool> {
        let key = self.member(self.in_hand).key;
        let callback = match callback {
            rules::program::Callback::Update => Callback::Update,
            rules::program::Callback::Exit => Callback::Exit,
            rules::program::Callback::Message => Callback::Message(word.expect("it has one")),
            _ => Callback::Enter,
        };
        let (previous, time) = (self.previous, self.time_in(state));
        self.lines.push(format!("{key} {state} {callback:?} after {previous:?} for {time}"));
        let count = self.count;
        self.count += 1;
        for act in self.program.acts(key, state, callback, count) {
            if self.spend() {
                self.do_act(act)?;
            }
        }
        Ok(word.is_some_and(|word| self.program.handles(key, state, word)))
    }

    fn allows(&mut self, _: &Change, _: Guard, _: Id) -> Outcome<bool> {
        Ok(true)
    }

    fn told(&mut self, _: &Change, _: Option<(Guard, Id)>) -> Outcome<()> {
        Ok(())
    }

    fn ended(&mut self, _: &Change, _: End, _: u8) -> Outcome<()> {
        Ok(())
    }

    fn completed(&mut self, change: &Change) -> Outcome<()> {
        let key = self.member(self.in_hand).key;
        self.lines.push(format!("{key} is in {}", change.to.expect("nobody stops")));
        Ok(())
    }

    fn updated(&mut self) -> Outcome<()> {
        let (key, state) = (self.member(self.in_hand).key, state_of(self));
        self.lines.push(format!("{key} was updated in {state}"));
        Ok(())
    }
}

impl Naive {
    fn do_act(&mut self, act: Act) -> Outcome<()> {
        let request = match act {
            Act::Do(deed) => {
                let key = self.member(self.in_hand).key;
                return self.do_deed(key, deed);
            }
            Act::Rejoin(deeds) => {
                let rejoined = self.rejoin(&deeds)?;
                self.lines.push(format!("rejoined: {rejoined}"));
                return Ok(());
            }
            Act::ChangeNow(to) => return self.do_now(Request::Verb(Verb::Change(to))),
            Act::TellNow(word) => return self.do_now(Request::Tell(word)),
            Act::Change(to) => Request::Verb(Verb::Change(to)),
            Act::Push(to) => Request::Verb(Verb::Push(to)),
            Act::Pop => Request::Verb(Verb::Pop),
            Act::Tell(word) => Request::Tell(word),
            Act::ChangeAfter(after, to) => self.after(after.into(), Then::Change(to)),
            Act::TellEvery(every, word) => self.every(every.into(), word),
            Act::CancelTold(word) => {
                let path = self.seat_path();
                let is_any = self.cancel(&path, |then| matches!(then, Then::Tell(told) if *told == word));
                self.lines.push(format!("canceled: {is_any}"));
                return Ok(());
            }
            Act::TellAfter(after, word) => self.after(after.into(), Then::Tell(word)),
            Act::SleepFor(time) => Request::Verb(Verb::Sleep(Wait::Seconds(time))),
        };
        self.ask(request);
        Ok(())
    }

    fn do_now(&mut self, request: Request<u8>) -> Outcome<()> {
        let is_done = self.carry_out_now(request, false)?;
        self.lines.push(format!("now: {is_done}"));
        Ok(())
    }
}
