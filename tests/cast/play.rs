//! Plays tables of rows about the members of a cast: the acts of their callbacks, the steps of the game, and all events.
//! `trace/table` describes the format of a row.
//!
//! ```text
//! # the_name_of_the_row
//! cast Ann, Ben in Left beside Always
//! Ann Idle.update: rejoin send Ben hello is Handled; change Busy
//! Ben Left.hello: note is told
//! update Ann => Ann Idle.update; Ben Left.hello; Ben is told; Ann Idle.exit; Ann Busy.enter; Ann Idle -> Busy (change)
//! ```
//!
//! `cast` lists the members in the order in which they join. They are in `Idle` unless the line says otherwise. A member
//! handles a message if a line says what it does then. A question, such as `who?`, is also offered to other states.
//! [`Player::act`] lists the acts of a callback, and [`deed`] the acts that the game can also carry out. `a & b` are two deeds
//! within a `rejoin`, and `a + b` within a `with`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::mem;
use std::sync::Mutex;
use std::time::Duration;

use crate::captured_log::log_lines;
use crate::told_panic::{caught, panic_as_told};
use crate::trace::Trace;
use crate::trace::table::{RowPlayer, callback_and_times, number, play_rows, split};
use demeanor::{Agent, Cast, Change, Dispatcher, Fsm, Owner, State, StateMachine, StateRef, Telegram};

/// The events so far, and the script of the members.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) trace: Trace,
    /// The changes that `on_change` has received, in the words of a journal's entries.
    pub(crate) told: Vec<String>,
    /// The lines of the script, by the name of the player.
    script: BTreeMap<&'static str, Vec<ScriptLine>>,
}

struct ScriptLine {
    callback: &'static str,
    /// How many more times the player does this.
    left: u32,
    acts: &'static str,
}

pub(crate) type Stage = Cast<&'static str, &'static str, World>;

/// Plays all rows of a table, and then panics if any of them failed.
#[track_caller]
pub(crate) fn play(table: &'static str) {
    play_rows::<Row>(&[()], table);
}

/// Creates the stage of a row from the line that lists the members and the lines that say what they do.
pub(crate) fn stage(lines: &'static str) -> Stage {
    let mut lines = lines.lines().map(str::trim);
    let mut stage = Row::new((), lines.next().expect("a line says who is on the stage")).stage;
    assert!(lines.all(|line| learn(&mut stage, line)), "all other lines say what they do");
    stage
}

/// Creates a stage with Ann and many members named by numbers, which act in a callback as given.
pub(crate) fn with_many(count: usize, callback: &str, acts: impl Fn(usize) -> String) -> Stage {
    let mut stage = stage("cast Ann");
    for nth in 0..count {
        let name = nth.to_string().leak();
        assert!(stage.add(name, agent(name, name, "Idle")).is_ok());
        assert!(learn(&mut stage, format!("{name} {callback}: {}", acts(nth)).leak()));
    }
    stage
}

/// Adds a line that says what a player does in a callback. Returns `false` for any other line.
pub(crate) fn learn(stage: &mut Stage, line: &'static str) -> bool {
    let Some((callback, acts)) = line.split_once(": ") else { return false };
    let (player, callback) = split(callback);
    let (callback, left) = callback_and_times(callback);
    stage.world.script.entry(player).or_default().push(ScriptLine { callback, left, acts });
    true
}

pub(crate) fn happened(stage: &mut Stage) -> Trace {
    mem::take(&mut stage.world.trace)
}

/// A player. The default value is the placeholder, which no code should see.
pub(crate) struct Player {
    key: &'static str,
    /// Its name in the trace and in the script. This is usually its key.
    pub(crate) name: &'static str,
    energy: u32,
}

impl Default for Player {
    fn default() -> Self {
        Self { key: "PLACEHOLDER", name: "PLACEHOLDER", energy: 0 }
    }
}

/// A state whose callbacks act as the script says.
pub(crate) struct Place {
    name: &'static str,
    parent: Option<&'static Place>,
}

