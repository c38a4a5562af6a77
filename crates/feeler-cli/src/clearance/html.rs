//! The answer as a page.

use super::Checked;
use super::output::{detail, distance, finding, status, summary};
use crate::page::{Cell, Row};

pub(super) fn page(checked: &Checked) -> String {
    let header = ["finding", "status", "distance mm", "depth mm", "A", "B", "what"];
    let row = |row: &super::Row| {
        let [a, b] = row.parts.map(|i| checked.parts[i].path.as_str());
        let status = status(row);
        let depth = if row.depth() > 0.0 { format!("{:.6}", row.depth()) } else { "-".to_owned() };
        Row {
            class: if row.is_new_finding() { "new" } else { "" },
            cells: vec![
                Cell::new("", finding(row)),
                Cell::new(status, status),
                Cell::new("n", distance(row)),
                Cell::new("n", depth),
                Cell::new("path", a),
                Cell::new("path", b),
                Cell::new("", detail(row)),
            ],
        }
    };
    let rows: Vec<Row> = checked.rows.iter().map(row).collect();
    let wrong: Vec<String> = checked.left_out.iter().map(|w| format!("not checked: {w}")).collect();
    crate::page::page("Clearance", &summary(checked), &wrong, &header, &rows)
}
