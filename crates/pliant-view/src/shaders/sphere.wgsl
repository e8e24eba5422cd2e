// Particles as balls: each is a square on which the ray through the pixel meets the ball.

struct Ball {
    @builtin(position) clip: vec4f,
    @location(0) place: vec3f,
    @location(1) @interpolate(flat) centre: vec3f,
    @location(2) @interpolate(flat) value: f32,
}

@vertex
fn ball(@builtin(vertex_index) index: u32, @location(0) point: vec4f) -> Ball {
    let corner = billboard(point.xyz, object.numbers.x, index);
    return Ball(frame.view_proj * vec4f(corner.place, 1.0), corner.place, point.xyz, point.w);
}

struct Spot {
    @builtin(position) clip: vec4f,
    @location(0) at: vec2f,
}

// The shadow of a ball: a disc on the floor.
@vertex
fn shadow(@builtin(vertex_index) index: u32, @location(0) point: vec4f) -> Spot {
    let at = corner(index);
    let place = shadow_of(point.xyz) + object.numbers.x * vec3f(at.x, 0.0, at.y);
    return Spot(frame.view_proj * vec4f(place, 1.0), at);
}

@fragment
fn shade(spot: Spot) -> @location(0) vec4f {
    if dot(spot.at, spot.at) > 1.0 {
        discard;
    }
    return vec4f(object.colour.a);
}

struct Hit {
    place: vec3f,
    normal: vec3f,
    // Length of the ray inside the ball; negative beside it.
    inside: f32,
}

fn hit(ball: Ball) -> Hit {
    let ray = normalize(ball.place - frame.eye.xyz);
    let to_eye = frame.eye.xyz - ball.centre;
    let along = dot(to_eye, ray);
    // From the nearest point of the ray: no difference of large squares.
    let nearest = to_eye - along * ray;
    let radius = object.numbers.x;
    let half_squared = radius * radius - dot(nearest, nearest);
    if half_squared < 0.0 {
        return Hit(vec3f(0.0), vec3f(0.0), -1.0);
    }
    let half_chord = sqrt(half_squared);
    let offset = nearest - half_chord * ray;
    return Hit(ball.centre + offset, offset / radius, 2.0 * half_chord);
}

struct Shaded {
    @location(0) colour: vec4f,
    @builtin(frag_depth) depth: f32,
}

@fragment
fn shaded(ball: Ball) -> Shaded {
    let met = hit(ball);
    if met.inside < 0.0 {
        discard;
    }
    let colour = lit(mapped(ball.value), met.normal, met.place);
    return Shaded(vec4f(colour, 1.0), depth_of(met.place));
}

// A ball of air that marks a place: only its rim is seen.
@fragment
fn ghost(ball: Ball) -> Shaded {
    let met = hit(ball);
    if met.inside < 0.0 {
        discard;
    }
    let facing = abs(dot(met.normal, normalize(frame.eye.xyz - met.place)));
    let rim = 0.12 + 0.7 * pow(1.0 - facing, 2.5);
    return Shaded(vec4f(object.colour.rgb, object.colour.a * rim), depth_of(met.place));
}

// Way of the ray through the liquid that the ball stands for, and its optical depth.
@fragment
fn thickness(ball: Ball) -> @location(0) vec4f {
    let met = hit(ball);
    if met.inside < 0.0 {
        discard;
    }
    // The ball is larger than its share of the liquid: a cube of two particle radii.
    let way = met.inside * object.more.y;
    return vec4f(way * object.more.z, way, 0.0, 0.0);
}

// A puff of smoke, densest in the middle.
@fragment
fn puff(ball: Ball) -> @location(0) vec4f {
    let met = hit(ball);
    if met.inside < 0.0 {
        discard;
    }
    let share = 0.5 * met.inside / object.numbers.x;
    let light = 0.75 + 0.35 * dot(met.normal, frame.light.xyz);
    return vec4f(mapped(ball.value) * light, object.colour.a * share * share * share);
}
