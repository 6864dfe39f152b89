//! States that run other machines. The states of a linked machine are put inside the state that runs it, so that later stages
//! see only one machine.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use super::draft::machines::unknown_machine;
use super::draft::{Draft, DraftState, read};
use super::library::{Library, is_file, parts, with_slashes};
use super::name::Name;
use super::outline::resolve::{self, Common};
use super::outline::scopes::Scopes;
use super::outline::{StateId, hierarchy};
use super::problems::{Findings, Mistake, Origin, Problem, Problems};
use super::source::Source;
use super::words::Words;

/// How deep machines may run each other. It is the same limit as for nested states.
const DEEPEST: usize = 64;

/// The maximum number of states that links may add to the machines of one file.
const MOST_LINKED: usize = 20_000;

/// Puts the states of linked machines into the states that run them.
pub(crate) struct Linker<'a, 'i> {
    library: &'i Library<'i>,
    words: Option<&'a Words>,
    /// The machines of the files that have been read, or the first mistake in a file.
    files: HashMap<PathBuf, Result<Rc<[Draft<'i>]>, String>>,
    /// The machines of other files that have been checked, or the first mistake in a machine.
    linked: HashMap<LinkKey, Result<Draft<'i>, String>>,
    /// The machines that have been put together, each with its linked machines inside.
    wholes: HashMap<LinkKey, Draft<'i>>,
    /// How many states links may still add.
    left: usize,
}

/// The file of a machine, its index there, and the bits of the tick rate of the file with the link.
type LinkKey = (PathBuf, usize, Option<u64>);

/// A machine whose links are being resolved: its place, and the machines through which links lead to it.
struct At<'t, 'i> {
    file: &'t Path,
    machines: &'t [Draft<'i>],
    which: usize,
    trail: &'t [String],
    /// The ticks per second of the file that links to this one, or of the game.
    rate: Option<f64>,
}

impl<'a, 'i> Linker<'a, 'i> {
    pub(crate) fn new(library: &'i Library<'i>, words: Option<&'a Words>) -> Self {
        Self {
            library,
            words,
            files: HashMap::new(),
            linked: HashMap::new(),
            wholes: HashMap::new(),
            left: MOST_LINKED,
        }
    }

    /// Returns the machines of a file, each with its linked machines inside.
    pub(crate) fn link(&mut self, machines: Vec<Draft<'i>>, findings: &mut Findings) -> Vec<Draft<'i>> {
        let has_links = |machine: &Draft<'_>| machine.states.iter().any(|state| state.machine.is_some());
        if !machines.iter().any(has_links) {
            return machines;
        }
        let whole = |which| {
            let at = At { file: Path::new(""), machines: &machines, which, trail: &[], rate: None };
            self.whole(&at, findings)
        };
        (0..machines.len()).map(whole).collect()
    }

    /// Returns a machine with its linked machines inside. The result for each machine is cached.
    fn whole(&mut self, at: &At<'_, 'i>, findings: &mut Findings) -> Draft<'i> {
        let key = (at.file.to_path_buf(), at.which, at.rate.map(f64::to_bits));
        if let Some(whole) = self.wholes.get(&key) {
            return whole.clone();
        }
        let whole = self.put_together(at, findings);
        self.wholes.entry(key).or_insert(whole).clone()
    }

