//! Line charts as SVG: panels over one axis of time, each with several curves on a logarithmic axis, and the
//! phases of a motion marked.
//!
//! A curve of thousands of steps is drawn as the medians of some hundred intervals, with a band from the
//! 5th to the 95th percentile of each.

use crate::spread;
use feeler_view::markup::escape;
use std::fmt::Write as _;

/// A curve over time.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Label in the legend.
    pub label: String,
    /// Times (s) of the steps in ascending order.
    pub times: Vec<f64>,
    /// For each panel, the value at each of these times.
    pub values: Vec<Vec<f64>>,
}

/// A panel of a chart.
#[derive(Clone, Copy, Debug)]
pub struct Panel {
    /// Heading: the quantity and its unit.
    pub label: &'static str,
    /// Lower end of the logarithmic axis, above 0. Smaller values are drawn at this height.
    pub floor: f64,
    /// Label of the lower end of the axis.
    pub floor_label: &'static str,
}

/// Layout (px): width of the chart, height of a panel, margins, heights of a heading, of a line of the
/// legend and of the axis.
const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 190.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 16.0;
const HEAD: f64 = 44.0;
const ROW: f64 = 17.0;
const FOOT: f64 = 44.0;
/// Number of intervals into which the whole time is divided. More intervals show more detail and more
/// noise.
const INTERVALS: usize = 150;
/// Colours of the curves, repeated if there are more.
pub(crate) const COLOURS: [&str; 6] = ["#1f5fa8", "#d9730d", "#2b8a3e", "#7a7a7a", "#9c36b5", "#c92a2a"];

/// Draws all panels one above the other, over times from 0 to the last time. `phases`: names with start
/// and end times (s). Returns the SVG.
#[must_use]
pub fn chart(title: &str, panels: &[Panel], curves: &[Curve], phases: &[(String, f64, f64)]) -> String {
    let times = curves.iter().filter_map(|c| c.times.last().copied());
    let last = times.chain(phases.iter().map(|p| p.2)).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let legend = curves.iter().fold(28.0, |y, _| y + ROW);
    let bottom = panels.iter().fold(legend, |y, _| y + HEAD + HEIGHT);
    let total = bottom + FOOT;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{total}\" viewBox=\"0 0 \
            {WIDTH} {total}\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{WIDTH}\" \
            height=\"{total}\" fill=\"white\"/>\n"
    );
    put(
        &mut svg,
        format_args!(
            "<text x=\"{LEFT}\" y=\"18\" font-weight=\"bold\" font-size=\"14\">{}</text>",
            escape(title)
        ),
    );
    let mut y = 28.0;
    for (curve, colour) in curves.iter().zip(COLOURS.iter().cycle()) {
        put(
            &mut svg,
            format_args!(
                "<path d=\"M{LEFT} {:.1}h24\" stroke=\"{colour}\" stroke-width=\"3\"/><text x=\"{:.1}\" \
                    y=\"{:.1}\">{}</text>",
                y + 8.0,
                LEFT + 32.0,
                y + 12.0,
                escape(&curve.label)
            ),
        );
        y += ROW;
    }
    for (k, panel) in panels.iter().enumerate() {
        y += HEAD;
        draw(&mut svg, panel, curves, k, phases, (y, last));
        y += HEIGHT;
    }
    for (part, text) in seconds(last) {
        let x = LEFT + part * (WIDTH - LEFT - RIGHT);
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
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">simulated time (s)</text>\n</svg>",
            0.5 * (LEFT + WIDTH - RIGHT),
            bottom + 34.0
        ),
    );
    svg
}

/// Draws one panel with its upper border at `top` (px), over times from 0 to `last` (s).
fn draw(
    svg: &mut String,
    panel: &Panel,
    curves: &[Curve],
    k: usize,
    phases: &[(String, f64, f64)],
    (top, last): (f64, f64),
) {
    let width = WIDTH - LEFT - RIGHT;
    let values = curves.iter().filter_map(|c| c.values.get(k)).flatten().copied();
    let max = values.filter(|v| v.is_finite()).fold(10.0 * panel.floor, f64::max);
    let (low, high) = (panel.floor.log10(), max.log10());
    let x = |t: f64| LEFT + width * (t / last).clamp(0.0, 1.0);
    let y = |v: f64| top + HEIGHT * (high - v.max(panel.floor).log10()) / (high - low);
    put(
        svg,
        format_args!(
            "<text x=\"{LEFT}\" y=\"{:.1}\" font-weight=\"bold\">{}</text>",
            top - 18.0,
            panel.label
        ),
    );
    for (i, (name, from, to)) in phases.iter().enumerate() {
        let (a, b) = (x(*from), x(*to));
        let fill = if i % 2 == 0 { "#f3f3f3" } else { "#ffffff" };
        put(
            svg,
            format_args!(
                "<rect x=\"{a:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{HEIGHT}\" \
                    fill=\"{fill}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" \
                    fill=\"#666\">{}</text>",
                b - a,
                0.5 * (a + b),
                top - 4.0,
                escape(name)
            ),
        );
    }
    let mut decade = low.ceil();
    while decade <= high {
        let value: f64 = format!("1e{decade}").parse().unwrap_or(1.0);
        let at = y(value);
        // The lower end has its own label.
        if at < top + HEIGHT - 16.0 {
            put(
                svg,
                format_args!(
                    "<path d=\"M{LEFT} {at:.1}h{width}\" stroke=\"#ddd\"/><text x=\"{:.1}\" y=\"{:.1}\" \
                        text-anchor=\"end\">{value}</text>",
                    LEFT - 6.0,
                    at + 4.0
                ),
            );
        }
        decade += 1.0;
    }
    put(
        svg,
        format_args!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n<rect x=\"{LEFT}\" y=\"{top:.1}\" \
                width=\"{width}\" height=\"{HEIGHT}\" fill=\"none\" stroke=\"#888\"/>",
            LEFT - 6.0,
            top + HEIGHT,
            panel.floor_label
        ),
    );
    for (curve, colour) in curves.iter().zip(COLOURS.iter().cycle()) {
        let Some(values) = curve.values.get(k) else { continue };
        let intervals = medians(&curve.times, values, last);
        let mut band = String::new();
        let upper = intervals.iter().map(|i| (i.0, i.3));
        let lower = intervals.iter().rev().map(|i| (i.0, i.1));
        for (i, (t, v)) in upper.chain(lower).enumerate() {
            let _ = write!(band, "{}{:.1} {:.1}", if i == 0 { 'M' } else { 'L' }, x(t), y(v));
        }
        let mut line = String::new();
        for (i, (t, _, v, _)) in intervals.iter().enumerate() {
            let _ = write!(line, "{}{:.1} {:.1}", if i == 0 { 'M' } else { 'L' }, x(*t), y(*v));
        }
        put(
            svg,
            format_args!(
                "<path d=\"{band}Z\" fill=\"{colour}\" fill-opacity=\"0.2\"/>\n<path d=\"{line}\" \
                    fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>"
            ),
        );
    }
}

