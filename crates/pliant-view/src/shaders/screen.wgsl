// What covers the whole picture: background, floor, X-ray film, and the way to the window.

@group(2) @binding(0) var drawn: texture_2d<f32>;
@group(2) @binding(1) var sums: texture_2d<f32>;

struct Corner {
    @builtin(position) clip: vec4f,
    @location(0) at: vec2f,
}

@vertex
fn everywhere(@builtin(vertex_index) index: u32) -> Corner {
    let at = vec2f(f32(i32(index & 1u) * 2), f32(i32(index >> 1u) * 2));
    return Corner(vec4f(2.0 * at - 1.0, 0.0, 1.0), vec2f(at.x, 1.0 - at.y));
}

@fragment
fn background(corner: Corner) -> @location(0) vec4f {
    // Thin lines need a dark ground.
    let dark = frame.more.w > 0.5;
    let top = select(vec3f(0.50, 0.58, 0.68), vec3f(0.010, 0.013, 0.018), dark);
    let bottom = select(vec3f(0.90, 0.92, 0.94), vec3f(0.030, 0.036, 0.046), dark);
    return vec4f(mix(top, bottom, smoothstep(0.0, 1.0, corner.at.y)), 1.0);
}

struct Ground {
    @builtin(position) clip: vec4f,
    @location(0) place: vec3f,
}

@vertex
fn ground(@builtin(vertex_index) index: u32) -> Ground {
    let at = corner(index) * 6.0 * frame.screen.w;
    let place = vec3f(frame.centre.x + at.x, frame.centre.w, frame.centre.z + at.y);
    return Ground(frame.view_proj * vec4f(place, 1.0), place);
}

// 1 on the lines of a grid, about a pixel and a half wide.
fn grid(at: vec2f, side: f32) -> f32 {
    let place = at / side;
    let width = max(fwidth(place), vec2f(1e-6));
    let distance = abs(fract(place - 0.5) - 0.5) / width;
    let line = 1.0 - clamp(min(distance.x, distance.y) - 0.25, 0.0, 1.0);
    // Lines closer than a few pixels would be a grey field.
    return line * clamp(1.5 - 3.0 * max(width.x, width.y), 0.0, 1.0);
}

@fragment
fn floor_grid(p: Ground) -> @location(0) vec4f {
    let at = p.place.xz;
    let far = length(at - frame.centre.xz) / (5.0 * frame.screen.w);
    let fade = (1.0 - smoothstep(0.15, 1.0, far));
    let line = max(0.5 * grid(at, frame.more.z), 0.9 * grid(at, 5.0 * frame.more.z));
    // Shadows are in the second sums: softened over a few pixels.
    let pixel = vec2i(p.clip.xy);
    var shade = 0.0;
    for (var k = 0; k < 9; k++) {
        let offset = 3 * vec2i(k % 3 - 1, k / 3 - 1);
        shade += textureLoad(sums, pixel + offset, 0).r / 9.0;
    }
    let paper = vec3f(0.80, 0.82, 0.84) * (1.0 - 0.38 * min(shade, 1.0));
    let colour = mix(paper, vec3f(0.42, 0.46, 0.52), line);
    if frame.more.w > 0.5 {
        return vec4f(0.16 * vec3f(0.8, 0.9, 1.0), fade * line);
    }
    return vec4f(colour, fade * 0.85);
}

fn noise(at: vec2f) -> f32 {
    let p = fract(at * vec2f(0.1031, 0.1030));
    let q = p + dot(p, p.yx + 33.33);
    return fract((q.x + q.y) * q.x) - 0.5;
}

// From attenuation to the picture: Beer and Lambert, then the film.
@fragment
fn film(corner: Corner) -> @location(0) vec4f {
    let at = vec2i(corner.at * frame.screen.xy);
    // Tissue around what is shown.
    let from_middle = (corner.at - 0.5) * vec2f(frame.screen.x / frame.screen.y, 1.0);
    let tissue = 0.26 - 0.28 * dot(from_middle, from_middle);
    let attenuation = 0.35 * max(textureLoad(sums, at, 0).r, 0.0) * frame.more.x + tissue;
    let grain = 0.035 * noise(vec2f(at) + 17.0);
    var grey = clamp(1.0 - exp(-attenuation) + grain, 0.0, 1.0);
    grey = select(grey, 1.0 - grey, frame.more.y > 0.5);
    // The eye's response: the target encodes linear light.
    let light = pow(grey, 1.9);
    return vec4f(light * vec3f(0.97, 0.99, 1.0), 1.0);
}

fn encoded(linear: vec3f) -> vec3f {
    let low = 12.92 * linear;
    let high = 1.055 * pow(max(linear, vec3f(0.0)), vec3f(1.0 / 2.4)) - 0.055;
    return select(high, low, linear <= vec3f(0.0031308));
}

// The picture goes to a window that takes numbers as they are.
@fragment
fn show(corner: Corner) -> @location(0) vec4f {
    let linear = textureSampleLevel(drawn, smooth_sampler, corner.at, 0.0).rgb;
    return vec4f(encoded(clamp(linear, vec3f(0.0), vec3f(1.0))), 1.0);
}
