//! Unpacks STEP files in gzip or ZIP (`.stpz`, `.step.gz`, `.zip`), which are recognised by their first
//! bytes, whatever their names.
//!
//! # Source
//! RFC 1952 (gzip), APPNOTE (ZIP); the `CAx` implementor forum's recommended practice for compressed STEP
//! files.

use std::borrow::Cow;
use std::fs::File;
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use zip::ZipArchive;

use crate::error::StepError;

/// Maximum size (bytes) to which one file is unpacked; larger files are refused. A larger value admits
/// files that exhaust the memory; a smaller one refuses large models.
pub const MAX_UNPACKED: u64 = 2 << 30;

/// Maximum number of nested compressions (a gzip file in a ZIP archive). A larger value takes more time
/// for archives that contain archives.
const MAX_LAYERS: usize = 2;
/// Maximum number of file names of an archive that a message shows; more would hide its text.
const SHOWN: usize = 5;
/// File name extensions of STEP files.
const ENDINGS: [&str; 6] = [".step", ".stp", ".p21", ".stpz", ".step.gz", ".stp.gz"];

const GZIP: &[u8] = b"\x1f\x8b";
const ZIP: &[u8] = b"PK\x03\x04";

/// Returns the file without its compression.
pub(crate) fn unpacked<'a>(name: &str, bytes: &'a [u8]) -> Result<Cow<'a, [u8]>, StepError> {
    let mut out = Cow::Borrowed(bytes);
    for _ in 0..MAX_LAYERS {
        let read = if out.starts_with(GZIP) {
            limited(MultiGzDecoder::new(&*out), MAX_UNPACKED)
                .map_err(|e| e.unwrap_or_else(|e| format!("its gzip data are damaged: {e}")))
        } else if out.starts_with(ZIP) {
            from_archive(&out, MAX_UNPACKED)
        } else {
            break;
        };
        let reason_of = |reason| StepError::Packed { name: name.to_owned(), reason };
        out = Cow::Owned(read.map_err(reason_of)?);
    }
    Ok(out)
}

/// Reads at most `max_bytes`. The error is `Ok` with a message if there are more bytes, and `Err` if the
/// reader fails.
fn limited(reader: impl Read, max_bytes: u64) -> Result<Vec<u8>, Result<String, std::io::Error>> {
    let mut out = Vec::new();
    reader.take(max_bytes + 1).read_to_end(&mut out).map_err(Err)?;
    if out.len() as u64 > max_bytes {
        return Err(Ok(format!(
            "it unpacks to more than {} MiB; unpack it and give the STEP file itself",
            max_bytes >> 20
        )));
    }
    Ok(out)
}

/// Indices and names of the STEP files in an archive.
fn candidates<R: Read + Seek>(archive: &ZipArchive<R>) -> Vec<(usize, String)> {
    let names = (0..archive.len()).filter_map(|i| Some((i, archive.name_for_index(i)?.ok()?.into_owned())));
    names.filter(|(_, n)| is_step_name(n) && !is_hidden(n)).collect()
}

/// Returns whether a path has the extension of a STEP file, packed (`.stpz`, `.step.gz`) or not.
#[must_use]
pub fn is_step_name(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    ENDINGS.iter().any(|e| lower.ends_with(e))
}

/// Returns whether a path is one of the hidden files that some systems add to archives.
fn is_hidden(path: &str) -> bool {
    path.split(['/', '\\']).any(|step| step.starts_with('.') || step == "__MACOSX")
}

fn from_archive(bytes: &[u8], max_bytes: u64) -> Result<Vec<u8>, String> {
    let damaged = |e: &dyn std::fmt::Display| format!("its ZIP archive cannot be read: {e}");
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|e| damaged(&e))?;
    let found = candidates(&archive);
    match found.as_slice() {
        [(index, _)] => {
            let file = archive.by_index(*index).map_err(|e| damaged(&e))?;
            limited(file, max_bytes).map_err(|e| e.unwrap_or_else(|e| damaged(&e)))
        }
        [] => Err(format!("its ZIP archive contains no STEP file among {} files", archive.len())),
        several => {
            let mut names: Vec<&str> = several.iter().take(SHOWN).map(|(_, n)| n.as_str()).collect();
            if several.len() > SHOWN {
                names.push("…");
            }
            Err(format!(
                "its ZIP archive contains {} STEP files ({}); unpack it and give one of them",
                several.len(),
                names.join(", ")
            ))
        }
    }
}