/// Returns the state with a name. `Left` and `Right` are inside `Inside`. `Both` has two regions: `Low` and `Lower` lie in the first,
/// `High` and `Higher` in the second.
pub(crate) fn place(name: &'static str) -> &'static Place {
    static PLACES: Mutex<BTreeMap<&str, &Place>> = Mutex::new(BTreeMap::new());
    let parent = match name {
        "Left" | "Right" => Some(place("Inside")),
        "Low" | "Lower" | "High" | "Higher" => Some(place("Both")),
        _ => None,
    };
    let mut places = PLACES.lock().expect("nothing panics meanwhile");
    places.entry(name).or_insert_with(|| Box::leak(Box::new(Place { name, parent })))
}

impl State<Player> for Place {
    fn enter(&self, player: &mut Player, fsm: &mut Fsm<'_, Player>, stage: &mut Stage) {
        player.perform(self.name, "enter", fsm, stage);
    }

    fn update(&self, player: &mut Player, fsm: &mut Fsm<'_, Player>, stage: &mut Stage) {
        player.perform(self.name, "update", fsm, stage);
    }

    fn exit(&self, player: &mut Player, fsm: &mut Fsm<'_, Player>, stage: &mut Stage) {
        player.perform(self.name, "exit", fsm, stage);
    }

    fn on_message(
        &self,
        player: &mut Player,
        telegram: &Telegram<&'static str, &'static str>,
        fsm: &mut Fsm<'_, Player>,
        stage: &mut Stage,
    ) -> bool {
        player.perform(self.name, telegram.message, fsm, stage) && !telegram.message.ends_with('?')
    }

    /// Refuses if the script has a line for this guard.
    fn can_enter(&self, player: &Player, _: &Fsm<'_, Player>, stage: &Stage) -> bool {
        let guard = format!("{}.can_enter", self.name);
        !stage.world.script.get(player.name).is_some_and(|lines| lines.iter().any(|line| line.callback == guard))
    }

    fn parent(&self) -> Option<StateRef<Player>> {
        self.parent.map(Into::into)
    }

    fn regions(&self) -> Vec<StateRef<Player>> {
        if self.name == "Both" { vec![place("Low").into(), place("High").into()] } else { vec![] }
    }

    fn region(&self) -> usize {
        self.name.starts_with("High").into()
    }

    fn name(&self) -> Cow<'_, str> {
        self.name.into()
    }
}

impl Owner for Player {
    type Context<'a> = Stage;
    type Message = Telegram<&'static str, &'static str>;

    fn now(stage: &Stage) -> f64 {
        stage.now()
    }

    fn label(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }

    fn on_change(&mut self, change: &Change<'_, Self>, stage: &mut Stage) {
        let after = if change.is_taken() { format!(", after {} s", change.time_in_state) } else { String::new() };
        stage.world.told.push(format!("{} s: {:?}: {change}{after}", stage.now(), self.key));
    }

    fn after_change(&mut self, change: &Change<'_, Self>, stage: &mut Stage) {
        self.note(change, stage);
    }
}

impl Player {
    fn note(&self, what: impl fmt::Display, stage: &mut Stage) {
        stage.world.trace.push(format!("{} {what}", self.name));
    }

    /// Records a callback, and acts as the script says. Returns whether the script has a line for it.
    fn perform(&mut self, place: &str, callback: &str, fsm: &mut Fsm<'_, Self>, stage: &mut Stage) -> bool {
        let callback = format!("{place}.{callback}");
        self.note(&callback, stage);
        let is_meant = |line: &&mut ScriptLine| line.callback == callback && line.left > 0;
        let mut lines = Vec::new();
        for line in stage.world.script.get_mut(self.name).into_iter().flatten().filter(is_meant) {
            line.left -= 1;
            lines.push(line.acts);
        }
        lines.iter().flat_map(|acts| acts.split("; ")).for_each(|act| self.act(act, fsm, stage));
        !lines.is_empty()
    }

