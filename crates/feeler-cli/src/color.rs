//! Colours of words on a terminal.

use clap::ValueEnum;
use console::{Style, style};

/// Conditions under which the output is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// Coloured if the output is a terminal and `NO_COLOR` is not set.
    #[default]
    Auto,
    /// Coloured on terminals and in files.
    Always,
    /// Not coloured.
    Never,
}

/// Sets for the whole process whether the output is coloured.
pub fn choose(when: Color) {
    match when {
        Color::Auto if std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty()) => {
            console::set_colors_enabled(false);
        }
        // The library detects the terminal.
        Color::Auto => {}
        Color::Always => console::set_colors_enabled(true),
        Color::Never => console::set_colors_enabled(false),
    }
}

/// Style of a status word; `None` for other words, which are not coloured.
fn style_of(word: &str) -> Option<Style> {
    let plain = Style::new();
    match word {
        "interfering" | "failed" | "verdict" | "import" => Some(plain.red()),
        "undecided" | "warning" => Some(plain.yellow()),
        "touching" => Some(plain.cyan()),
        "separated" | "ok" => Some(plain.green()),
        _ => None,
    }
}

/// Returns `text` in the colour of `word`. The text is the word itself, possibly padded or shortened.
pub(crate) fn painted(word: &str, text: &str) -> String {
    match style_of(word) {
        Some(look) => look.apply_to(text).to_string(),
        None => text.to_owned(),
    }
}

/// Returns a word in its own colour.
pub(crate) fn word(word: &str) -> String {
    painted(word, word)
}

/// Returns the heading of a column in its style.
pub(crate) fn heading(text: &str) -> String {
    style(text).bold().to_string()
}
