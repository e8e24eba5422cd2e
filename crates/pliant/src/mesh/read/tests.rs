//! What holds for all readers: no bytes make them panic, and what they accept is
//! a mesh with finite vertices and valid indices.

use super::*;
use crate::mesh::{Cuboid, to_obj, to_ply_binary, to_stl_binary};
use proptest::prelude::*;

type Parser = fn(&[u8]) -> Result<TriMesh, ParseError>;
const PARSERS: [Parser; 4] = [parse_obj, parse_stl, parse_ply, parse_smf];

/// A valid file for each parser, and more of the formats with two forms.
fn valid_files() -> Vec<(Parser, Vec<u8>)> {
    let mesh = Cuboid::default().build().unwrap();
    let obj = to_obj(&mesh);
    let smf = format!("begin\ntrans 1 2 3\nrot x 30\nscale 2 2 2\n{obj}end\n");
    let mut stl = String::from("solid cube\n");
    for t in 0..mesh.triangles.len() {
        stl.push_str("facet normal 0 0 0\nouter loop\n");
        for v in mesh.corners(t) {
            stl.push_str(&format!("vertex {} {} {}\n", v.x, v.y, v.z));
        }
        stl.push_str("endloop\nendfacet\n");
    }
    stl.push_str("endsolid cube\n");
    let mut ply = format!(
        "ply\nformat ascii 1.0\nelement vertex {}\nproperty float x\nproperty float y\n\
         property float z\nelement face {}\nproperty list uchar int vertex_indices\nend_header\n",
        mesh.vertices.len(),
        mesh.triangles.len()
    );
    for v in &mesh.vertices {
        ply.push_str(&format!("{} {} {}\n", v.x, v.y, v.z));
    }
    for [a, b, c] in &mesh.triangles {
        ply.push_str(&format!("3 {a} {b} {c}\n"));
    }
    vec![
        (parse_obj, obj.into_bytes()),
        (parse_smf, smf.into_bytes()),
        (parse_stl, stl.into_bytes()),
        (parse_stl, to_stl_binary(&mesh)),
        (parse_ply, ply.into_bytes()),
        (parse_ply, to_ply_binary(&mesh)),
    ]
}

fn assert_usable(result: Result<TriMesh, ParseError>) {
    match result {
        Ok(mesh) => {
            let report = mesh.check();
            assert!(report.triangles > 0);
            assert_eq!(report.out_of_range_triangles, 0);
            assert_eq!(report.non_finite_vertices, 0);
        }
        Err(fault) => {
            let message = fault.to_string();
            assert!(!message.is_empty() && message.len() < 400, "{message}");
            assert!(!message.contains('\n'), "{message}");
        }
    }
}

#[test]
fn valid_files_give_the_cube() {
    for (parse, bytes) in valid_files() {
        let report = parse(&bytes).unwrap().check();
        assert!(report.is_sound(), "{report}");
        assert_eq!((report.vertices, report.triangles), (8, 12));
    }
}

#[test]
fn every_cut_of_a_valid_file_is_handled() {
    for (parse, bytes) in valid_files() {
        for end in 0..bytes.len() {
            assert_usable(parse(&bytes[..end]));
        }
    }
}

#[test]
fn read_mesh_names_the_file() {
    let folder = std::env::temp_dir().join(format!("pliant-read-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let good = folder.join("cube.OBJ");
    std::fs::write(&good, to_obj(&Cuboid::default().build().unwrap())).unwrap();
    let bad = folder.join("bad.obj");
    std::fs::write(&bad, "v 0 0 0\nf 1 2 3\n").unwrap();

    assert_eq!(read_mesh(&good).unwrap().triangles.len(), 12);
    let message = read_mesh(&bad).unwrap_err().to_string();
    assert_eq!(
        message,
        format!(
            "{}: line 2: face refers to vertex 2, but only 1 are defined so far",
            bad.display()
        )
    );
    let message = read_mesh(folder.join("none.stl")).unwrap_err().to_string();
    assert!(message.contains("none.stl: cannot read: "), "{message}");
    let message = read_mesh(folder.join("cube.fbx")).unwrap_err().to_string();
    assert!(
        message.contains("cube.fbx: unknown mesh format"),
        "{message}"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Something to put into a file: bytes of all sorts, and words that mean something.
fn fragment() -> impl Strategy<Value = Vec<u8>> {
    const WORDS: [&str; 20] = [
        "\n",
        " ",
        "\\\n",
        "-1",
        "0",
        "99999999999",
        "1e39",
        "nan",
        "inf",
        "f 1 2 3\n",
        "v 0 0 0\n",
        "begin\n",
        "end\n",
        "solid\n",
        "endsolid\n",
        "ply\n",
        "element vertex 4000000000\n",
        "property list uint uint a\n",
        "end_header\n",
        "\u{e9}",
    ];
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..8),
        proptest::sample::select(&WORDS[..]).prop_map(|w| w.as_bytes().to_vec()),
    ]
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        for parse in PARSERS {
            assert_usable(parse(&bytes));
        }
    }

    #[test]
    fn random_words_never_panic(parts in proptest::collection::vec(fragment(), 0..60)) {
        for parse in PARSERS {
            assert_usable(parse(&parts.concat()));
        }
    }

    #[test]
    fn random_ply_bodies_never_panic(
        big in any::<bool>(),
        bytes in proptest::collection::vec(any::<u8>(), 0..600),
    ) {
        let order = if big { "big" } else { "little" };
        let mut file = format!(
            "ply\nformat binary_{order}_endian 1.0\nelement vertex 4\nproperty short x\n\
             property float y\nproperty uchar z\nelement face 5\n\
             property list uchar uchar vertex_index\nproperty list uint double t\nend_header\n"
        ).into_bytes();
        file.extend(bytes);
        assert_usable(parse_ply(&file));
    }

    #[test]
    fn mutated_files_never_panic(
        cuts in proptest::collection::vec((any::<prop::sample::Index>(), 0usize..6, fragment()), 1..6),
    ) {
        for (parse, mut bytes) in valid_files() {
            for (at, removed, fragment) in &cuts {
                let start = at.index(bytes.len() + 1);
                let end = (start + removed).min(bytes.len());
                bytes.splice(start..end, fragment.iter().copied());
            }
            assert_usable(parse(&bytes));
        }
    }
}
