// What all shaders share: the frame, the object, light and colours.

struct Frame {
    view_proj: mat4x4f,
    right: vec4f,
    up: vec4f,
    forward: vec4f,
    eye: vec4f,
    // Unit vector towards the lamp.
    light: vec4f,
    // Width and height in pixels, pixels per unit of x / z, size of the scene in metres.
    screen: vec4f,
    // Middle of the scene, height of the floor.
    centre: vec4f,
    // Exposure, 1 if dense matter is dark, side of a square of the floor, 1 for a dark ground.
    more: vec4f,
}

struct Object {
    // Its own colour, and opacity.
    colour: vec4f,
    // Radius; ends of the colour scale; row of the colour map, or -1 for its own colour.
    numbers: vec4f,
    // 1 for facets; strength of the film; attenuation; turbidity.
    more: vec4f,
    // Absorption of red, green and blue in 1/m, or the film's colour; way through a shell.
    light: vec4f,
}

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var maps: texture_2d<f32>;
@group(0) @binding(2) var surroundings: texture_cube<f32>;
@group(0) @binding(3) var smooth_sampler: sampler;
@group(1) @binding(0) var<uniform> object: Object;

const MAP_ROWS: f32 = 7.0;

// The colour of a value.
fn mapped(value: f32) -> vec3f {
    if object.numbers.w < 0.0 {
        return object.colour.rgb;
    }
    let length = max(object.numbers.z - object.numbers.y, 1e-20);
    let t = clamp((value - object.numbers.y) / length, 0.0, 1.0);
    // Middles of the first and of the last texel are the ends of the scale.
    let at = vec2f((t * 255.0 + 0.5) / 256.0, (object.numbers.w + 0.5) / MAP_ROWS);
    return textureSampleLevel(maps, smooth_sampler, at, 0.0).rgb;
}

// Light of sky, ground and lamp on a rough surface, with a slight shine.
fn lit(albedo: vec3f, normal: vec3f, place: vec3f) -> vec3f {
    let to_eye = normalize(frame.eye.xyz - place);
    let sky = mix(vec3f(0.46, 0.43, 0.41), vec3f(0.86, 0.93, 1.0), 0.5 + 0.5 * normal.y);
    // Half Lambert keeps shape in the shadow side.
    let turned = 0.5 + 0.5 * dot(normal, frame.light.xyz);
    let half_way = normalize(frame.light.xyz + to_eye);
    let shine = pow(max(dot(normal, half_way), 0.0), 48.0);
    return albedo * (0.42 * sky + 0.72 * turned * turned) + vec3f(0.14 * shine);
}

// Towards the lamp that throws shadows on the floor; it stays when the eye moves.
const LAMP: vec3f = vec3f(0.28, 1.0, 0.18);

// Where the shadow of a place falls on the floor.
fn shadow_of(place: vec3f) -> vec3f {
    return place - LAMP * max(place.y - frame.centre.w, 0.0) / LAMP.y;
}

fn depth_of(place: vec3f) -> f32 {
    let clip = frame.view_proj * vec4f(place, 1.0);
    return clip.z / clip.w;
}

// The corner of a quad from the number of its vertex: two triangles.
fn corner(index: u32) -> vec2f {
    let x = select(-1.0, 1.0, index == 1u || index == 2u || index == 4u);
    let y = select(-1.0, 1.0, index == 2u || index == 4u || index == 5u);
    return vec2f(x, y);
}

struct Billboard {
    place: vec3f,
    // The same in units of the ball's outline.
    at: vec2f,
}

// A corner of the square that covers a ball exactly as the eye sees it.
fn billboard(centre: vec3f, radius: f32, index: u32) -> Billboard {
    let away = centre - frame.eye.xyz;
    let distance = length(away);
    let forward = away / distance;
    let right = normalize(cross(forward, frame.up.xyz));
    let up = cross(right, forward);
    let grown = radius * distance / sqrt(max(distance * distance - radius * radius, 1e-12));
    let at = corner(index);
    return Billboard(centre + grown * (at.x * right + at.y * up), at);
}
