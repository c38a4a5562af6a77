//! `SolidSource` → `Solid`.
