use super::*;
use crate::fixture;
use std::fs;

#[test]
fn round_trip_gives_the_same_model_and_the_same_bytes() {
    let model = fixture::model();
    let bytes = encode(&model).unwrap();
    assert!(is_feeler(&bytes), "magic");
    let back = decode(&bytes).unwrap();
    assert_eq!(back, model, "model");
    assert_eq!(encode(&back).unwrap(), bytes, "bytes");
    let solids: usize = model.solids.iter().map(encoded_size).sum();
    assert!(0 < solids && solids < bytes.len(), "{solids} of {}", bytes.len());
    let empty = Model { solids: Vec::new(), instances: Vec::new(), components: Vec::new(), ..model };
    assert_eq!(decode(&encode(&empty).unwrap()).unwrap(), empty, "no solids");
}

#[test]
fn cut_anywhere_is_refused_as_truncated() {
    let bytes = encode(&fixture::model()).unwrap();
    for cut in 0..bytes.len() {
        let error = decode(&bytes[..cut]).unwrap_err();
        let expected = if cut < HEADER_LEN { HEADER_LEN } else { bytes.len() } as u64;
        assert!(
            matches!(error, FileError::Truncated { at, expected: e } if at == cut as u64 && e == expected),
            "{cut}: {error}"
        );
    }
    let mut longer = bytes.clone();
    longer.extend([0, 1]);
    assert!(matches!(decode(&longer), Err(FileError::Trailing { extra: 2, .. })), "longer");
}

#[test]
fn every_flipped_bit_is_noticed() {
    let bytes = encode(&fixture::model()).unwrap();
    let mut copy = bytes.clone();
    for i in 0..bytes.len() {
        let bits = if i < HEADER_LEN { 0..8 } else { i % 8..i % 8 + 1 };
        for bit in bits {
            copy[i] ^= 1 << bit;
            let error = decode(&copy).expect_err("a flipped bit");
            if i >= HEADER_LEN {
                assert!(matches!(error, FileError::Checksum { .. }), "byte {i}: {error}");
            }
            copy[i] = bytes[i];
        }
    }
}

#[test]
fn messages_say_what_and_what_to_do() {
    let bytes = encode(&fixture::model()).unwrap();
    let newer = decode(&with_version(&bytes, FORMAT_VERSION + 3)).unwrap_err();
    assert!(
        matches!(newer, FileError::Newer { found, supported: FORMAT_VERSION } if found == FORMAT_VERSION + 3)
    );
    assert!(newer.to_string().contains("newer") && newer.to_string().contains("update"), "{newer}");
    let older = decode(&with_version(&bytes, 0)).unwrap_err();
    assert!(matches!(older, FileError::Older { found: 0, .. }), "{older}");
    assert!(matches!(decode(b"ISO-10303-21;"), Err(FileError::NotFeeler)), "a STEP file");
    assert!(matches!(decode(b"FEELER\n\0\0\0\0"), Err(FileError::TextMode)), "line ends");
    assert!(matches!(decode(b""), Err(FileError::Truncated { at: 0, .. })), "empty");
    for (at, field) in [(12, "scalar width"), (14, "length unit")] {
        let mut other = bytes.clone();
        other[at] = 4;
        seal(&mut other);
        let error = decode(&other).unwrap_err();
        assert!(matches!(error, FileError::Header { field: f, value: 4 } if f == field), "{error}");
    }
    for at in [32, 40, 48, 52, 56] {
        let mut other = bytes.clone();
        other[at] ^= 1;
        seal(&mut other);
        let error = decode(&other).unwrap_err();
        assert!(matches!(error, FileError::Payload(_)), "header field at {at}: {error}");
    }
    let error = with_version(b"short", 3);
    assert_eq!(error, b"short", "too short for a version");
}

