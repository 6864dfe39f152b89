//! The order of tables with headers in a file. Each has a number, its place: the table with the lowest place comes first.

use toml_edit::{ArrayOfTables, Item, Table};

use super::Refused;

/// Calls a function with a table, and with each table with a header inside it.
pub(super) fn each(table: &Table, call: &mut dyn FnMut(&Table)) {
    call(table);
    for (_, item) in table {
        match item {
            Item::Table(inner) => each(inner, call),
            Item::ArrayOfTables(list) => list.iter().for_each(|inner| each(inner, call)),
            _ => {}
        }
    }
}

pub(super) fn each_mut(table: &mut Table, call: &mut dyn FnMut(&mut Table)) {
    call(table);
    for (_, item) in table.iter_mut() {
        match item {
            Item::Table(inner) => each_mut(inner, call),
            Item::ArrayOfTables(list) => list.iter_mut().for_each(|inner| each_mut(inner, call)),
            _ => {}
        }
    }
}

/// Returns the highest place of a table and the tables in it.
pub(super) fn last(table: &Table) -> Option<isize> {
    let mut last = None;
    each(table, &mut |table| last = last.max(table.position()));
    last
}

/// Puts the table that `new` creates directly behind the table at the place `behind`.
pub(super) fn insert(document: &mut Table, behind: isize, new: impl FnOnce(&mut Table) -> Option<&mut Table>) {
    each_mut(document, &mut |table| {
        let place = table.position().map(|place| if place > behind { place + 1 } else { place });
        table.set_position(place);
    });
    if let Some(new) = new(document) {
        new.set_position(Some(behind + 1));
    }
}

/// Returns the table whose header comes next behind a place.
pub(super) fn next(document: &mut Table, behind: isize) -> Option<&mut Table> {
    let mut next: Option<isize> = None;
    each(document, &mut |table| {
        let place = table.position().filter(|place| *place > behind && !table.is_implicit());
        next = next.into_iter().chain(place).min();
    });
    at(document, next?)
}

fn at(table: &mut Table, place: isize) -> Option<&mut Table> {
    if table.position() == Some(place) && !table.is_implicit() {
        return Some(table);
    }
    table.iter_mut().find_map(|(_, item)| match item {
        Item::Table(inner) => at(inner, place),
        Item::ArrayOfTables(list) => list.iter_mut().find_map(|inner| at(inner, place)),
        _ => None,
    })
}

/// Moves a table of a list to another place. The tables in it move with it.
pub(super) fn shift(list: &mut ArrayOfTables, from: usize, to: usize) -> Result<(), Refused> {
    if from >= list.len() || to >= list.len() {
        return Err("there is no such exit".into());
    }
    let mut places = Vec::new();
    list.iter().for_each(|table| each(table, &mut |table| places.extend(table.position())));
    places.sort_unstable();
    let table = list.remove(from);
    list.insert(to, table);
    let mut places = places.into_iter();
    for table in list.iter_mut() {
        let mut own = Vec::new();
        each(table, &mut |table| own.extend(table.position()));
        own.sort_unstable();
        let new: Vec<_> = places.by_ref().take(own.len()).collect();
        each_mut(table, &mut |table| {
            let place = table.position().and_then(|place| own.binary_search(&place).ok());
            if let Some(place) = place {
                table.set_position(Some(new[place]));
            }
        });
    }
    Ok(())
}