    /// Carries out an act that concerns the player's own machine or data. Any other act is a [`deed`].
    fn act(&mut self, act: &'static str, fsm: &mut Fsm<'_, Self>, stage: &mut Stage) {
        let (verb, rest) = split(act);
        let (what, outcome) = rest.split_once(" is ").unwrap_or((rest, ""));
        if let Some(times) = verb.strip_suffix('x') {
            (0..times.parse().expect("a number")).for_each(|_: u32| self.act(rest, fsm, stage));
            return;
        }
        match verb {
            "note" => self.note(rest, stage),
            "change" => fsm.change_state(place(rest)),
            "sleep" => fsm.sleep(),
            "pop" => fsm.pop_state(),
            "revert" => fsm.revert_state(),
            "now" => assert_eq!(fsm.change_state_now(self, place(what), stage), outcome == "done", "{act}"),
            "hear" => {
                let telegram = Telegram::new(self.key, self.key, what);
                assert_eq!(fsm.send_now(self, &telegram, stage), outcome == "done", "{act}");
            }
            "after" => fsm.change_state_after(number(what.split(' ').next().expect("seconds")), place(last_word(rest))),
            "target" => self.note(fsm.target().map_or("to nowhere".to_owned(), |target| format!("to {target}")), stage),
            "previous" => self.note(format_args!("was {}", fsm.previous().expect("there is one")), stage),
            "requests" => self.note(if fsm.has_requests() { "some wait" } else { "none waits" }, stage),
            "gain" => self.energy += rest.parse::<u32>().expect("a number"),
            "has" => self.note(format_args!("has {}", self.energy), stage),
            // Acts only while the energy is less than a number.
            "below" if self.energy >= split(rest).0.parse().expect("a number") => {}
            "below" => self.act(rest_of(rest), fsm, stage),
            "time" => self.note(fsm.time_in_state(stage), stage),
            "catch" => {
                let caught = caught(|| self.act(rest, fsm, stage)).is_err();
                self.note(if caught { "caught" } else { "nothing to catch" }, stage);
            }
            "rejoin" => self.rejoin(rest, fsm, stage),
            _ => deed(self.key, act, stage),
        }
    }

    /// Carries out `rejoin a & b`, which does two things meanwhile. `rejoin as Eve is Unknown` expects an error. `another`
    /// stands for the right key with another owner.
    fn rejoin(&mut self, rest: &'static str, fsm: &mut Fsm<'_, Self>, stage: &mut Stage) {
        let Some((who, why)) = rest.strip_prefix("as ").and_then(|rest| rest.split_once(" is ")) else {
            let key = self.key;
            let rejoined = stage.rejoin(&key, self, fsm, |stage| deeds(key, rest, stage));
            return rejoined.expect("it is a callback of this player");
        };
        let rejoined: Result<(), _> = match who {
            "another" => stage.rejoin(&self.key, &mut Self::default(), fsm, |_| unreachable!()),
            key => stage.rejoin(&key, self, fsm, |_| unreachable!()),
        };
        assert_eq!(format!("{:?}", rejoined.unwrap_err()), why, "{rest}");
    }
}