#[test]
fn hostile_payloads_with_a_right_checksum_neither_panic_nor_allocate() {
    let bytes = encode(&fixture::model()).unwrap();
    // Reserving memory for any of these lengths would end the process.
    let lengths = [u64::MAX, u64::MAX / 16, 1 << 45, 1 << 33];
    for at in HEADER_LEN..bytes.len() - 8 {
        let mut other = bytes.clone();
        let value = lengths[at % lengths.len()];
        other[at..at + 8].copy_from_slice(&value.to_le_bytes());
        seal(&mut other);
        if let Ok(model) = decode(&other) {
            assert!(check_well_formed(&model).is_ok(), "decoded at {at}");
        }
    }
    // The first field is a string, whose length must be rejected before memory is reserved.
    for length in lengths {
        let mut other = bytes.clone();
        other[HEADER_LEN..HEADER_LEN + 8].copy_from_slice(&length.to_le_bytes());
        seal(&mut other);
        assert!(matches!(decode(&other), Err(FileError::Payload(_))), "a string of {length} bytes");
    }
    // Single bytes are changed, with a matching checksum.
    for at in HEADER_LEN..bytes.len() {
        let mut other = bytes.clone();
        other[at] = other[at].wrapping_add([1, 0x7F, 0x80, 0xFF][at % 4]);
        seal(&mut other);
        if let Ok(model) = decode(&other) {
            assert!(check_well_formed(&model).is_ok(), "decoded at {at}");
        }
    }
    // There are bytes after the model, inside the stated payload.
    let mut other = bytes.clone();
    other.extend([0; 3]);
    let payload = (other.len() - HEADER_LEN) as u64;
    other[16..24].copy_from_slice(&payload.to_le_bytes());
    seal(&mut other);
    let error = decode(&other).unwrap_err();
    assert!(matches!(&error, FileError::Payload(text) if text.contains("3 bytes")), "{error}");
}

#[test]
fn files_are_whole_or_absent() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("part.feeler");
    let listing = || fs::read_dir(dir.path()).unwrap().count();
    let model = fixture::model();
    let written = write_model(&path, &model).unwrap();
    assert_eq!(written, fs::metadata(&path).unwrap().len(), "length");
    assert_eq!(read_model(&path).unwrap(), model, "read back");
    assert_eq!(listing(), 1, "nothing but the file");
    // A successful and a failed overwrite.
    write_model(&path, &Model { remarks: Vec::new(), ..model.clone() }).unwrap();
    assert!(read_model(&path).unwrap().remarks.is_empty(), "replaced");
    let mut bad = model.clone();
    bad.options.flatness = f64::NAN;
    let error = write_model(&path, &bad).unwrap_err();
    assert!(error.to_string().contains("part.feeler") && error.to_string().contains("flatness"), "{error}");
    assert!(read_model(&path).unwrap().remarks.is_empty(), "kept");
    // The name is a folder: the rename fails at the very end.
    let folder = dir.path().join("folder");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("in the way"), "").unwrap();
    assert!(matches!(write_model(&folder, &model), Err(FileError::At { .. })), "a folder");
    assert_eq!(listing(), 2, "the temporary file is gone");
    let missing = dir.path().join("no such folder").join("part.feeler");
    assert!(write_model(&missing, &model).is_err(), "no folder");
    assert!(write_model(Path::new("/"), &model).is_err(), "no name");
}

#[test]
fn reading_names_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("part.feeler");
    let error = read_model(&path).unwrap_err();
    assert!(error.to_string().contains("part.feeler") && error.to_string().contains("open"), "{error}");
    let bytes = encode(&fixture::model()).unwrap();
    for cut in [0, 5, HEADER_LEN - 1, HEADER_LEN, bytes.len() - 1] {
        fs::write(&path, &bytes[..cut]).unwrap();
        let error = read_model(&path).unwrap_err();
        assert!(
            error.to_string().contains("truncated") && error.to_string().contains("part.feeler"),
            "{error}"
        );
    }
    fs::write(&path, "solid cube").unwrap();
    assert!(read_model(&path).unwrap_err().to_string().contains("not a feeler file"), "an STL file");
}
