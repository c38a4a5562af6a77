//! Charts of curves and colour maps as SVG, several panels in a grid.

use crate::lines::COLOURS;
use feeler_view::markup::escape;
use std::fmt::Write as _;

/// Axis of a chart.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// Quantity and unit.
    pub label: &'static str,
    /// Whether the axis is logarithmic. Values of at most 0 are then not drawn.
    pub is_log: bool,
}

/// Curve of a chart.
#[derive(Clone, Debug)]
pub struct Series {
    /// Label in the legend.
    pub label: String,
    /// Points in the order in which they are joined.
    pub points: Vec<[f64; 2]>,
}

/// Panel with curves.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Heading.
    pub title: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Curves. Panels share one legend, so equal positions in all panels have equal colours.
    pub series: Vec<Series>,
}

/// Panel with a coloured square for each value.
#[derive(Clone, Debug)]
pub struct ColorMap {
    /// Heading.
    pub title: String,
    /// Names of the columns, from the left.
    pub columns: Vec<String>,
    /// Names of the rows, from the top.
    pub rows: Vec<String>,
    /// Values by row and column.
    pub values: Vec<Vec<f64>>,
}

/// Panel with a picture of labelled pixels.
#[derive(Clone, Debug)]
pub struct LabelMap {
    /// Heading.
    pub title: String,
    /// Number of pixels of a row.
    pub width: usize,
    /// Label of each pixel, row by row from the bottom.
    pub labels: Vec<u32>,
}

/// Layout (px): width and height of a panel, margins, height of a line of the legend.
const WIDTH: f64 = 380.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 64.0;
const HEAD: f64 = 34.0;
const FOOT: f64 = 44.0;
const GAP: f64 = 20.0;
const ROW: f64 = 17.0;

/// Draws charts in a grid, with the legend of the first one. Returns the SVG.
#[must_use]
pub fn charts(title: &str, charts: &[Chart], columns: usize) -> String {
    let legend: Vec<&str> =
        charts.first().into_iter().flat_map(|c| &c.series).map(|s| s.label.as_str()).collect();
    grid(title, &legend, columns, charts.len(), |svg, k, at| draw_chart(svg, &charts[k], at))
}

/// Draws colour maps in a grid, all with one scale of colours from the smallest to the largest value.
#[must_use]
pub fn color_maps(title: &str, maps: &[ColorMap], columns: usize) -> String {
    let all = || maps.iter().flat_map(|m| m.values.iter().flatten()).copied().filter(|v| v.is_finite());
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    grid(title, &[], columns, maps.len(), |svg, k, at| draw_color_map(svg, &maps[k], (low, high), at))
}

/// Draws pictures of labels in a grid.
#[must_use]
pub fn label_maps(title: &str, maps: &[LabelMap], columns: usize) -> String {
    grid(title, &[], columns, maps.len(), |svg, k, at| draw_label_map(svg, &maps[k], at))
}

fn grid(
    title: &str,
    legend: &[&str],
    columns: usize,
    count: usize,
    mut panel: impl FnMut(&mut String, usize, [f64; 2]),
) -> String {
    #[expect(clippy::cast_precision_loss, reason = "few panels")]
    let float = |n: usize| n as f64;
    let top = 28.0 + float(legend.len()) * ROW;
    let cell = [LEFT + WIDTH + GAP, HEAD + HEIGHT + FOOT];
    let width = GAP + float(columns.min(count)) * cell[0];
    let height = top + float(count.div_ceil(columns)) * cell[1];
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n<text x=\"{GAP}\" y=\"18\" \
         font-weight=\"bold\" font-size=\"14\">{}</text>\n",
        escape(title)
    );
    // Writing to a string does not fail.
    for (k, (label, color)) in legend.iter().zip(COLOURS.iter().cycle()).enumerate() {
        let y = 28.0 + float(k) * ROW;
        let _ = writeln!(
            svg,
            "<path d=\"M{GAP} {:.1}h24\" stroke=\"{color}\" stroke-width=\"3\"/><text x=\"{:.1}\" \
             y=\"{:.1}\">{}</text>",
            y + 8.0,
            GAP + 32.0,
            y + 12.0,
            escape(label)
        );
    }
    for k in 0..count {
        let at = [GAP + LEFT + float(k % columns) * cell[0], top + HEAD + float(k / columns) * cell[1]];
        panel(&mut svg, k, at);
    }
    svg.push_str("</svg>\n");
    svg
}

/// Range of an axis, and the values with a tick.
struct Scale {
    is_log: bool,
    low: f64,
    high: f64,
    ticks: Vec<f64>,
}

