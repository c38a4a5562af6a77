//! Tests of solids that the file hides.
#![allow(clippy::unwrap_used, reason = "test code")]

use crate::writer::{File, Length, refs};
use feeler_step::{Import, ReadOptions, Reading, read_step_with};

/// Writes the entities that hide one of the given solids, and returns their ids.
type Hide<'a> = dyn Fn(&mut File, &[u64]) -> Vec<u64> + 'a;

/// Reads a file with three blocks in one part; `hide` adds entities that hide some of them, and returns
/// their ids.
fn read(hide: &Hide<'_>, skip_hidden: bool) -> Import {
    let mut f = File::new();
    let block = |f: &mut File, k: u32| {
        let x = f64::from(k) * 10.0;
        let faces = f.block([x, 0.0, 0.0], [x + 1.0 + f64::from(k), 1.0, 1.0]);
        f.solid(&faces)
    };
    let solids: Vec<u64> = (0..3).map(|k| block(&mut f, k)).collect();
    let context = f.context(Length::Millimetre, false);
    let shape = f.shape(&solids, context);
    f.product("part", shape);
    let items = hide(&mut f, &solids);
    if !items.is_empty() {
        f.add(format!("INVISIBILITY({})", refs(&items)));
    }
    let options = ReadOptions { resolve: &|_| None, reading: Reading { skip_hidden, ..Reading::default() } };
    read_step_with("hidden.step", f.text().as_bytes(), &options).unwrap()
}

#[test]
fn hidden_solids_are_left_out_on_demand() {
    let styled = |f: &mut File, item: u64| f.add(format!("STYLED_ITEM('',(),#{item})"));
    let by_style = |f: &mut File, s: &[u64]| vec![styled(f, s[1])];
    let over_riding = |f: &mut File, s: &[u64]| {
        let first = styled(f, s[1]);
        vec![f.add(format!("OVER_RIDING_STYLED_ITEM('',(),#{},#{first})", s[1]))]
    };
    let by_layer = |f: &mut File, s: &[u64]| {
        vec![f.add(format!("PRESENTATION_LAYER_ASSIGNMENT('7','construction',(#{}))", s[1]))]
    };
    let by_styled_layer = |f: &mut File, s: &[u64]| {
        let item = styled(f, s[1]);
        vec![f.add(format!("PRESENTATION_LAYER_ASSIGNMENT('7','construction',(#{item}))"))]
    };
    let ways: [&Hide<'_>; 4] = [&by_style, &over_riding, &by_layer, &by_styled_layer];
    for (k, way) in ways.into_iter().enumerate() {
        let all = read(way, false);
        assert_eq!((all.solids.len(), all.instances.len()), (3, 3), "{k}");
        assert!(all.problems.iter().any(|p| p.message.contains("`--skip-hidden` leaves")), "{k}");
        let shown = read(way, true);
        assert_eq!((shown.solids.len(), shown.instances.len()), (2, 2), "{k}");
        assert!(shown.problems.iter().any(|p| p.message.contains("left out")), "{k}: {:?}", shown.problems);
        assert!(shown.solids.iter().all(|s| all.solids[1].id != s.id), "{k}");
    }
    // Hidden faces hide no solid, and a file of hidden solids only is read.
    let faces = read(&|f, s| vec![styled(f, s[1] - 1)], true);
    assert_eq!(faces.solids.len(), 3);
    let nothing = read(&|_, _| Vec::new(), true);
    assert_eq!((nothing.solids.len(), nothing.problems.len()), (3, 0), "{:?}", nothing.problems);
    let every = read(&|_, s| s.to_vec(), true);
    assert_eq!(every.solids.len(), 3);
    assert!(
        every.problems.iter().any(|p| p.message.contains("as all its solids are")),
        "{:?}",
        every.problems
    );
}
