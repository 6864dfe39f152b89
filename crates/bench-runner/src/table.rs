//! The layout of the tables.

use comfy_table::{CellAlignment, Table, presets};

/// Creates a table whose first column contains names and whose other columns contain numbers.
///
/// # Examples
///
/// ```
/// let table = bench_runner::table(vec!["row".into(), "ns".into()], [vec!["by hand".into(), "1.5".into()]]);
/// assert_eq!(table.to_string(), "| row     |  ns |\n|---------|-----|\n| by hand | 1.5 |");
/// ```
#[must_use]
pub fn table(header: Vec<String>, rows: impl IntoIterator<Item = Vec<String>>) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::ASCII_MARKDOWN).set_header(header).add_rows(rows);
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}
