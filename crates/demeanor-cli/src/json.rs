//! JSON documents for editors and other programs: the results of `demeanor check`, and the exits that were taken, from
//! `demeanor graph --observed`. `docs/definitions.md` describes them.

use demeanor::definition::{Coverage, ExitSeen, Finding, Outline, Problem, PropertyAnswer, PropertyProof};
use serde_json::{Map, Value, json};

use crate::checked::{Checked, Content};
use crate::witness;

/// Returns the document of all files: the result for each, or its name and why it could not be read.
pub(crate) fn document(files: &[Result<Checked, (String, String)>]) -> String {
    let files: Vec<_> = files.iter().map(file).collect();
    format!("{:#}\n", json!({ "version": 1, "files": files }))
}

/// Returns the document of the exits that were taken.
pub(crate) fn coverage(outline: &Outline, coverage: &Coverage) -> String {
    let exit = |exit: &ExitSeen| {
        json!({
            "from": exit.state,
            "to": exit.to,
            "label": exit.label,
            "at_least": exit.seen.at_least,
            "at_most": exit.seen.at_most,
            "refused": exit.seen.refused,
            "ended_early": exit.seen.ended_early,
        })
    };
    let document = json!({
        "version": 1,
        "file": outline.file(),
        "machine": outline.machine(),
        "percent": coverage.percent(),
        "exits": coverage.exits().iter().map(exit).collect::<Vec<_>>(),
        "never_taken": coverage.untaken().into_iter().map(exit).collect::<Vec<_>>(),
        "in_doubt": coverage.in_doubt().into_iter().map(exit).collect::<Vec<_>>(),
        "never_entered": coverage.never_entered(),
    });
    format!("{document:#}\n")
}

fn file(checked: &Result<Checked, (String, String)>) -> Value {
    let checked = match checked {
        Ok(checked) => checked,
        Err((file, why)) => return json!({ "file": file, "unreadable": why }),
    };
    let mut object = Map::new();
    object.insert("file".into(), json!(checked.file));
    object.insert("errors".into(), json!(checked.errors));
    object.insert("warnings".into(), json!(checked.warnings));
    if let Some(Content { machines, states, unchecked, proof }) = &checked.content {
        object.insert("machines".into(), json!(machines));
        object.insert("states".into(), json!(states));
        let unchecked: Map<_, _> = unchecked.iter().map(|(kind, names)| ((*kind).to_owned(), json!(names))).collect();
        object.insert("unchecked".into(), Value::Object(unchecked));
        if let Some(proof) = proof {
            object.insert(
                "proof".into(),
                json!({
                    "notes": proof.notes(),
                    "properties": proof.properties().iter().map(decided).collect::<Vec<_>>(),
                    "steps": proof.steps(),
                }),
            );
        }
    }
    let all = checked.all();
    object.insert("problems".into(), all.into_iter().map(|(problem, finding)| found(problem, finding)).collect());
    Value::Object(object)
}

pub(crate) fn decided(property: &PropertyProof) -> Value {
    let (answer, depends) = match property.answer() {
        PropertyAnswer::Holds => ("holds", None),
        PropertyAnswer::Fails(_) => ("fails", None),
        PropertyAnswer::NotDecided(on) => ("not decided", Some(on)),
        _ => ("unknown", None),
    };
    let (name, machine, assumed) = (property.name(), property.machine(), property.is_assumed());
    json!({ "name": name, "machine": machine, "answer": answer, "assumed": assumed, "depends": depends })
}

/// Returns a problem as JSON. For a proved problem, this includes the machine and the witness.
pub(crate) fn found(of: &Problem, finding: Option<&Finding>) -> Value {
    let mut object = problem(of);
    if let Some(finding) = finding {
        object["machine"] = json!(finding.machine());
        object["assumed"] = json!(finding.is_assumed());
        object["witness"] = finding.witness().map_or(Value::Null, witness::document);
    }
    object
}

fn problem(problem: &Problem) -> Value {
    let place = |byte: usize| {
        let (line, column) = problem.position(byte);
        json!({ "byte": byte, "line": line, "column": column })
    };
    let labels: Vec<_> = problem
        .labeled_spans()
        .map(|(at, text)| json!({ "start": place(at.start), "end": place(at.end), "text": text }))
        .collect();
    json!({
        "code": problem.code_name(),
        "severity": if problem.is_warning() { "warning" } else { "error" },
        "message": problem.to_string(),
        "file": problem.file(),
        "labels": labels,
        "help": problem.advice(),
    })
}
