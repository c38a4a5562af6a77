//! Names of enumerated results, as programs print them.

use feeler_runtime::{ContactKind, Status};

/// Name of a status: `separated`, `touching`, `interfering` or `undecided`.
#[must_use]
pub fn status_name(status: Status) -> &'static str {
    match status {
        Status::Separated => "separated",
        Status::Touching => "touching",
        Status::Interfering => "interfering",
        Status::Undecided => "undecided",
    }
}

/// Name of a kind of contact: `strict`, `quasi`, `conformal`, `sample` or `extended`.
#[must_use]
pub fn contact_kind_name(kind: ContactKind) -> &'static str {
    match kind {
        ContactKind::Strict => "strict",
        ContactKind::Quasi => "quasi",
        ContactKind::Conformal => "conformal",
        ContactKind::Sample => "sample",
        ContactKind::Extended => "extended",
    }
}