    fn put_together(&mut self, at: &At<'_, 'i>, findings: &mut Findings) -> Draft<'i> {
        let mut draft = at.machines[at.which].clone();
        let mut trail = at.trail.to_vec();
        trail.push(label(at.file, draft.name.as_ref()));
        for i in 0..draft.states.len() {
            let Some(link) = draft.states[i].machine.clone() else { continue };
            let DraftState { initial, regions, .. } = &*draft.states[i];
            let first = regions.as_deref().and_then(<[_]>::first).map(|region| (&region.initial, "regions", "regions"));
            if let Some((initial, what, key)) =
                initial.as_deref().map(|it| (it, "an initial child", "initial")).or(first)
            {
                Mistake::error("link", initial.span.clone(), "a state that runs a machine begins where that begins")
                    .label(format!("{what} beside a machine"))
                    .help(format!("remove `{key}`, or remove `machine`"))
                    .origin(Origin::Unread)
                    .report(findings);
                continue;
            }
            match self.linked(at, &link, &trail, findings) {
                Ok(linked) if linked.states.len() <= self.left => {
                    self.left -= linked.states.len();
                    put(&mut draft.states, i, linked, &link.span);
                }
                Ok(_) => {
                    self.left = 0;
                    let message = format!("links lead to more than {MOST_LINKED} states");
                    let mistake = Mistake::error("too-many-states", link.span, message).label("linked here");
                    findings.add(mistake.origin(Origin::Unread));
                }
                // The states of the machine are missing here.
                Err(mistake) => findings.add(mistake.origin(Origin::Unread)),
            }
        }
        draft
    }

    fn linked(
        &mut self,
        at: &At<'_, 'i>,
        link: &Name,
        trail: &[String],
        findings: &mut Findings,
    ) -> Result<Draft<'i>, Box<Mistake>> {
        if !is_file(&link.text) {
            let named = |machine: &Draft<'_>| machine.name.as_ref().is_some_and(|name| name.text == link.text);
            let Some(which) = at.machines.iter().position(named) else {
                let known = at.machines.iter().filter_map(|machine| machine.name.as_ref());
                let nearest = findings.nearest(&link.text, known.map(|name| name.text.as_str()));
                let help = "name a machine of this file, or a file: `machine = \"patrol.fsm.toml\"`";
                return unknown_machine(link).help(help).meant(nearest).refuse();
            };
            may_run(&label(at.file, at.machines[which].name.as_ref()), trail, link)?;
            return Ok(self.whole(&At { which, trail, ..*at }, findings));
        }
        let wrong = |why: String| {
            let message = format!("`{}` cannot be linked: {why}", link.text);
            Box::new(Mistake::error("link", link.span.clone(), message).label("this file"))
        };
        let (file, machine) = parts(&link.text);
        let missing = |why| Box::new(wrong(why).meant(with_slashes(&link.text)));
        let (path, text, rest) = self.library.find(at.file, file).map_err(missing)?;
        let machines = self.read(&path, text, rest).map_err(wrong)?;
        let named = |one: &Draft<'_>| machine.is_none() || one.name.as_ref().map(|name| name.text.as_str()) == machine;
        let Some(which) = machines.iter().position(named) else {
            return Err(wrong(format!("it has no machine `{}`", machine.unwrap_or_default())));
        };
        may_run(&label(&path, machines[which].name.as_ref()), trail, link)?;
        let rate = at.machines[at.which].ticks_per_second.or(at.rate);
        let key = (path.clone(), which, rate.map(f64::to_bits));
        if !self.linked.contains_key(&key) {
            let whole = self.check(&At { file: &path, machines: &machines, which, trail, rate }, text);
            self.linked.insert(key.clone(), whole);
        }
        let mut draft = self.linked[&key].clone().map_err(wrong)?;
        let is_of_game = |script: &str| self.words.is_some_and(|words| words.script_files.contains(script));
        relocate(&mut draft, &link.span, &path.into(), &is_of_game);
        Ok(draft)
    }

    /// Reads the machines of another file, without resolving their links.
    fn read(&mut self, path: &Path, text: &'i str, rest: &'i OnceLock<String>) -> Result<Rc<[Draft<'i>]>, String> {
        let read = || {
            let mut findings = Findings::new(Arc::new(Source::new(&path.display().to_string(), text)));
            let machines = read::read(text, rest, &mut findings);
            if findings.errors() > 0 { Err(summary(&findings.into_problems())) } else { Ok(machines.into()) }
        };
        self.files.entry(path.to_path_buf()).or_insert_with(read).clone()
    }

    /// Returns a machine of another file with its linked machines, if it has no mistakes.
    fn check(&mut self, at: &At<'_, 'i>, text: &str) -> Result<Draft<'i>, String> {
        let mut findings = Findings::new(Arc::new(Source::new(&at.file.display().to_string(), text)));
        let whole = self.whole(at, &mut findings);
        // The tick rate of this file applies. If it has none, the rate of the file that links to it applies.
        let rate = whole.ticks_per_second.or(at.rate);
        if let Some(checked) = resolve::resolve(
            Draft { ticks_per_second: rate, ..whole.clone() },
            self.words,
            &mut Common::default(),
            &mut findings,
        ) {
            hierarchy::check(&checked.outline, &mut findings);
        }
        if findings.errors() > 0 { Err(summary(&findings.into_problems())) } else { Ok(whole) }
    }
}