impl Scale {
    fn new(axis: Axis, values: impl Iterator<Item = f64>) -> Self {
        let of = |v: f64| if axis.is_log { v.log10() } else { v };
        let drawn = values.filter(|v| v.is_finite() && (!axis.is_log || *v > 0.0)).map(of);
        let (mut low, mut high) =
            drawn.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        if !axis.is_log {
            low = low.min(0.0);
        }
        if high - low < 1e-12 {
            high = low + 1.0;
        }
        let unit = feeler_geom::math::powf(10.0, ((high - low) / 4.0).log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|f| f * unit).into_iter().find(|s| (high - low) / s <= 6.0);
        let mut step = step.unwrap_or(10.0 * unit);
        if axis.is_log {
            step = step.max(1.0).round();
        }
        let mut ticks = Vec::new();
        let mut tick = (low / step).ceil() * step;
        while tick <= high + 1e-9 * step {
            ticks.push(tick);
            tick += step;
        }
        if axis.is_log && ticks.len() < 2 {
            // Less than two powers of ten: multiples by 2 and 5 as well.
            let decades = (0..=2).map(|k| low.floor() + f64::from(k));
            let all = decades.flat_map(|d| [1.0_f64, 2.0, 5.0].map(|m| d + m.log10()));
            ticks = all.filter(|t| (low..=high).contains(t)).collect();
        }
        Self { is_log: axis.is_log, low, high, ticks }
    }

    /// Position of a value: 0 at the lower end, 1 at the upper one; `None` if the value is not drawn.
    fn position(&self, value: f64) -> Option<f64> {
        let v = if self.is_log { value.log10() } else { value };
        v.is_finite().then(|| (v - self.low) / (self.high - self.low))
    }

    fn name(&self, tick: f64) -> String {
        if self.is_log {
            let decade = (tick + 1e-9).floor();
            format!("{}e{decade}", feeler_geom::math::powf(10.0, tick - decade).round())
        } else {
            format!("{}", (tick * 1e6).round() / 1e6)
        }
    }
}

fn draw_chart(svg: &mut String, chart: &Chart, [left, top]: [f64; 2]) {
    let all = || chart.series.iter().flat_map(|s| &s.points);
    let x = Scale::new(chart.x, all().map(|p| p[0]));
    let y = Scale::new(chart.y, all().map(|p| p[1]));
    heading(svg, &chart.title, left, top);
    for tick in &x.ticks {
        let at = left + WIDTH * (tick - x.low) / (x.high - x.low);
        let _ = writeln!(
            svg,
            "<path d=\"M{at:.1} {top}v{HEIGHT}\" stroke=\"#ddd\"/><text x=\"{at:.1}\" y=\"{:.1}\" \
             text-anchor=\"middle\">{}</text>",
            top + HEIGHT + 16.0,
            x.name(*tick)
        );
    }
    for tick in &y.ticks {
        let at = top + HEIGHT * (y.high - tick) / (y.high - y.low);
        let _ = writeln!(
            svg,
            "<path d=\"M{left} {at:.1}h{WIDTH}\" stroke=\"#ddd\"/><text x=\"{:.1}\" y=\"{:.1}\" \
             text-anchor=\"end\">{}</text>",
            left - 6.0,
            at + 4.0,
            y.name(*tick)
        );
    }
    let _ = writeln!(
        svg,
        "<rect x=\"{left}\" y=\"{top}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"none\" stroke=\"#888\"/>\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
         <text transform=\"translate({:.1} {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        left + 0.5 * WIDTH,
        top + HEIGHT + 32.0,
        escape(chart.x.label),
        left - 50.0,
        top + 0.5 * HEIGHT,
        escape(chart.y.label)
    );
    for (series, color) in chart.series.iter().zip(COLOURS.iter().cycle()) {
        let mut line = String::new();
        let mut marks = String::new();
        for p in &series.points {
            let (Some(a), Some(b)) = (x.position(p[0]), y.position(p[1])) else { continue };
            let (a, b) = (left + WIDTH * a, top + HEIGHT * (1.0 - b));
            let _ = write!(line, "{}{a:.1} {b:.1}", if line.is_empty() { 'M' } else { 'L' });
            // Few points are marked.
            if series.points.len() <= 20 {
                let _ = write!(marks, "M{a:.1} {b:.1}h0");
            }
        }
        let _ = writeln!(
            svg,
            "<path d=\"{line}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.5\"/><path d=\"{marks}\" \
             stroke=\"{color}\" stroke-width=\"5\" stroke-linecap=\"round\"/>"
        );
    }
}

