//! Line charts as SVG: several panels with a common horizontal axis.

use anyhow::ensure;
use feeler_view::markup::escape;
use std::fmt::Write as _;
use std::path::Path;

/// Common horizontal axis of all panels, which begins at 0.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    /// Label of the axis: name of the quantity, with its unit.
    pub label: String,
    /// Value of the quantity at the right end of the axis, where the last sample of every panel is.
    pub last: f64,
}

/// Panel of a plot, with one line.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    /// Title of the panel: name of the quantity, with its unit.
    pub label: String,
    /// Samples at equal distances along the axis; the line is interrupted at `None`.
    pub values: Vec<Option<f64>>,
}

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 180.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 28.0;
const BOTTOM: f64 = 48.0;

/// Returns an SVG image of panels one above the other.
pub(crate) fn stacked(panels: &[Panel], axis: &Axis) -> String {
    let bottom = panels.iter().fold(TOP, |y, _| y + HEIGHT + TOP) - TOP;
    let (total, middle) = (bottom + BOTTOM, 0.5 * (LEFT + WIDTH - RIGHT));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{total}\" viewBox=\"0 0 \
            {WIDTH} {total}\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{WIDTH}\" \
            height=\"{total}\" fill=\"white\"/>\n"
    );
    let mut top = TOP;
    for panel in panels {
        draw(&mut svg, panel, top);
        top += HEIGHT + TOP;
    }
    for (x, text) in ticks(axis.last) {
        let x = LEFT + x * (WIDTH - LEFT - RIGHT);
        put(
            &mut svg,
            format_args!(
                "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{text}</text>",
                bottom + 16.0
            ),
        );
    }
    put(
        &mut svg,
        format_args!(
            "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            bottom + 36.0,
            escape(&axis.label)
        ),
    );
    svg.push_str("</svg>\n");
    svg
}

/// Checks that the name of a plot ends with `.svg`.
pub(crate) fn check_name(file: &Path) -> anyhow::Result<()> {
    let is_svg = file.extension().is_some_and(|e| e.eq_ignore_ascii_case("svg"));
    ensure!(is_svg, "{}: plots are SVG; give a name that ends with .svg", file.display());
    Ok(())
}

fn put(svg: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = svg.write_fmt(line);
    svg.push('\n');
}

fn draw(svg: &mut String, panel: &Panel, top: f64) {
    let width = WIDTH - LEFT - RIGHT;
    put(
        svg,
        format_args!(
            "<text x=\"{LEFT}\" y=\"{:.1}\">{}</text>\n<rect x=\"{LEFT}\" y=\"{top:.1}\" width=\"{width}\" \
                height=\"{HEIGHT}\" fill=\"none\" stroke=\"#888\"/>",
            top - 8.0,
            escape(&panel.label)
        ),
    );
    let largest = panel.values.iter().flatten().copied().filter(|v| v.is_finite()).fold(0.0, f64::max);
    for (y, text) in ticks(largest) {
        let y = top + HEIGHT * (1.0 - y);
        put(
            svg,
            format_args!(
                "<line x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>\n<text \
                    x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
                WIDTH - RIGHT,
                LEFT - 6.0,
                y + 4.0
            ),
        );
    }
    let scale = if largest > 0.0 { HEIGHT / largest } else { 0.0 };
    #[expect(clippy::cast_precision_loss, reason = "a count of samples")]
    let step = if panel.values.len() > 1 { width / (panel.values.len() - 1) as f64 } else { 0.0 };
    let mut path = String::new();
    let mut x = LEFT;
    let mut pen_down = false;
    for value in &panel.values {
        match value.filter(|v| v.is_finite()) {
            Some(v) => {
                let command = if pen_down { 'L' } else { 'M' };
                // A sample between two missing ones is visible as a dot, because the line has round
                // caps.
                let _ = write!(path, "{command}{x:.1} {:.1}", top + HEIGHT - scale * v.max(0.0));
                if !pen_down {
                    path.push_str("l0 0");
                }
                pen_down = true;
            }
            None => pen_down = false,
        }
        x += step;
    }
    put(
        svg,
        format_args!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"#1f5fa8\" stroke-width=\"1.5\" \
                stroke-linecap=\"round\" stroke-linejoin=\"round\"/>"
        ),
    );
}

/// Returns round values from 0 to `largest` at which an axis has ticks: each as a fraction of `largest`,
/// and as text.
fn ticks(largest: f64) -> Vec<(f64, String)> {
    if !(largest > 0.0 && largest.is_finite()) {
        return vec![(0.0, "0".into())];
    }
    let rough = largest / 4.0;
    let mut power = 1.0;
    while power > rough {
        power /= 10.0;
    }
    while power * 10.0 <= rough {
        power *= 10.0;
    }
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= rough).unwrap_or(rough);
    let decimals = (0..12).find(|&d| step * f64::from(10_u32.pow(d.min(9))) >= 0.999).unwrap_or(9) as usize;
    (0..=5_u32)
        .map(|i| f64::from(i) * step)
        .filter(|v| *v <= largest * 1.000_001)
        .map(|v| (v / largest, format!("{v:.decimals$}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within_the_range() {
        let text = |largest: f64| ticks(largest).into_iter().map(|t| t.1).collect::<Vec<_>>().join(" ");
        assert_eq!(text(1.0), "0.0 0.5 1.0");
        assert_eq!(text(17.0), "0 5 10 15");
        assert_eq!(text(0.013), "0.000 0.005 0.010");
        assert_eq!(text(0.0), "0");
        assert_eq!(text(f64::NAN), "0");
        assert_eq!(text(900.0), "0 500");
    }

    #[test]
    fn gaps_break_the_line_and_text_is_escaped() {
        let panel = Panel { label: "a < b".into(), values: vec![Some(1.0), None, Some(2.0), Some(f64::NAN)] };
        let svg = stacked(&[panel], &Axis { label: "step".into(), last: 3.0 });
        let path = svg.lines().find(|l| l.starts_with("<path")).unwrap();
        assert_eq!(path.matches('M').count(), 2, "{path}");
        assert!(svg.contains("a &lt; b") && svg.ends_with("</svg>\n"));
    }
}
