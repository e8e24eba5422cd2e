// Triangles: bodies and walls, solid, see-through, as lines, and as X-rays see them.

struct Point {
    @builtin(position) clip: vec4f,
    @location(0) place: vec3f,
    @location(1) normal: vec3f,
    @location(2) value: f32,
}

@vertex
fn point(
    @location(0) place: vec3f,
    @location(1) normal: vec3f,
    @location(2) value: f32,
) -> Point {
    return Point(frame.view_proj * vec4f(place, 1.0), place, normal, value);
}

@vertex
fn shadow(
    @location(0) place: vec3f,
    @location(1) normal: vec3f,
    @location(2) value: f32,
) -> @builtin(position) vec4f {
    return frame.view_proj * vec4f(shadow_of(place), 1.0);
}

// Mixed by the larger: shadows do not add up.
@fragment
fn shade() -> @location(0) vec4f {
    return vec4f(object.colour.a);
}

// The normal on the eye's side: of the vertices, or of the triangle itself.
fn normal_of(p: Point) -> vec3f {
    let flat_normal = normalize(cross(dpdx(p.place), dpdy(p.place)));
    let smooth_normal = normalize(p.normal);
    let n = select(smooth_normal, flat_normal, object.more.x > 0.5);
    return faceForward(n, p.place - frame.eye.xyz, n);
}

@fragment
fn solid(p: Point) -> @location(0) vec4f {
    return vec4f(lit(mapped(p.value), normal_of(p), p.place), 1.0);
}

// A wall: see-through where it is met straight on, with the film that liquid left.
@fragment
fn wall(p: Point) -> @location(0) vec4f {
    let n = normal_of(p);
    let facing = abs(dot(n, normalize(frame.eye.xyz - p.place)));
    let opacity = object.colour.a;
    let rim = mix(opacity, 1.0, pow(1.0 - facing, 3.0) * min(1.0, 2.0 * opacity));
    let film = clamp(p.value, 0.0, 1.0) * object.more.y;
    let colour = lit(mix(object.colour.rgb, object.light.rgb, film), n, p.place);
    return vec4f(colour, mix(rim, 0.85, 0.75 * film));
}

@fragment
fn line(p: Point) -> @location(0) vec4f {
    // Lines away from the eye fade, so that the near ones can be followed.
    let away = dot(p.place - frame.centre.xyz, frame.forward.xyz) / frame.screen.w;
    let fade = clamp(0.75 - 0.8 * away, 0.2, 1.0);
    return vec4f(mapped(p.value), object.colour.a * fade);
}

// What a ray leaves behind in a closed body: its way out minus its way in.
@fragment
fn attenuation(p: Point, @builtin(front_facing) front: bool) -> @location(0) vec4f {
    // From the middle of the scene: half floats have no digits to spare.
    let ray = normalize(p.place - frame.eye.xyz);
    let way = dot(p.place - frame.centre.xyz, ray);
    let through = select(way, -way, front);
    return vec4f(through * object.more.z, through, 0.0, 0.0);
}

// What a ray leaves behind in a thin wall and the film on it.
@fragment
fn shell(p: Point) -> @location(0) vec4f {
    let facing = abs(dot(normalize(p.normal), normalize(p.place - frame.eye.xyz)));
    let slant = 1.0 / max(facing, 0.15);
    let film = clamp(p.value, 0.0, 1.0) * object.more.y;
    return vec4f(slant * (object.light.w * object.more.z + film), 0.0, 0.0, 0.0);
}
