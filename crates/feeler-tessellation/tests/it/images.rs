//! Image files: all formats, and messages of damaged ones.

#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    clippy::missing_assert_message,
    reason = "test code"
)]

use feeler_geom::{P3, V3};
use feeler_tessellation::{ByteOrder, Domain, Grains, RawLayout, Site, SiteIndex, VoxelImage, VoxelType};
use std::io::Write as _;
use std::path::Path;

fn example() -> VoxelImage {
    let domain = Domain { lengths: V3::new(7.0, 6.0, 5.0), periodic: [false; 3] };
    let site = |x: f64, y: f64, z: f64| Site { position: P3::new(x, y, z), weight: 0.0 };
    let sites = [site(1.0, 1.0, 1.0), site(5.0, 2.0, 3.0), site(2.0, 5.0, 4.0)];
    VoxelImage::of_tessellation(&SiteIndex::new(&domain, &sites).unwrap(), [7, 6, 5])
}

fn layout(voxel_type: VoxelType, order: ByteOrder) -> RawLayout {
    RawLayout { size: [7, 6, 5], voxel_type, order }
}

/// Writes 16-bit slices, one page for each.
fn write_tiff(path: &Path, image: &VoxelImage, slices: std::ops::Range<usize>) {
    let file = std::fs::File::create(path).unwrap();
    let mut encoder = tiff::encoder::TiffEncoder::new(file).unwrap();
    let [x, y, _] = image.size;
    for z in slices {
        let slice: Vec<u16> = image.labels[z * x * y..][..x * y].iter().map(|l| *l as u16).collect();
        encoder.write_image::<tiff::encoder::colortype::Gray16>(x as u32, y as u32, &slice).unwrap();
    }
}

#[test]
fn all_formats_have_the_same_labels() {
    let image = example();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let labels = &image.labels;
    let write = |name: &str, bytes: Vec<u8>| std::fs::write(at(name), bytes).unwrap();
    write("a.raw", labels.iter().map(|l| *l as u8).collect());
    write("b.raw", labels.iter().flat_map(|l| (*l as i16).to_be_bytes()).collect());
    write("c.raw", labels.iter().flat_map(|l| (*l as f64).to_le_bytes()).collect());
    for (name, t, order) in [
        ("a.raw", VoxelType::U8, ByteOrder::Little),
        ("b.raw", VoxelType::I16, ByteOrder::Big),
        ("c.raw", VoxelType::F64, ByteOrder::Little),
    ] {
        assert_eq!(VoxelImage::load(&at(name), Some(&layout(t, order))).unwrap(), image, "{name}");
    }
    image.save_nrrd(&at("d.nrrd")).unwrap();
    assert_eq!(VoxelImage::load(&at("d.nrrd"), None).unwrap(), image);
    let header =
        "NRRD0005\n# a comment\nkey:=value\ntype: short\ndimension: 3\nsizes: 7 6 5\nspacings: 2 1 0.5\n";
    write("e.nhdr", format!("{header}endian: big\nencoding: raw\ndata file: b.raw\n\n").into());
    let scaled = VoxelImage::load(&at("e.nhdr"), None).unwrap();
    assert_eq!((&scaled.labels, scaled.spacing), (labels, V3::new(2.0, 1.0, 0.5)));
    let text: Vec<String> = labels.iter().map(u32::to_string).collect();
    write("f.nrrd", format!("{header}encoding: ascii\n\n{}\n", text.join(" ")).into());
    assert_eq!(VoxelImage::load(&at("f.nrrd"), None).unwrap().labels, *labels);
    write_tiff(&at("g.tif"), &image, 0..5);
    assert_eq!(VoxelImage::load(&at("g.tif"), None).unwrap(), image);
    let slices = at("slices");
    std::fs::create_dir(&slices).unwrap();
    for z in 0..5 {
        write_tiff(&slices.join(format!("slice{z:03}.TIF")), &image, z..z + 1);
    }
    assert_eq!(VoxelImage::load(&slices, None).unwrap(), image);
}

