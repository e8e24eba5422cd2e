//! Tests of the PLY reader.

use super::*;

const TEXT: &str = "ply\r\nformat ascii 1.0\r\ncomment by \u{e9}\nobj_info x\nelement thing 2\n\
    property list uchar int a\nproperty double b\nelement vertex 4\nproperty uchar red\n\
    property double z\nproperty float x\nproperty list uint8 float extra\nproperty float y\n\
    element face 2\nproperty uchar flags\nproperty list uint8 int32 vertex_index\nend_header\n\
    3 1 2 3 0.5\n0 0.5\n255 1 2 0 3\n0 4 5 2 7 8 6\n\n0 0 0 0 0\n0 0 1 0 0\n\
    7 4 0 1 2 3\n7 3 2 1 0\n";

fn expected() -> TriMesh {
    TriMesh {
        vertices: vec![
            Vec3::new(2.0, 3.0, 1.0),
            Vec3::new(5.0, 6.0, 4.0),
            Vec3::ZERO,
            Vec3::X,
        ],
        triangles: vec![[0, 1, 2], [0, 2, 3], [2, 1, 0]],
    }
}

fn message(bytes: &[u8]) -> String {
    parse_ply(bytes).unwrap_err().to_string()
}

/// The same content in binary, faces before vertices and in other types.
fn binary(big_endian: bool) -> Vec<u8> {
    let name = if big_endian { "big" } else { "little" };
    let mut out = format!(
        "ply\nformat binary_{name}_endian 1.0\nelement face 2\nproperty list ushort ushort \
         vertex_indices\nproperty int8 flags\nelement vertex 4\nproperty short y\n\
         property double x\nproperty uint z\nelement empty 4000000000\nend_header\n"
    )
    .into_bytes();
    let mut put = |bytes: &[u8]| {
        let order = |i: usize| if big_endian { bytes.len() - 1 - i } else { i };
        out.extend((0..bytes.len()).map(|i| bytes[order(i)]));
    };
    for face in [&[0u16, 1, 2, 3][..], &[2, 1, 0]] {
        put(&(face.len() as u16).to_le_bytes());
        face.iter().for_each(|v| put(&v.to_le_bytes()));
        put(&[255]);
    }
    for v in expected().vertices {
        put(&(v.y as i16).to_le_bytes());
        put(&f64::from(v.x).to_le_bytes());
        put(&(v.z as u32).to_le_bytes());
    }
    out
}

#[test]
fn text_with_properties_in_any_order_and_extra_elements() {
    assert_eq!(parse_ply(TEXT.as_bytes()).unwrap(), expected());
}

#[test]
fn binary_of_both_byte_orders() {
    assert_eq!(parse_ply(&binary(false)).unwrap(), expected());
    assert_eq!(parse_ply(&binary(true)).unwrap(), expected());
}

#[test]
fn truncated_binary_says_where() {
    let bytes = binary(false);
    let end = bytes.len();
    assert!(
        message(&bytes[..end - 1]).starts_with(&format!("byte {}: the file ends here", end - 4))
    );
}

#[test]
fn huge_counts_do_not_allocate() {
    let text = TEXT.replace("element vertex 4", "element vertex 4000000000");
    assert!(message(text.as_bytes()).starts_with("line 26: fewer values"));
    let text = TEXT.replace("element thing 2", "element thing 18446744073709551615");
    assert!(message(text.as_bytes()).starts_with("line 20: "));
    let mut bytes = binary(false);
    let start = bytes.windows(10).position(|w| w == b"end_header").unwrap() + 11;
    bytes[start..start + 2].copy_from_slice(&[255, 255]);
    assert!(message(&bytes).starts_with("byte "));
}

#[test]
fn messages() {
    let with = |from: &str, to: &str| message(TEXT.replace(from, to).as_bytes());
    assert_eq!(
        message(b""),
        "line 1: not a PLY file: the first line must be \"ply\""
    );
    assert_eq!(
        message(b"ply\nformat ascii 1.0\n"),
        "line 2: the file ends before \"end_header\"; is it cut off?"
    );
    assert_eq!(
        with("4 0 1 2 3", "4 0 1 2 4"),
        "line 25: face 0 refers to vertex 4, but vertices count from 0 to 3"
    );
    assert!(with("4 0 1 2 3", "4 0 1 2 -1").contains("refers to vertex -1"));
    assert_eq!(
        with("7 4 0 1 2 3", "7 2 0 1"),
        "line 25: face 0 has 2 vertices, but needs at least 3"
    );
    assert_eq!(
        with("255 1 2 0 3", "255 1 nan 0 3"),
        "line 20: x of vertex 0 is NaN, but must be a finite 32-bit number"
    );
    assert!(with("255 1 2 0 3", "255 1e40 2 0 3").starts_with("line 20: z of vertex 0"));
    assert!(with("255 1 2 0 3", "255 1 2 0").starts_with("line 20: fewer values"));
    assert!(with("255 1 2 0 3", "255 1 2 0 3 9").starts_with("line 20: more values"));
    assert!(with("255 1 2 0 3", "255 1 2 -1 3").starts_with("line 20: a list has length -1"));
    assert!(with("255 1 2 0 3", "255 1 zwei 0 3").starts_with("line 20: value is \"zwei\""));
    assert!(with("7 3 2 1 0\n", "").starts_with("line 25: the file ends here"));
    assert!(with("float y", "float w").contains("needs the properties x, y and z"));
    assert!(with("vertex_index", "corners").contains("needs the property"));
    assert!(with("element face 2", "element faces 2").contains("no \"element face\""));
    assert!(with("element face 2", "element vertex 2").contains("comes twice"));
    assert!(with("element face 2", "element face x").contains("needs a whole number"));
    assert!(with("property double b", "property quad b").contains("unknown type \"quad\""));
    assert!(with("format ascii 1.0", "format ebcdic 1.0").contains("unknown format"));
    assert!(with("format ascii 1.0", "comment").contains("no \"format\" line"));
    assert!(with("list uchar int a", "list float int a").contains("whole-number type"));
}