/// Returns the text about a linked file with mistakes: the first mistake, and how many more there are.
fn summary(problems: &Problems) -> String {
    let errors = || problems.iter().filter(|problem| !problem.is_warning());
    let first = errors().next().map(Problem::located).unwrap_or_default();
    match errors().count() + problems.unlisted() {
        0 | 1 => first,
        count => format!("{first} (and {} more)", count - 1),
    }
}

/// Returns the name of a machine for error texts about circles.
fn label(file: &Path, machine: Option<&Name>) -> String {
    let file = file.display().to_string();
    match machine {
        Some(name) if file.is_empty() => name.text.clone(),
        Some(name) => format!("{file}#{name}"),
        None if file.is_empty() => "this file".into(),
        None => file,
    }
}

/// Fails if a machine cannot be put into the machines of the trail, because of a circle or the depth. Each machine of the trail
/// runs the next one.
fn may_run(next: &str, trail: &[String], link: &Name) -> Result<(), Box<Mistake>> {
    if let Some(begin) = trail.iter().position(|on| on == next) {
        let path: Vec<_> = trail[begin..].iter().chain([&trail[begin]]).map(|on| format!("`{on}`")).collect();
        let message = format!("machines run each other in a circle: {}", path.join(" -> "));
        return Mistake::error("link-cycle", link.span.clone(), message)
            .label("closes the circle")
            .help("a machine cannot run itself: let one of them end, and an exit lead on")
            .refuse();
    }
    if trail.len() < DEEPEST {
        return Ok(());
    }
    let message = format!("machines run each other more than {DEEPEST} deep");
    Mistake::error("nested-too-deep", link.span.clone(), message).label("too deep from here").refuse()
}

/// Puts the states of a machine into the state that runs it.
fn put<'i>(states: &mut Vec<Rc<DraftState<'i>>>, by: usize, linked: Draft<'i>, link: &Range<usize>) {
    let base = states.len();
    let prefix = states[by].name.text.clone();
    let named = |text: &str| Name { text: text.into(), span: link.clone() };
    // The global state of a linked machine becomes the parent of its other states.
    let around = linked.global.map(|global| global.text);
    let initial = linked.initial.map(|initial| initial.text).unwrap_or_default();
    Rc::make_mut(&mut states[by]).initial = Some(Box::new(named(around.as_deref().unwrap_or(&initial))));
    let scopes = Scopes::new(&linked.states.iter().map(|state| state.placed()).collect::<Vec<_>>());
    for (i, mut linked) in linked.states.into_iter().enumerate() {
        let is_outermost = linked.parent.is_none() && scopes.parent(StateId::new(i)).is_none();
        let state = Rc::make_mut(&mut linked);
        if let Some(around) = &around {
            if state.root.is_none() && state.name.text == *around {
                state.initial = Some(Box::new(named(&initial)));
            } else if is_outermost {
                state.parent = Some(named(around));
            }
        }
        if state.root.is_none() && state.is_final {
            state.ends = Some(by);
        } else {
            state.ends = state.ends.map(|of| base + of);
        }
        state.root = Some(state.root.map_or(by, |root| base + root));
        state.name.text = format!("{prefix}.{}", state.name.text);
        states.push(linked);
    }
}

/// Moves the positions of all parts of a linked machine to the link, because mistakes in the other file are reported there.
fn relocate(draft: &mut Draft<'_>, to: &Range<usize>, file: &Arc<Path>, is_of_game: &dyn Fn(&str) -> bool) {
    let rate = draft.ticks_per_second;
    for state in &mut draft.states {
        let state = Rc::make_mut(state);
        state.relocate(to, file, is_of_game);
        state.rate = state.rate.or(rate);
    }
}