#[test]
fn messages_name_the_file_and_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let message = |name: &str, layout: Option<&RawLayout>| {
        let text = VoxelImage::load(&at(name), layout).expect_err(name).to_string();
        assert!(text.contains(name), "{text}");
        text
    };
    let write = |name: &str, bytes: &[u8]| std::fs::write(at(name), bytes).unwrap();
    assert!(message("missing.nrrd", None).contains("cannot be read"));
    write("a.png", b"");
    assert!(message("a.png", None).contains("give .nrrd"));
    write("a.raw", &[1; 10]);
    assert!(message("a.raw", None).contains("--size"));
    let bytes = layout(VoxelType::U8, ByteOrder::Little);
    assert!(message("a.raw", Some(&bytes)).contains("has 10 bytes of voxels, but 210 are expected"));
    let huge = RawLayout { size: [u64::MAX, 2, 1], ..bytes };
    assert!(message("a.raw", Some(&huge)).contains("not supported"));
    let large = RawLayout { size: [1 << 16, 1 << 16, 1], ..bytes };
    assert!(message("a.raw", Some(&large)).contains("but 4294967296 are expected"), "nothing is allocated");
    write("n.raw", &(-1_i32).to_le_bytes().repeat(210));
    let signed = layout(VoxelType::I32, ByteOrder::Little);
    assert!(message("n.raw", Some(&signed)).contains("voxel 0 has the value -1"));
    let nrrd = |fields: &str, expected: &str| {
        write("x.nrrd", format!("NRRD0004\n{fields}\n\n").as_bytes());
        let text = message("x.nrrd", None);
        assert!(text.contains(expected), "{text}");
    };
    nrrd("", "'sizes': is missing");
    nrrd("sizes: 1 2", "not three numbers");
    nrrd("sizes: 1 2 -3", "not three numbers");
    nrrd("sizes: 1 2 3\ntype: block", "is not a type of voxels");
    nrrd("sizes: 1 2 3\ntype: short\nencoding: raw", "'endian': is missing");
    nrrd("sizes: 1 2 3\ntype: uchar\nencoding: bzip2", "save it as raw or gzip");
    nrrd("sizes: 1 2 3\ntype: uchar\nencoding: raw", "has 0 bytes of voxels, but 6");
    nrrd("sizes: 1 1 1\ntype: uchar\nencoding: ascii\nspacings: 1 1 0\n\n5", "not positive");
    nrrd(
        "sizes: 1 1 1\ntype: uchar\nencoding: ascii\nspace directions: (1,1,0) (0,1,0) (0,0,1)\n\n5",
        "resample",
    );
    nrrd("sizes: 1 1 1\ntype: uchar\nencoding: raw\ndata file: none.raw", "none.raw cannot be read");
    nrrd("garbage", "is not 'name: value'");
    write("y.nrrd", b"P5 1 1");
    assert!(message("y.nrrd", None).contains("not an NRRD file"));
    write("z.tif", b"II*\0\x08\0\0\0\xff\xff");
    assert!(message("z.tif", None).contains("not a readable TIFF image"));
    std::fs::create_dir(at("empty")).unwrap();
    assert!(message("empty", None).contains("no .tif"));
    let mut file = std::fs::File::create(at("rgb.tif")).unwrap();
    let mut encoder = tiff::encoder::TiffEncoder::new(&mut file).unwrap();
    encoder.write_image::<tiff::encoder::colortype::RGB8>(2, 2, &[0; 12]).unwrap();
    file.flush().unwrap();
    assert!(message("rgb.tif", None).contains("has colours"));
}

