//! The file: header, checksum, payload; whole or absent.
