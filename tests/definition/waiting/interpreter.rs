//! An interpreter of the random files, which looks at the clock in each tick.

use super::files::{Drawn, initial, is_final};
use super::runs::{Event, guards};
use crate::guard::{Guard, Told};
use crate::trace::log::Trace;

/// A guard as an interpreter would have it that looks at the clock in each tick.
struct Interpreted<'s> {
    states: &'s [Drawn],
    guard: Guard,
    /// The active states, outermost first.
    path: Vec<Active>,
}

#[derive(Clone, Copy)]
struct Active {
    state: usize,
    entered_at: f64,
    /// When it has its next turn.
    turn: f64,
    is_turn: bool,
}

impl<'s> Interpreted<'s> {
    fn new(states: &'s [Drawn], guard: Guard) -> Self {
        let mut own = Self { states, guard, path: Vec::new() };
        own.enter(0, &own.route(0), 0.0);
        own
    }

    /// The states from the outermost one down to a state, and to where that leads by itself.
    fn route(&self, to: usize) -> Vec<usize> {
        let mut route: Vec<_> = std::iter::successors(Some(to), |at| self.states[*at].parent).collect();
        route.reverse();
        route.extend(std::iter::successors(initial(self.states, to), |at| initial(self.states, *at)));
        route
    }

    fn enter(&mut self, kept: usize, route: &[usize], now: f64) {
        for &state in &route[kept..] {
            let every = self.states[state].every.map(|every| f64::from(every) / 8.0);
            let turn = every.map_or(f64::NAN, |every| now + every);
            self.path.push(Active { state, entered_at: now, turn, is_turn: false });
            self.guard.note(format!("{now}: enters {state}"));
        }
    }

    fn change(&mut self, to: usize, now: f64) {
        let (route, kept) = (self.route(to), self.kept(to));
        let from = self.path.last().unwrap().state;
        for left in self.path.split_off(kept).into_iter().rev() {
            if !self.states[left.state].is_busy {
                self.guard.note(format!("{now}: exits {}", left.state));
            }
        }
        self.guard.note(format!("{now}: s{from} -> s{} (change)", route.last().unwrap()));
        self.enter(kept, &route, now);
    }

    /// Takes the first exit that is open to the active state at a depth.
    fn try_exits(&mut self, depth: usize, on_alarm: bool, now: f64) -> bool {
        let Active { state, entered_at, .. } = self.path[depth];
        let is_innermost = depth + 1 == self.path.len();
        let exit = self.states[state].exits.iter().find(|exit| {
            let holds = match exit.when(state) {
                None => true,
                Some("hungry") => self.guard.is_hungry,
                Some("not hungry") => !self.guard.is_hungry,
                Some(_) => self.guard.is_hungry || self.guard.is_brave,
            };
            let is_there = !is_innermost && exit.to != state && self.path.iter().any(|active| active.state == exit.to);
            let is_open = exit.seconds().is_none_or(|after| now - entered_at >= after);
            let is_protected = !exit.even_final && self.leaves_an_end(exit.to, state);
            let may = !is_there && !is_protected && self.refusing(exit.to).is_none();
            exit.on_alarm == on_alarm && holds && is_open && may
        });
        let to = exit.map(|exit| exit.to);
        if let Some(to) = to {
            self.change(to, now);
        }
        to.is_some()
    }

    /// Whether a change leaves a final state that is not the one whose exit it is.
    fn leaves_an_end(&self, to: usize, of: usize) -> bool {
        self.path[self.kept(to)..].iter().any(|active| active.state != of && is_final(active.state))
    }

    /// How many active states a change leaves alone.
    fn kept(&self, to: usize) -> usize {
        let route = self.route(to);
        let around = route.iter().take_while(|state| **state != to);
        self.path.iter().zip(around).take_while(|(active, state)| active.state == **state).count()
    }

    /// The first state that a change would enter and that refuses.
    fn refusing(&self, to: usize) -> Option<usize> {
        let refuses = |state: &usize| self.states[*state].needs_courage && !self.guard.is_brave;
        self.route(to).into_iter().skip(self.kept(to)).find(refuses)
    }

    fn tick(&mut self, now: f64) {
        for active in &mut self.path {
            active.is_turn = now >= active.turn;
            if let (true, Some(every)) = (active.is_turn, self.states[active.state].every) {
                let every = f64::from(every) / 8.0;
                active.turn = active.entered_at + (((now - active.entered_at) / every).floor() + 1.0) * every;
            }
        }
        let mut depth = 0;
        while depth < self.path.len() {
            let was_innermost = depth + 1 == self.path.len();
            let Active { state, is_turn, .. } = self.path[depth];
            if is_turn || self.states[state].every.is_none() {
                if self.states[state].is_busy {
                    self.guard.note(format!("{now}: {state} is busy"));
                }
                self.try_exits(depth, false, now);
            }
            if was_innermost {
                break;
            }
            depth += 1;
        }
    }

    fn told(&mut self, told: Told, now: f64) -> bool {
        for depth in (0..self.path.len()).rev() {
            let state = self.path[depth].state;
            let mut is_handled = false;
            if !self.states[state].is_busy {
                self.guard.note(format!("{now}: {state} hears {told:?}"));
                is_handled = told == Told::Noise;
            }
            if told == Told::Alarm && self.try_exits(depth, true, now) || is_handled {
                return true;
            }
        }
        false
    }
}

/// What the interpreter makes of those events that it knows.
pub(super) fn interpreted(states: &[Drawn], events: &[Event]) -> Vec<Trace> {
    let mut clock = 0.0;
    let mut all: Vec<_> = guards().into_iter().map(|guard| Interpreted::new(states, guard)).collect();
    for event in events {
        match *event {
            Event::Ticks(by, times) => {
                for _ in 0..times {
                    clock += f64::from(by) / 16.0;
                    for own in &mut all {
                        own.tick(clock);
                    }
                }
            }
            Event::Hungry(who, is) => all[who].guard.is_hungry = is,
            Event::Brave(who, is) => all[who].guard.is_brave = is,
            Event::Tell(who, told) => {
                let is_done = all[who].told(told, clock);
                all[who].guard.note(format!("{event:?}: {is_done}"));
            }
            Event::Change(who, to) => {
                let is_done = all[who].refusing(to).is_none();
                match all[who].refusing(to) {
                    None => all[who].change(to, clock),
                    Some(by) => {
                        let (from, route) = (all[who].path.last().unwrap().state, all[who].route(to));
                        let target = route.last().unwrap();
                        let line = format!("{clock}: s{from} -> s{target} (change), refused by s{by}.can_enter");
                        all[who].guard.note(line);
                    }
                }
                all[who].guard.note(format!("{event:?}: {is_done}"));
            }
            _ => {}
        }
    }
    all.into_iter().map(|own| own.guard.log.lines).collect()
}