#[test]
fn damaged_files_cause_no_panic() {
    let image = example();
    let folder = tempfile::tempdir().unwrap();
    let (nrrd, tiff) = (folder.path().join("a.nrrd"), folder.path().join("a.tif"));
    image.save_nrrd(&nrrd).unwrap();
    write_tiff(&tiff, &image, 0..5);
    for path in [nrrd, tiff] {
        let bytes = std::fs::read(&path).unwrap();
        let mut rejected = 0;
        for k in (0..bytes.len()).step_by(3) {
            let mut wrong = bytes.clone();
            wrong[k] ^= 0x15;
            std::fs::write(&path, &wrong).unwrap();
            rejected += usize::from(VoxelImage::load(&path, None).is_err());
            std::fs::write(&path, &bytes[..k]).unwrap();
            let cut = VoxelImage::load(&path, None);
            assert!(cut.is_err() || path.ends_with("a.tif"), "cut after {k} bytes");
        }
        assert!(rejected > 20, "{rejected} damaged files are rejected");
    }
}

#[test]
fn grains_are_those_of_the_image() {
    // Two slabs and a background; the second slab touches the first one across the periodic boundary.
    let mut image = VoxelImage {
        size: [8, 2, 2],
        spacing: V3::new(1.0, 2.0, 2.0),
        origin: P3::origin(),
        labels: vec![0; 32],
    };
    for k in 0..32 {
        image.labels[k] = [7, 7, 0, 4, 4, 4, 0, 7][k % 8];
    }
    let open = Grains::new(&image, [false; 3]).unwrap();
    assert_eq!((open.labels.clone(), open.voxels.clone()), (vec![4, 7], vec![12, 12]));
    assert_eq!((open.interface.len(), open.boundary_count()), (0, 0), "the background is not a grain");
    assert!((open.centroids[0] - P3::new(4.5, 2.0, 2.0)).norm() < 1e-12);
    let periodic = Grains::new(&image, [true, false, false]).unwrap();
    let x = periodic.centroids[1].x.rem_euclid(8.0);
    assert!((x - 0.5).abs() < 1e-12, "the grain around the boundary has its centre there: {x}");
    for k in 0..32 {
        image.labels[k] = [7, 7, 7, 4, 4, 4, 4, 7][k % 8];
    }
    let open = Grains::new(&image, [false; 3]).unwrap();
    assert_eq!((open.interface.len(), open.boundary_count()), (8, 16));
    let mut x: Vec<f64> = open.interface.iter().map(|p| p.position.x).collect();
    x.sort_by(f64::total_cmp);
    assert_eq!(x, [3.0, 3.0, 3.0, 3.0, 7.0, 7.0, 7.0, 7.0]);
    assert!(Grains::new(&VoxelImage { labels: vec![0; 32], ..image }, [false; 3]).is_err());
}

#[test]
fn synthetic_images_have_the_nearest_sites() {
    let lengths = V3::new(9.0, 8.0, 7.0);
    for periodic in [[false; 3], [true, false, true]] {
        let sites: Vec<Site> = (0..40)
            .map(|k| {
                let f = |m: f64| (f64::from(k) * m).fract();
                let position = P3::new(f(0.618), f(0.414), f(0.732));
                Site { position: P3::from(position.coords.component_mul(&lengths)), weight: 2.0 * f(0.236) }
            })
            .collect();
        let domain = Domain { lengths, periodic };
        let index = SiteIndex::new(&domain, &sites).unwrap();
        let image = VoxelImage::of_tessellation(&index, [18, 16, 14]);
        for (k, label) in image.labels.iter().enumerate() {
            let p = image.center(image.voxel(k));
            let power = |s: &Site| domain.nearest_offset(&(s.position - p)).norm_squared() - s.weight;
            let best = sites.iter().map(power).fold(f64::INFINITY, f64::min);
            assert!(power(&sites[*label as usize - 1]) <= best + 1e-9, "voxel {k}");
        }
        let noisy = image.with_noise(0.3, periodic, 5);
        assert_eq!(noisy, image.with_noise(0.3, periodic, 5));
        let changed = noisy.labels.iter().zip(&image.labels).filter(|(a, b)| a != b).count();
        let boundary = Grains::new(&image, periodic).unwrap().boundary_count();
        let share = changed as f64 / boundary as f64;
        assert!((share - 0.3).abs() < 0.05, "{share} of the boundary voxels are changed");
    }
}