/// Returns the unpacked size of a file in bytes as stated by its archive, or its size if it is not
/// packed.
///
/// # Errors
/// The file cannot be read.
pub fn unpacked_size(path: &Path) -> std::io::Result<u64> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    let mut start = Vec::new();
    file.by_ref().take(4).read_to_end(&mut start)?;
    let said = if start.starts_with(GZIP) && size >= 18 {
        let mut end = [0; 4];
        file.seek(SeekFrom::End(-4))?;
        file.read_exact(&mut end)?;
        Some(u64::from(u32::from_le_bytes(end)))
    } else if start.starts_with(ZIP) {
        file.rewind()?;
        let in_archive = |mut a: ZipArchive<File>| {
            let found = candidates(&a);
            found.iter().filter_map(|(i, _)| a.by_index_raw(*i).ok().map(|f| f.size())).max()
        };
        ZipArchive::new(file).ok().and_then(in_archive)
    } else {
        None
    };
    Ok(size.max(said.unwrap_or(0).min(MAX_UNPACKED)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write as _;
    use zip::write::{SimpleFileOptions, ZipWriter};

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut w = GzEncoder::new(Vec::new(), Compression::fast());
        w.write_all(bytes).unwrap();
        w.finish().unwrap()
    }

    fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut w = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in files {
            w.start_file(*name, SimpleFileOptions::default()).unwrap();
            w.write_all(bytes).unwrap();
        }
        w.finish().unwrap().into_inner()
    }

    fn reason(bytes: &[u8]) -> String {
        unpacked("x", bytes).unwrap_err().to_string()
    }

    #[test]
    fn packed_files_are_unpacked() {
        let text = b"ISO-10303-21;".as_slice();
        assert_eq!(&*unpacked("x", text).unwrap(), text);
        assert_eq!(&*unpacked("x", &gzip(text)).unwrap(), text);
        // Consecutive gzip members form one file.
        assert_eq!(&*unpacked("x", &[gzip(text), gzip(text)].concat()).unwrap(), [text, text].concat());
        let archive = zip(&[("read me.txt", b"no"), ("sub/A.STP", text), ("__MACOSX/._A.STP", b"no")]);
        assert_eq!(&*unpacked("x", &archive).unwrap(), text);
        assert_eq!(&*unpacked("x", &zip(&[("a.stpz", &gzip(text))])).unwrap(), text);
    }

    #[test]
    fn unpacking_errors_state_the_reason() {
        assert!(
            reason(&zip(&[("a.txt", b"")])).contains("no STEP file among 1"),
            "an archive without STEP files"
        );
        let two = reason(&zip(&[("a.stp", b""), ("b.step", b"")]));
        assert!(two.contains("2 STEP files (a.stp, b.step)"), "{two}");
        let whole = gzip(&[b'x'; 1000]);
        assert!(reason(&whole[..whole.len() - 9]).contains("damaged"), "a truncated gzip file");
        assert!(reason(b"PK\x03\x04rest").contains("ZIP"), "an invalid archive");
        // Data that grow too large are not read to the end.
        let grown = gzip(&vec![b'x'; 1 << 20]);
        assert!(grown.len() < 1 << 14, "{}", grown.len());
        let e = limited(MultiGzDecoder::new(grown.as_slice()), 1 << 19).unwrap_err().unwrap();
        assert!(e.contains("more than 0 MiB"), "{e}");
        let archive = zip(&[("a.stp", &vec![b'x'; 1 << 20])]);
        assert!(from_archive(&archive, 1 << 19).unwrap_err().contains("more than"), "archive");
    }

    #[test]
    fn damage_never_panics() {
        let text: Vec<u8> =
            (0..4000_u32).flat_map(|i| format!("#{i}=A({});", i * i % 977).into_bytes()).collect();
        for whole in [gzip(&text), zip(&[("a.step", &text)])] {
            for k in 0..600 {
                let mut bytes = whole.clone();
                let at = k * 7919 % bytes.len();
                bytes[at] ^= 1 << (k % 8);
                // Any result is accepted.
                let _ = unpacked("x", &bytes);
                let _ = unpacked("x", &whole[..at]);
            }
        }
    }
}
