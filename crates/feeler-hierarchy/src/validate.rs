//! Checks that a decoded model is well formed.