fn last_word(text: &'static str) -> &'static str {
    text.rsplit(' ').next().expect("a word")
}

fn deeds(by: &'static str, deeds: &'static str, stage: &mut Stage) {
    deeds.split(" & ").for_each(|act| deed(by, act, stage));
}

pub(crate) fn agent(key: &'static str, name: &'static str, state: &'static str) -> Agent<Player> {
    Agent::new(Player { key, name, energy: 0 }, StateMachine::new(place(state)))
}

/// Carries out an act on the cast, for the game (named Eve) or a callback. `is` gives the expected result, as in `send Ben
/// hello is PutOff`. Without `is`, any result of a telegram is accepted, and other acts must succeed. `is tried` accepts any
/// result.
fn deed(by: &'static str, deed: &'static str, stage: &mut Stage) {
    let (verb, rest) = split(deed);
    let (rest, outcome) = rest.split_once(" is ").unwrap_or((rest, ""));
    let (who, what) = split(rest);
    let is = |found: fmt::Arguments<'_>| assert!(outcome.is_empty() || found.to_string() == outcome, "{deed}: {found}");
    let done = |is_done: bool| assert!(outcome == "tried" || is_done == outcome.is_empty(), "{deed}");
    match verb {
        "nothing" => {}
        "note" => stage.world.trace.push(rest.to_owned()),
        "send" => is(format_args!("{:?}", stage.send(by, who, what))),
        "post" => stage.post(by, who, what),
        // `delay` has a number of seconds; `at` has a time.
        "delay" => is(format_args!("{:?}", stage.send_after(number(who), by, split(what).0, split(what).1))),
        "at" => {
            stage.dispatcher_mut().send_at(number(who), Telegram::new(by, split(what).0, split(what).1));
        }
        "take" => stage.dispatcher_mut().retain(|_, telegram| telegram.message != last_word(rest)),
        "queued" => assert_eq!(stage.dispatcher().len().to_string(), rest),
        "deliver" => assert_eq!(stage.deliver_due(), []),
        "start" => stage.start(),
        "update" if rest.is_empty() => stage.update(),
        "update" => done(stage.update_one(&rest)),
        "stop" => stage.stop(),
        "advance" => stage.advance(Duration::from_secs_f64(number(rest))),
        "clock" => assert_eq!(format!("{} {}", stage.now(), stage.time().elapsed().as_secs_f64()), rest),
        "spawn" => done(stage.spawn(rest, agent(rest, rest, "Idle")).is_ok()),
        // `add Ann as Anna` gives the member with the key Ann another name.
        "add" => done(stage.add(who, agent(who, last_word(rest), "Idle")).is_ok()),
        "dismiss" => done(stage.dismiss(&rest)),
        "remove" => is(format_args!("{:?}", stage.remove::<Player>(&rest).map(|agent| agent.name))),
        // A player who is not a member.
        "twin" => {
            let line = ScriptLine { callback: "Idle.update", left: 1, acts: rest_of(deed) };
            stage.world.script.entry("twin").or_default().push(line);
            agent("Ann", "twin", "Idle").update(stage);
        }
        "with" => {
            let acts = rest_of(rest_of(deed));
            let lent = stage.with::<Player, _>(&who, |agent, stage| {
                acts.split(" + ").for_each(|act| act_with(who, act, agent, stage));
            });
            lent.expect("it is not acting");
        }
        "set" => member(who, stage).machine_mut().set_current(place(what)),
        "replace" => *member(who, stage).machine_mut() = StateMachine::new(place(what)),
        "charge" => member(who, stage).energy += what.parse::<u32>().expect("a number"),
        "energy" => assert_eq!(member(who, stage).energy.to_string(), what),
        "path" => {
            let path: Vec<_> = member(who, stage).machine().path().map(ToString::to_string).collect();
            stage.world.trace.push(path.join("/"));
        }
        "time" => {
            let time = stage.get::<Player>(&rest).expect("it is not acting").machine().time_in_state(stage);
            stage.world.trace.push(time.to_string());
        }
        "look" => {
            let seen = look(stage);
            stage.world.trace.push(seen);
        }
        // Lists which of the named states a member is in.
        "see" => {
            let is_in = |name: &&'static str| stage.is_in_state::<Player, _>(&who, place(name));
            let seen: Vec<_> = what.split(' ').filter(is_in).collect();
            let current = stage.state_of(&who).map_or("no state".to_owned(), Cow::into_owned);
            stage.world.trace.push(format!("sees {who} in {current}: {}", seen.join(" ")));
        }
        "catch" => {
            let caught = caught(|| self::deed(by, rest_of(deed), stage)).is_err();
            stage.world.trace.push(if caught { "caught" } else { "nothing to catch" }.to_owned());
        }
        "panic" => panic_as_told(),
        _ => panic!("nobody can do `{deed}`"),
    }
}

/// Returns the text after the first word.
fn rest_of(text: &'static str) -> &'static str {
    split(text).1
}

/// Acts on a member that is lent, or while it is lent.
fn act_with(key: &'static str, act: &'static str, agent: &mut Agent<Player>, stage: &mut Stage) {
    let (verb, rest) = split(act);
    match verb {
        "change" => {
            let (to, outcome) = rest.split_once(" is ").unwrap_or((rest, "done"));
            assert_eq!(agent.change_state(place(to), stage), outcome == "done");
        }
        "push" => assert!(agent.push_state(place(rest), stage)),
        "pop" => assert!(agent.pop_state(stage)),
        "tick" => agent.update(stage),
        "begin" => agent.start(stage),
        "end" => agent.stop(stage),
        _ => deed(key, act, stage),
    }
}

fn member<'s>(key: &'static str, stage: &'s mut Stage) -> &'s mut Agent<Player> {
    stage.get_mut::<Player>(&key).expect("it is not acting")
}

/// Lists the members, their states, and which are acting. Acting members are not visited.
fn look(stage: &Stage) -> String {
    let is_there = |key: &&&'static str| !stage.is_acting(key);
    assert!(stage.iter::<Player>().map(|(key, _)| key).eq(stage.keys().filter(is_there)));
    assert_eq!((stage.keys().len(), stage.keys().rev().count()), (stage.len(), stage.len()));
    let members = stage.keys().map(|key| {
        assert!(stage.contains(key));
        let acting = if stage.is_acting(key) { " acts" } else { "" };
        format!("{key} in {}{acting}", stage.state_of(key).unwrap_or("no state".into()))
    });
    members.collect::<Vec<_>>().join(", ")
}

struct Row {
    stage: Stage,
    /// The trace of the last steps.
    last: Trace,
    /// The lines that have been logged since the row last compared them.
    log: Vec<String>,
}

impl RowPlayer for Row {
    type Home = ();

    const BEGIN: &'static str = "cast ";

    /// Creates a player from a line such as `cast Ann, Ben in Left beside Always; merging 0.25`.
    fn new((): (), line: &'static str) -> Self {
        let (members, merging) = line.split_once("; merging ").unwrap_or((line, ""));
        let mut stage = Stage::new(World::default());
        if !merging.is_empty() {
            stage = stage.with_dispatcher(Dispatcher::merging_within(number(merging)));
        }
        for member in rest_of(members).split(", ") {
            let (member, global) = member.split_once(" beside ").unwrap_or((member, ""));
            let (key, initial) = member.split_once(" in ").unwrap_or((member, "Idle"));
            let mut agent = agent(key, key, initial);
            if !global.is_empty() {
                agent.machine_mut().set_global(place(global));
            }
            assert!(stage.add(key, agent).is_ok());
        }
        Self { stage, last: Trace::default(), log: Vec::new() }
    }

    fn take(&mut self, line: &'static str) -> Vec<Vec<String>> {
        if learn(&mut self.stage, line) {
            return vec![];
        }
        let told = |line: &String| line.contains(" demeanor::cast: ");
        let of_target = |line: &String| line.replace("demeanor::cast: ", "").replace("demeanor: ", "");
        let is_warning = |line: &&String| line.starts_with("WARN") || line.starts_with("ERROR");
        match split(line) {
            ("log", _) => vec![mem::take(&mut self.log).iter().filter(|line| told(line)).map(of_target).collect()],
            ("warnings", _) => vec![mem::take(&mut self.log).iter().filter(is_warning).map(of_target).collect()],
            // About the last trace: how many lines end with a word, or the lines of one player.
            ("count", word) => vec![vec![self.last.iter().filter(|line| line.ends_with(word)).count().to_string()]],
            ("only", name) => vec![self.last.iter().filter(|line| line.starts_with(name)).cloned().collect()],
            _ => {
                for step in line.split("; ") {
                    let act = || match step.strip_prefix("panicking ") {
                        Some(step) => {
                            assert!(caught(|| deed("Eve", step, &mut self.stage)).is_err(), "it should panic");
                        }
                        None => deed("Eve", step, &mut self.stage),
                    };
                    self.log.append(&mut log_lines(act));
                }
                self.last = happened(&mut self.stage);
                vec![self.last.to_vec()]
            }
        }
    }
}