/// Mean time, 5th percentile, median and 95th percentile of the values of each interval. The intervals
/// have equal lengths and cover 0 to `last` (s); empty ones are omitted.
fn medians(times: &[f64], values: &[f64], last: f64) -> Vec<(f64, f64, f64, f64)> {
    let mut out = Vec::new();
    let mut start = 0;
    for i in 0..INTERVALS {
        #[expect(clippy::cast_precision_loss, reason = "some hundred intervals")]
        let end = last * (i + 1) as f64 / INTERVALS as f64;
        let is_last = i + 1 == INTERVALS;
        let stop = if is_last { times.len() } else { times.partition_point(|t| *t < end) };
        if start < stop {
            let mut some: Vec<f64> = values[start..stop].to_vec();
            #[expect(clippy::cast_precision_loss, reason = "a count of steps")]
            let time = times[start..stop].iter().sum::<f64>() / (stop - start) as f64;
            let [median, high, _] = spread(&mut some);
            out.push((time, some[some.len() * 5 / 100], median, high));
            start = stop;
        }
    }
    out
}

/// Ticks of the time axis up to the time `last` (s): positions as a fraction of it, and labels.
fn seconds(last: f64) -> Vec<(f64, String)> {
    let step = [0.1, 0.5, 1.0, 2.0, 5.0, 10.0].into_iter().find(|step| last <= 12.0 * step).unwrap_or(60.0);
    let mut out = Vec::new();
    let mut t = 0.0;
    while t <= last {
        out.push((t / last, format!("{t:.1}")));
        t += step;
    }
    out
}

fn put(svg: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = svg.write_fmt(line);
    svg.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_have_medians_without_outliers() {
        // Each interval has 200 steps with the values 0 to 19 in turns; every hundredth step is an
        // outlier.
        let times: Vec<f64> = (0..30_000).map(|k| f64::from(k) * 1e-4).collect();
        let value = |k: i32| if k % 100 == 0 { 1e6 } else { f64::from(k % 20) };
        let values: Vec<f64> = (0..30_000).map(value).collect();
        let found = medians(&times, &values, 3.0);
        assert_eq!(found.len(), INTERVALS);
        for (_, low, median, high) in found {
            let is_right = (0.0..=1.0).contains(&low) && (9.0..=10.0).contains(&median);
            assert!(is_right && (18.0..=19.0).contains(&high), "{low} {median} {high}");
        }
        // Intervals without steps are omitted.
        assert_eq!(medians(&[0.5, 0.6, 2.9], &[1.0, 3.0, 2.0], 3.0).len(), 3);
    }

    #[test]
    fn a_tenfold_value_is_drawn_a_decade_higher() {
        let curve = Curve { label: "a < b".into(), times: vec![0.0, 3.0], values: vec![vec![1.0, 10.0]] };
        let panel = Panel { label: "ms", floor: 0.1, floor_label: "0" };
        let svg = chart("t", &[panel], &[curve], &[("free flight".into(), 0.0, 1.5)]);
        let line = svg.lines().find(|l| l.contains("stroke-width=\"1.5\"")).unwrap();
        // The panel is two decades high; the curve rises from its middle to its top.
        let top = 28.0 + ROW + HEAD;
        assert!(line.contains(&format!("M{LEFT:.1} {:.1}", top + 0.5 * HEIGHT)), "{line}");
        assert!(line.contains(&format!("L{:.1} {top:.1}", WIDTH - RIGHT)), "{line}");
        assert!(svg.contains("a &lt; b") && svg.contains(">free flight<") && svg.ends_with("</svg>\n"));
    }
}
