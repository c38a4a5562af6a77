//! What can be wrong with two parts.

use serde::{Deserialize, Serialize};

/// What is wrong with a pair, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Finding {
    /// The interiors meet.
    Interferes,
    /// Whether they do is not known.
    Undecided,
    /// It could not be measured.
    Failed,
    /// Nearer than a rule allows.
    TooClose,
    /// A rule forbids that.
    Touches,
    /// A rule asks for that.
    DoesNotTouch,
}

impl Finding {
    pub(super) fn in_words(self) -> &'static str {
        match self {
            Self::Interferes => "interferes",
            Self::Undecided => "undecided",
            Self::Failed => "failed",
            Self::TooClose => "too close",
            Self::Touches => "touches",
            Self::DoesNotTouch => "does not touch",
        }
    }
}
