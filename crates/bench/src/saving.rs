//! The table of saving: a batch written and read as postcard, beside its owners alone in a `Vec`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use comfy_table::Table;
use demeanor::{Batch, Fsm, Owner, State, StateBook};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// An owner of 64 bytes, both in memory and in a file.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Body {
    at: [f32; 3],
    speed: [f32; 3],
    rest: [f32; 10],
}

impl Owner for Body {
    type Context<'a> = f64;
    type Message = ();

    fn now(seconds: &f64) -> f64 {
        *seconds
    }
}

struct Graze;
struct Roam;
struct Flee;
struct Sleep;

impl State<Body> for Graze {}
impl State<Body> for Roam {}
impl State<Body> for Flee {}
impl State<Body> for Sleep {
    fn enter(&self, body: &mut Body, fsm: &mut Fsm<'_, Body>, _: &mut f64) {
        fsm.change_state_after(1.0 + f64::from(body.at[0]), &Graze);
        fsm.sleep();
    }
}

/// The rows: name, and the percentage of owners that sleep until a timer is due.
pub(crate) const ROWS: [(&str, usize); 3] = [("batch", 0), ("batch, a tenth asleep", 10), ("batch, all asleep", 1)];

/// Measures the rows whose names `is_wanted` accepts.
///
/// # Errors
///
/// When a batch cannot be saved or loaded, or differs afterwards.
pub(crate) fn table(owners: usize, rounds: usize, is_wanted: impl Fn(&str) -> bool) -> Result<Table, String> {
    let header = ["", "bytes each", "save, ms", "fastest", "load, ms", "fastest", "bytes beside Vec<T>"];
    let bodies: Vec<_> = (0..owners).map(body).collect();
    let alone = Times::of(rounds, || Ok(write(&bodies)), |bytes| read::<Vec<Body>>(bytes).map(black_box).map(drop))?;
    let mut rows = vec![alone.row("Vec<T>", owners, alone.bytes)];
    for (name, asleep) in ROWS.into_iter().filter(|(name, _)| is_wanted(name)) {
        let (batch, book) = (batch(&bodies, asleep), book());
        let digest = |batch: &Batch<Body>| batch.digest(|_, _| {});
        let loaded = |bytes: &[u8]| {
            let saved = read(bytes)?;
            Batch::load(saved, &book, 20.0).map_err(|error| error.to_string())
        };
        let save = || Ok(write(&batch.save(&book, 20.0).map_err(|error| error.to_string())?));
        if digest(&loaded(&save()?)?) != digest(&batch) {
            return Err(format!("{name}: another batch was loaded than was saved"));
        }
        let times = Times::of(rounds, save, |bytes| loaded(bytes).map(black_box).map(drop))?;
        rows.push(times.row(name, owners, alone.bytes));
    }
    Ok(bench_runner::table(header.map(String::from).to_vec(), rows))
}

pub(crate) fn body(nth: usize) -> Body {
    let at = |step: usize| (nth * step % 1000) as f32 / 7.0;
    Body { at: [at(1), at(3), at(7)], speed: [at(11), at(13), at(17)], rest: [at(19); 10] }
}

/// Creates a batch with owners in four states, each entered at a different time; some owners have been removed.
pub(crate) fn batch(bodies: &[Body], asleep: usize) -> Batch<Body> {
    let mut batch = Batch::new();
    let keys: Vec<_> = bodies.iter().map(|body| batch.insert(body.clone(), &Graze)).collect();
    for (nth, key) in keys.iter().enumerate() {
        let now = &mut (nth as f64 / bodies.len() as f64 * 10.0);
        match nth {
            _ if asleep > 0 && nth % asleep == 0 => _ = batch.change_state(*key, &Sleep, now),
            _ if nth % 3 == 0 => _ = batch.change_state(*key, &Roam, now),
            _ if nth % 3 == 1 => _ = batch.change_state(*key, &Flee, now),
            _ => {}
        }
    }
    for key in keys.iter().step_by(100) {
        if let Some((body, machine)) = batch.remove(*key) {
            batch.insert_machine(body, machine).ok();
        }
    }
    batch
}

fn book() -> StateBook<Body> {
    StateBook::new().with(&Graze).with(&Roam).with(&Flee).with(&Sleep)
}

fn write(value: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(value).expect("a `Vec` takes all that is written")
}

fn read<D: DeserializeOwned>(bytes: &[u8]) -> Result<D, String> {
    postcard::from_bytes(bytes).map_err(|error| error.to_string())
}

struct Times {
    bytes: usize,
    save: Vec<Duration>,
    load: Vec<Duration>,
}

impl Times {
    fn of(
        rounds: usize,
        save: impl Fn() -> Result<Vec<u8>, String>,
        load: impl Fn(&[u8]) -> Result<(), String>,
    ) -> Result<Self, String> {
        let mut times = Self { bytes: 0, save: Vec::new(), load: Vec::new() };
        for _ in 0..rounds {
            let start = Instant::now();
            let bytes = save()?;
            times.save.push(start.elapsed());
            let start = Instant::now();
            load(&bytes)?;
            times.load.push(start.elapsed());
            times.bytes = bytes.len();
        }
        times.save.sort_unstable();
        times.load.sort_unstable();
        Ok(times)
    }

    fn row(&self, name: &str, owners: usize, alone: usize) -> Vec<String> {
        let each = |bytes: usize| bytes as f64 / owners as f64;
        let ms = |time: Option<&Duration>| format!("{:.0}", time.map_or(0.0, |time| time.as_secs_f64() * 1e3));
        let median = |times: &[Duration]| ms(times.get(times.len() / 2));
        vec![
            name.to_owned(),
            format!("{:.1}", each(self.bytes)),
            median(&self.save),
            ms(self.save.first()),
            median(&self.load),
            ms(self.load.first()),
            format!("{:.2}x", self.bytes as f64 / alone as f64),
        ]
    }
}
