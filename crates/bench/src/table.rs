//! How a table looks.

use comfy_table::{CellAlignment, Table, presets};

/// A table whose first column holds names, and the others numbers.
pub(crate) fn of(header: Vec<String>, rows: impl IntoIterator<Item = Vec<String>>) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::ASCII_MARKDOWN).set_header(header).add_rows(rows);
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}
