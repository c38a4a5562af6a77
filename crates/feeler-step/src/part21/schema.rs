//! Recognises the application protocol of a file.

/// Words in the names of the schemas of AP203, AP214 and AP242.
const WORDS: [&str; 5] = [
    "AUTOMOTIVE_DESIGN",
    "CONFIG_CONTROL_DESIGN",
    "CONFIGURATION_CONTROLLED_3D_DESIGN",
    "AP203_CONFIGURATION_CONTROLLED",
    "AP242_MANAGED_MODEL_BASED_3D_ENGINEERING",
];

/// Parts of ISO 10303 whose object identifier, such as `{ 1 0 10303 214 3 1 1 }`, also identifies these
/// schemas: the protocols, and the modules of AP203 and AP242.
const PARTS: [&str; 4] = ["203", "214", "403", "442"];

/// Returns whether one of the names of a file's schema is that of a supported one.
pub(crate) fn is_known(names: &[String]) -> bool {
    names.iter().any(|n| {
        let n = n.to_uppercase();
        WORDS.iter().any(|w| n.contains(w)) || part(&n).is_some_and(|p| PARTS.contains(&p))
    })
}

/// Returns the number of the part of ISO 10303 that an object identifier in braces names; `None` if
/// `name` is not one.
fn part(name: &str) -> Option<&str> {
    let (_, inside) = name.split_once('{')?;
    let (inside, _) = inside.split_once('}')?;
    let mut numbers = inside.split_whitespace();
    numbers.find(|n| *n == "10303")?;
    numbers.next()
}

#[cfg(test)]
mod tests {
    use super::is_known;

    #[test]
    fn schemas_are_known_by_name_or_number() {
        let known = |name: &str| is_known(&[name.to_owned()]);
        for name in [
            "AUTOMOTIVE_DESIGN { 1 0 10303 214 3 1 1 }",
            "automotive_design_cc2",
            "CONFIG_CONTROL_DESIGN",
            "AP203_CONFIGURATION_CONTROLLED_3D_DESIGN_OF_MECHANICAL_PARTS_AND_ASSEMBLIES_MIM_LF",
            "AP242_MANAGED_MODEL_BASED_3D_ENGINEERING_MIM_LF {1 0 10303 442 1 1 4}",
            "SOMETHING { 1 0 10303 442 3 1 4 }",
        ] {
            assert!(known(name), "{name}");
        }
        for name in ["", "IFC4", "STRUCTURAL_FRAME_SCHEMA { 1 0 10303 230 1 }", "{ 10303", "{ 10303 }"] {
            assert!(!known(name), "{name}");
        }
    }
}