fn heading(svg: &mut String, title: &str, left: f64, top: f64) {
    let _ = writeln!(
        svg,
        "<text x=\"{left}\" y=\"{:.1}\" font-weight=\"bold\">{}</text>",
        top - 8.0,
        escape(title)
    );
}

fn draw_color_map(svg: &mut String, map: &ColorMap, (low, high): (f64, f64), [left, top]: [f64; 2]) {
    heading(svg, &map.title, left, top);
    #[expect(clippy::cast_precision_loss, reason = "few columns")]
    let step = |k: usize, n: usize, size: f64| size * k as f64 / n.max(1) as f64;
    let (nx, ny) = (map.columns.len(), map.rows.len());
    let (w, h) = (step(1, nx, WIDTH), step(1, ny, HEIGHT));
    for (i, row) in map.values.iter().enumerate() {
        let y = top + step(i, ny, HEIGHT);
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            left - 6.0,
            y + 0.5 * h + 4.0,
            escape(&map.rows[i])
        );
        for (k, value) in row.iter().enumerate() {
            let x = left + step(k, nx, WIDTH);
            let part = if high > low { (value - low) / (high - low) } else { 0.0 };
            let _ = writeln!(
                svg,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" height=\"{h:.1}\" \
                 fill=\"hsl({:.0} 70% 60%)\"/><text x=\"{:.1}\" y=\"{:.1}\" \
                 text-anchor=\"middle\">{value:.0}</text>",
                220.0 * (1.0 - part),
                x + 0.5 * w,
                y + 0.5 * h + 4.0
            );
        }
    }
    for (k, name) in map.columns.iter().enumerate() {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            left + step(k, nx, WIDTH) + 0.5 * w,
            top + HEIGHT + 16.0,
            escape(name)
        );
    }
}

fn draw_label_map(svg: &mut String, map: &LabelMap, [left, top]: [f64; 2]) {
    heading(svg, &map.title, left, top);
    let rows = map.labels.len() / map.width.max(1);
    #[expect(clippy::cast_precision_loss, reason = "a scale")]
    let scale = HEIGHT / rows.max(1) as f64;
    // One path for each label, made of its runs in all rows; numbers are pixels.
    let mut paths: std::collections::BTreeMap<u32, String> = std::collections::BTreeMap::new();
    for (i, row) in map.labels.chunks(map.width.max(1)).enumerate() {
        let y = rows - 1 - i;
        let mut start = 0;
        while start < row.len() {
            let length = row[start..].iter().take_while(|l| **l == row[start]).count();
            let _ = write!(paths.entry(row[start]).or_default(), "M{start} {y}h{length}v1h-{length}z");
            start += length;
        }
    }
    let _ = writeln!(
        svg,
        "<g transform=\"translate({left} {top}) scale({scale:.4})\" shape-rendering=\"crispEdges\">"
    );
    for (label, path) in paths {
        // Successive labels are far apart on the wheel of hues.
        let hue = (f64::from(label) * 137.508) % 360.0;
        let light = if label % 2 == 0 { 55 } else { 70 };
        let _ = writeln!(svg, "<path d=\"{path}\" fill=\"hsl({hue:.0} 60% {light}%)\"/>");
    }
    svg.push_str("</g>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_have_round_ticks() {
        let linear = Axis { label: "x", is_log: false };
        let scale = Scale::new(linear, [3.0, 17.0].into_iter());
        assert_eq!(scale.ticks, [0.0, 5.0, 10.0, 15.0]);
        assert!(scale.position(17.0).is_some_and(|p| (p - 1.0).abs() < 1e-15));
        let log = Scale::new(Axis { label: "y", is_log: true }, [1e-3, 20.0, 0.0].into_iter());
        assert_eq!(log.ticks, [-3.0, -2.0, -1.0, 0.0, 1.0]);
        assert_eq!((log.name(-3.0).as_str(), log.position(0.0)), ("1e-3", None));
        let short = Scale::new(Axis { label: "y", is_log: true }, [3e-3, 3e-2].into_iter());
        let names: Vec<String> = short.ticks.iter().map(|t| short.name(*t)).collect();
        assert_eq!(names, ["5e-3", "1e-2", "2e-2"]);
    }

    #[test]
    fn runs_of_labels_cover_the_picture() {
        let map = LabelMap { title: "a < b".into(), width: 3, labels: vec![1, 1, 2, 2, 2, 2] };
        let svg = label_maps("labels", &[map], 1);
        assert!(svg.contains("M0 1h2v1h-2z") && svg.contains("M2 1h1v1h-1zM0 0h3v1h-3z"), "{svg}");
        assert!(svg.contains("a &lt; b"));
    }
}
