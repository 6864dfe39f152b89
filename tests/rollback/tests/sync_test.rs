//! After each tick, `ggrs`'s `SyncTestSession` goes back some ticks, runs them again, and compares the checksums of both runs.

use std::mem;

use allocation_counter::measure;
use demeanor_rollback::{Game, Input};
use ggrs::{Config, GgrsError, GgrsRequest, PredictRepeatLast, SessionBuilder, SyncTestSession};

const PLAYERS: usize = 2;
const UNITS: u32 = 300;
const CAPTAINS: u32 = 20;
/// The number of ticks that the session goes back.
const DISTANCE: usize = 6;

struct Net;

impl Config for Net {
    type Input = Input;
    type InputPredictor = PredictRepeatLast;
    type State = Game;
    type Address = u8;
}

fn session() -> SyncTestSession<Net> {
    let builder = SessionBuilder::new().with_num_players(PLAYERS).unwrap().with_max_prediction_window(8);
    builder.with_check_distance(DISTANCE).start_synctest_session().unwrap()
}

/// Returns a player's input in a tick.
fn input(tick: u32, player: usize) -> Input {
    // Knuth's multiplicative hash.
    let bits = (tick * 2 + player as u32).wrapping_mul(0x9E37_79B1) >> 8;
    let nth = (bits >> 8) as u16;
    Input {
        step: (bits % 7) as i8 - 3,
        alarm: (bits % 5 == 0).then_some(nth),
        replaced: (bits % 11 == 0).then_some(nth),
    }
}

/// Counts of a session.
#[derive(Default)]
struct Seen {
    advanced: u32,
    loaded: u32,
    /// The number of copies of the game, for saving and for restoring.
    copies: u32,
    /// The number of copies that allocated memory.
    allocating: u32,
}

impl Seen {
    fn copy(&mut self, from: &Game, to: &mut Game) {
        let allocated = measure(|| to.keep(from)).count_total;
        self.copies += 1;
        self.allocating += u32::from(allocated > 0);
    }
}

/// Plays the ticks that `session` requests.
fn play(
    session: &mut SyncTestSession<Net>,
    game: &mut Game,
    ticks: std::ops::Range<u32>,
    mut meddle: impl FnMut(&mut Game),
) -> Result<Seen, GgrsError> {
    let mut seen = Seen::default();
    for tick in ticks {
        for player in 0..PLAYERS {
            session.add_local_input(player, input(tick, player))?;
        }
        for request in session.advance_frame()? {
            match request {
                GgrsRequest::SaveGameState { cell, frame } => {
                    // The cell's oldest copy is reused for this tick.
                    let mut kept = cell.data().map(|mut kept| mem::take(kept.as_mut_dangerous())).unwrap_or_default();
                    seen.copy(game, &mut kept);
                    let digest = kept.digest();
                    cell.save(frame, Some(kept), Some(digest.into()));
                }
                GgrsRequest::LoadGameState { cell, .. } => {
                    seen.copy(&cell.data().unwrap(), game);
                    seen.loaded += 1;
                }
                GgrsRequest::AdvanceFrame { inputs } => {
                    game.advance(inputs.iter().map(|(input, _)| *input));
                    meddle(game);
                    seen.advanced += 1;
                }
            }
        }
    }
    Ok(seen)
}

#[test]
fn a_rollback_engine_finds_the_same_checksums_over_thousands_of_ticks() {
    const TICKS: u32 = 4000;
    let (mut session, mut game) = (session(), Game::new(UNITS, CAPTAINS));
    let seen = play(&mut session, &mut game, 0..TICKS, |_| {}).unwrap();
    let distance = DISTANCE as u32;
    assert_eq!((seen.loaded, seen.advanced), (TICKS - distance - 1, TICKS + (TICKS - distance - 1) * distance));

    // The result is the same as without going back.
    let mut straight = Game::new(UNITS, CAPTAINS);
    for tick in 0..TICKS {
        straight.advance((0..PLAYERS).map(|player| input(tick, player)));
    }
    assert_eq!((game.digest(), game.happened()), (straight.digest(), straight.happened()));
    let happened = game.happened();
    let least = [
        happened.naps,
        happened.woken_by_alarm,
        happened.marches,
        happened.stumbles,
        happened.errands,
        happened.returns,
    ];
    assert!(least.iter().all(|&times| times > 500), "{happened:?}");
}

#[test]
fn going_back_allocates_nothing_once_there_is_room() {
    let (mut session, mut game) = (session(), Game::new(UNITS, CAPTAINS));
    play(&mut session, &mut game, 0..2000, |_| {}).unwrap();
    let seen = play(&mut session, &mut game, 2000..3000, |_| {}).unwrap();
    assert_eq!(seen.copies, 7000);
    // Sometimes more units are on an errand, or stumble, than ever before.
    assert!(seen.allocating < 70, "{} of {} copies allocate", seen.allocating, seen.copies);

    let mut kept = Game::default();
    kept.keep(&game);
    assert_eq!(measure(|| kept.keep(&game)).count_total, 0);
}

/// Otherwise the other tests would show nothing.
#[test]
fn what_is_not_brought_back_is_found() {
    let (mut session, mut game) = (session(), Game::new(UNITS, CAPTAINS));
    let mut calls = 0;
    let played = play(&mut session, &mut game, 0..100, |game| {
        calls += 1;
        if calls == 200 {
            game.advance(std::iter::empty());
        }
    });
    assert!(matches!(played, Err(GgrsError::MismatchedChecksum { .. })), "{:?}", played.err());
}
