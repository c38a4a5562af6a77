//! Self-contained pages: they load nothing from the network or from other files.

use crate::markup::escape;
use crate::pack;
use crate::picture::Picture;
use std::fmt::Write as _;
use std::io;

const STYLE: &str = include_str!("../assets/page.css");
/// Subset of three.js that the page uses, as one script; built by tools/view/bundle.sh.
const THREE: &str = include_str!("../assets/three.min.js");
const THREE_LICENSE: &str = include_str!("../assets/three.LICENSE");
const SCRIPT: &str = include_str!("../assets/view.js");

/// Builds a page from a title (text) and a body (HTML markup). A picture is placed above the body. A
/// click on an element of the body with the attribute `data-show="K"` displays the view with index K of
/// [`Picture::shows`].
///
/// # Errors
/// Returns an error if the names of the picture exceed 4 GiB.
pub fn page(title: &str, body: &str, picture: Option<&Picture>) -> io::Result<String> {
    let title = escape(title);
    let class = match (picture, body) {
        (None, _) => "",
        (Some(_), "") => " class=\"with-view view-only\"",
        (Some(_), _) => " class=\"with-view\"",
    };
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body{class}>\n"
    );
    if picture.is_some() {
        page.push_str("<main id=\"view\"><p class=\"note\">The picture needs JavaScript.</p></main>\n");
    }
    page.push_str(body);
    if let Some(picture) = picture {
        let mut script = |attributes: &str, text: &[&str]| {
            // Writing to a string cannot fail.
            let _ = writeln!(page, "<script{attributes}>{}</script>", text.concat());
        };
        script("", &["\n/*\n", THREE_LICENSE, "*/\n", THREE]);
        if let Some(live) = &picture.live {
            script("", &["\n", &live.script]);
        }
        script(" type=\"text/plain\" id=\"picture\"", &[&pack::picture(picture)?]);
        script("", &["\n", SCRIPT]);
    }
    page.push_str("</body>\n</html>\n");
    Ok(page)
}

#[cfg(test)]
mod tests;
