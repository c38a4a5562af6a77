//! Escaping of text in SVG and HTML.

/// Escapes text for use between tags or in an attribute in double quotes.
#[must_use]
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
