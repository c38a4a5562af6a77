//! Horizontal bar charts as SVG, with one logarithmic axis.

use feeler_view::markup::escape;
use std::fmt::Write as _;

/// A titled group of bars.
#[derive(Clone, Debug)]
pub struct Group {
    /// Heading of the group.
    pub title: String,
    /// Label and length of each bar. A length that is not positive and finite is drawn without a bar.
    pub bars: Vec<(String, f64)>,
}

/// Layout (px): width of the chart, margins for labels and values, heights of a bar, of a heading and of
/// the axis.
const WIDTH: f64 = 800.0;
const LEFT: f64 = 210.0;
const RIGHT: f64 = 80.0;
const ROW: f64 = 22.0;
const HEAD: f64 = 30.0;
const FOOT: f64 = 48.0;

/// Draws all groups over one logarithmic axis with the label `axis`; it ranges from the power of ten
/// below the shortest bar to the power of ten above the longest bar. Returns the SVG.
#[must_use]
pub fn chart(groups: &[Group], axis: &str) -> String {
    let drawn = |x: &f64| x.is_finite() && *x > 0.0;
    let lengths = || groups.iter().flat_map(|g| &g.bars).map(|b| b.1).filter(drawn);
    let low = lengths().map(log10).fold(f64::INFINITY, f64::min).floor();
    let high = lengths().map(log10).fold(f64::NEG_INFINITY, f64::max).ceil();
    let (low, high) = if low < high { (low, high) } else { (0.0, 1.0) };
    let x = |value: f64| LEFT + (WIDTH - LEFT - RIGHT) * (log10(value) - low) / (high - low);
    let rows = groups.iter().fold(0.0, |h, g| g.bars.iter().fold(h + HEAD, |h, _| h + ROW));
    let total = rows + FOOT;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{total}\" viewBox=\"0 0 \
            {WIDTH} {total}\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{WIDTH}\" \
            height=\"{total}\" fill=\"white\"/>\n"
    );
    let mut decade = low;
    while decade <= high {
        let value = format!("1e{decade}").parse().unwrap_or(1.0);
        let at = x(value);
        line(
            &mut svg,
            format_args!(
                "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{HEAD}\" y2=\"{rows}\" stroke=\"#ddd\"/><text \
                    x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{value}</text>",
                rows + 16.0
            ),
        );
        decade += 1.0;
    }
    let mut y = 0.0;
    for group in groups {
        y += HEAD;
        line(
            &mut svg,
            format_args!(
                "<text x=\"{LEFT}\" y=\"{:.1}\" font-weight=\"bold\">{}</text>",
                y - 10.0,
                escape(&group.title)
            ),
        );
        for (label, value) in &group.bars {
            let middle = y + 0.5 * ROW + 4.0;
            line(
                &mut svg,
                format_args!(
                    "<text x=\"{:.1}\" y=\"{middle:.1}\" text-anchor=\"end\">{}</text>",
                    LEFT - 6.0,
                    escape(label)
                ),
            );
            if drawn(value) {
                let end = x(*value);
                line(
                    &mut svg,
                    format_args!(
                        "<rect x=\"{LEFT}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" \
                            fill=\"#1f5fa8\"/><text x=\"{:.1}\" y=\"{middle:.1}\">{value:.2}</text>",
                        y + 3.0,
                        end - LEFT,
                        ROW - 6.0,
                        end + 5.0
                    ),
                );
            }
            y += ROW;
        }
    }
    line(
        &mut svg,
        format_args!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n</svg>",
            0.5 * (LEFT + WIDTH - RIGHT),
            rows + 38.0,
            escape(axis)
        ),
    );
    svg
}

fn log10(x: f64) -> f64 {
    x.log10()
}

fn line(svg: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = svg.write_fmt(text);
    svg.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_logarithms() {
        let bars = vec![("one".into(), 1.0), ("a < b".into(), 100.0), ("none".into(), f64::NAN)];
        let svg = chart(&[Group { title: "g".into(), bars }], "ms");
        let widths: Vec<&str> = svg
            .lines()
            .filter(|l| l.contains("fill=\"#1f5fa8\""))
            .filter_map(|l| l.split("width=\"").nth(1)?.split('"').next())
            .collect();
        assert_eq!(widths, ["0.0", "510.0"], "{svg}");
        assert!(svg.contains("a &lt; b") && svg.ends_with("</svg>\n"), "{svg}");
    }
}
