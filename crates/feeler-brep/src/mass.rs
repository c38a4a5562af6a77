//! Area and volume from trimmed patches (MATH §6).
