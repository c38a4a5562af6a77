//! Files of an evaluation: curves as CSV and SVG, tables, and a page with all of them.

use feeler_benches::Fallible;
use feeler_benches::lines::{Curve, Panel, chart};
use feeler_tests::insertion::Insertion;
use feeler_view::markup::escape;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Writer of the files. Tables and sentences are printed as well.
pub(crate) struct Output {
    folder: PathBuf,
    page: String,
}

impl Output {
    /// Creates the folder.
    pub(crate) fn new(folder: PathBuf) -> Fallible<Self> {
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let page = "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Evaluation</title>\n\
            <style>body{font:15px sans-serif;max-width:60em;margin:2em auto;padding:0 1em}\
            table{border-collapse:collapse;margin:1em 0;font-size:13px}\
            td,th{border:1px solid #ccc;padding:.25em .5em;text-align:right}\
            td:first-child,th:first-child{text-align:left}img{max-width:100%}</style>\n\
            <h1>Evaluation</h1>\n";
        Ok(Self { folder, page: page.to_owned() })
    }

    /// Writes the page.
    pub(crate) fn finish(self) -> Fallible<()> {
        let page = format!("{}</html>\n", self.page);
        self.write("index.html", &page)?;
        println!("\n{}", self.folder.join("index.html").display());
        Ok(())
    }

    /// Writes a file into the folder.
    pub(crate) fn write(&self, name: &str, text: &str) -> Fallible<()> {
        let file = self.folder.join(name);
        std::fs::write(&file, text).map_err(|e| format!("{}: {e}", file.display()))
    }

    pub(crate) fn heading(&mut self, text: &str) {
        println!("\n## {text}\n");
        let _ = writeln!(self.page, "<h2>{}</h2>", escape(text));
    }

    pub(crate) fn paragraph(&mut self, text: &str) {
        println!("{text}\n");
        let _ = writeln!(self.page, "<p>{}</p>", escape(text));
    }

    /// Adds a table whose first row is its header.
    pub(crate) fn table(&mut self, rows: &[Vec<String>]) {
        self.page.push_str("<table>\n");
        for (k, row) in rows.iter().enumerate() {
            println!("| {} |", row.join(" | "));
            if k == 0 {
                println!("|{}", "---|".repeat(row.len()));
            }
            let tag = if k == 0 { "th" } else { "td" };
            let cells = row.iter().map(|cell| format!("<{tag}>{}</{tag}>", escape(cell)));
            let _ = writeln!(self.page, "<tr>{}</tr>", cells.collect::<String>());
        }
        self.page.push_str("</table>\n");
        println!();
    }

    /// Writes a figure and adds it to the page.
    pub(crate) fn figure(&mut self, name: &str, title: &str, svg: &str) -> Fallible<()> {
        self.write(name, svg)?;
        let _ = writeln!(self.page, "<p><img src=\"{}\" alt=\"{}\"></p>", escape(name), escape(title));
        Ok(())
    }

    /// Writes curves over the motion of a scenario as `NAME.csv` and `NAME.svg`.
    pub(crate) fn chart(
        &mut self,
        name: &str,
        title: &str,
        panels: &[Panel],
        curves: &[Curve],
        scene: &Insertion,
    ) -> Fallible<()> {
        let second = |pose: &usize| *pose as f64 / 60.0;
        let phases: Vec<_> =
            scene.scenario.phases.iter().map(|(n, a, b)| (shown(n), second(a), second(b))).collect();
        self.chart_with(name, title, panels, curves, &phases)
    }

    /// Writes curves over time as `NAME.csv` and `NAME.svg`; `phases` with start and end times (s).
    pub(crate) fn chart_with(
        &mut self,
        name: &str,
        title: &str,
        panels: &[Panel],
        curves: &[Curve],
        phases: &[(String, f64, f64)],
    ) -> Fallible<()> {
        let mut csv = "curve,time_s".to_owned();
        for panel in panels {
            let _ = write!(csv, ",{}", panel.label);
        }
        csv.push('\n');
        for curve in curves {
            for (i, time) in curve.times.iter().enumerate() {
                let _ = write!(csv, "\"{}\",{time:.6}", curve.label);
                for values in &curve.values {
                    let _ = write!(csv, ",{}", values[i]);
                }
                csv.push('\n');
            }
        }
        self.write(&format!("{name}.csv"), &csv)?;
        self.figure(&format!("{name}.svg"), title, &chart(title, panels, curves, phases))
    }
}

/// Name of a phase as shown in figures.
pub(crate) fn shown(phase: &str) -> String {
    match phase {
        "approach" | "flight" => "free flight",
        "inplace" => "in place",
        other => other,
    }
    .to_owned()
}
