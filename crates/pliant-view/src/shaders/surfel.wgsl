// Surfels in three passes: what is visible, blended attributes, then light.

@group(2) @binding(0) var normals: texture_2d<f32>;
@group(2) @binding(1) var values: texture_2d<f32>;

struct Disc {
    @builtin(position) clip: vec4f,
    @location(0) at: vec2f,
    @location(1) @interpolate(flat) normal: vec3f,
    @location(2) @interpolate(flat) value: f32,
}

// A square in the plane of the surfel, moved away from the eye by `back` metres.
fn splat(index: u32, place: vec4f, normal: vec4f, back: f32) -> Disc {
    let n = normal.xyz;
    let helper = select(vec3f(1.0, 0.0, 0.0), vec3f(0.0, 1.0, 0.0), abs(n.x) > 0.7);
    let u = normalize(cross(n, helper));
    let v = cross(n, u);
    let at = corner(index);
    let p = place.xyz + place.w * (at.x * u + at.y * v);
    let moved = p + back * normalize(p - frame.eye.xyz);
    return Disc(frame.view_proj * vec4f(moved, 1.0), at, n, normal.w);
}

// Pass 1 sees a little deeper than the surface, so that overlapping discs all count.
@vertex
fn visibility(
    @builtin(vertex_index) index: u32,
    @location(0) place: vec4f,
    @location(1) normal: vec4f,
) -> Disc {
    return splat(index, place, normal, object.numbers.x);
}

@fragment
fn mark(disc: Disc) {
    if dot(disc.at, disc.at) > 1.0 {
        discard;
    }
}

@vertex
fn detail(
    @builtin(vertex_index) index: u32,
    @location(0) place: vec4f,
    @location(1) normal: vec4f,
) -> Disc {
    return splat(index, place, normal, 0.0);
}

struct Blended {
    @location(0) normal: vec4f,
    @location(1) value: vec4f,
}

// Pass 2: sums of what visible discs say, weighted by how near their middles are.
@fragment
fn blend(disc: Disc) -> Blended {
    let r = dot(disc.at, disc.at);
    if r > 1.0 {
        discard;
    }
    let weight = exp(-3.0 * r) * 0.25;
    return Blended(weight * vec4f(disc.normal, 1.0), weight * vec4f(mapped(disc.value), 1.0));
}

@vertex
fn everywhere(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
    return vec4f(f32(i32(index & 1u) * 4 - 1), f32(i32(index >> 1u) * 4 - 1), 0.0, 1.0);
}

// Pass 3: light on the mean of each pixel.
@fragment
fn light(@builtin(position) at: vec4f) -> @location(0) vec4f {
    let normal = textureLoad(normals, vec2i(at.xy), 0);
    if normal.w < 1e-3 {
        discard;
    }
    let value = textureLoad(values, vec2i(at.xy), 0);
    let right = (at.x - 0.5 * frame.screen.x) / frame.screen.z;
    let up = (0.5 * frame.screen.y - at.y) / frame.screen.z;
    let ray = frame.forward.xyz + right * frame.right.xyz + up * frame.up.xyz;
    let place = frame.eye.xyz + ray * length(frame.centre.xyz - frame.eye.xyz);
    return vec4f(lit(value.rgb / value.a, normalize(normal.xyz), place), min(1.0, 8.0 * normal.w));
}
