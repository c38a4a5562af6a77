//! The assembly tree as text.

use feeler_hierarchy::{Component, Model};
use std::fmt::Write as _;

/// Rotations below this angle (rad) and translations below this length (mm) are not printed in the tree
/// of components. Rounding is printed with a smaller value; a larger one hides motions.
const MIN_SHOWN_MOTION: f64 = 1e-9;

/// Renders one line for each component, indented by its depth: its name, the instances directly in it,
/// and its pose in its parent.
pub(crate) fn render(model: &Model) -> String {
    let mut children = vec![Vec::new(); model.components.len()];
    let mut roots = Vec::new();
    for (i, c) in model.components.iter().enumerate() {
        match c.parent {
            Some(p) => children[p as usize].push(i),
            None => roots.push(i),
        }
    }
    let mut out = String::new();
    // Components still to be rendered: index, lines of the tree to the left of the name, and branch to
    // the name.
    let mut stack: Vec<(usize, String, &str)> =
        roots.into_iter().rev().map(|i| (i, String::new(), "")).collect();
    while let Some((i, lead, branch)) = stack.pop() {
        let c = &model.components[i];
        let name = if c.name.is_empty() { "(unnamed)" } else { &c.name };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{lead}{branch}{name}{}{}", instances_text(c), pose_text(c));
        let below = match branch {
            "├─ " => format!("{lead}│  "),
            "└─ " => format!("{lead}   "),
            _ => lead,
        };
        for (k, child) in children[i].iter().enumerate().rev() {
            let branch = if k + 1 == children[i].len() { "└─ " } else { "├─ " };
            stack.push((*child, below.clone(), branch));
        }
    }
    out
}

/// Text with the instances directly in a component.
fn instances_text(c: &Component) -> String {
    match c.instances.as_slice() {
        [] => String::new(),
        [i] => format!(" [{i}]"),
        [first, .., last] if last - first == u32::try_from(c.instances.len() - 1).unwrap_or(0) => {
            format!(" [{first}-{last}]")
        }
        several => {
            let list: Vec<String> = several.iter().map(ToString::to_string).collect();
            format!(" [{}]", list.join(", "))
        }
    }
}

fn pose_text(c: &Component) -> String {
    let mut words = Vec::new();
    if c.mirrored {
        words.push("mirrored in x".to_owned());
    }
    let [x, y, z, w] = c.rotation;
    let sine = (x * x + y * y + z * z).sqrt();
    let angle = 2.0 * feeler_geom::math::atan2(sine, w.abs());
    if angle > MIN_SHOWN_MOTION {
        let sign = if w < 0.0 { -1.0 } else { 1.0 };
        let axis = [x, y, z].map(|a| number(sign * a / sine, 4));
        words.push(format!("rotated {}° about {}", number(angle.to_degrees(), 4), axis.join(" ")));
    }
    if c.translation.iter().any(|t| t.abs() > MIN_SHOWN_MOTION) {
        words.push(format!("at {}", c.translation.map(|t| number(t, 4)).join(" ")));
    }
    if words.is_empty() { String::new() } else { format!("  {}", words.join(", ")) }
}

/// Number rounded to `digits` decimals, without zeros at the end.
fn number(x: f64, digits: usize) -> String {
    let text = format!("{x:.digits$}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use feeler_hierarchy::{Options, Origin};

    #[test]
    fn depth_places_and_instances_show() {
        let component = |name: &str, parent, instances: &[u32]| Component {
            name: name.to_owned(),
            source: 1,
            parent,
            mirrored: false,
            translation: [0.0; 3],
            rotation: [0.0, 0.0, 0.0, 1.0],
            instances: instances.to_vec(),
        };
        let half = 0.5_f64.sqrt();
        let components = vec![
            component("rack", None, &[]),
            component("shelf:1", Some(0), &[0, 1, 2]),
            Component { translation: [1.5, 0.0, -20.0], ..component("bolt", Some(1), &[4, 7]) },
            Component { rotation: [0.0, 0.0, -half, -half], ..component("shelf:2", Some(0), &[5]) },
            Component { mirrored: true, ..component("", Some(3), &[6]) },
            component("stand", None, &[]),
        ];
        let model = Model {
            input: String::new(),
            input_hash: 0,
            options: Options { flatness: 0.5 },
            solids: Vec::new(),
            instances: Vec::new(),
            components,
            remarks: Vec::new(),
            origin: Origin::default(),
        };
        let expected = "\
rack
├─ shelf:1 [0-2]
│  └─ bolt [4, 7]  at 1.5 0 -20
└─ shelf:2 [5]  rotated 90° about 0 0 1
   └─ (unnamed) [6]  mirrored in x
stand
";
        assert_eq!(render(&model), expected);
    }
}
