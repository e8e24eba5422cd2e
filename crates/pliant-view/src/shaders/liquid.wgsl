// The surface of a liquid: what is mirrored, what is seen through it, what it scatters.

@group(2) @binding(0) var behind: texture_2d<f32>;
@group(2) @binding(1) var ways: texture_2d<f32>;

struct Point {
    @builtin(position) clip: vec4f,
    @location(0) place: vec3f,
    @location(1) normal: vec3f,
}

@vertex
fn point(
    @location(0) place: vec3f,
    @location(1) normal: vec3f,
    @location(2) value: f32,
) -> Point {
    return Point(frame.view_proj * vec4f(place, 1.0), place, normal);
}

@fragment
fn surface(p: Point) -> @location(0) vec4f {
    let to_eye = normalize(frame.eye.xyz - p.place);
    let n = faceForward(normalize(p.normal), -to_eye, normalize(p.normal));
    let facing = clamp(dot(to_eye, n), 0.0, 1.0);

    // Snell's law bends the ray; it leaves the liquid about one thickness further.
    let at = p.clip.xy / frame.screen.xy;
    let way = max(textureSampleLevel(ways, smooth_sampler, at, 0.0).g, 0.0);
    let bent = refract(-to_eye, n, 1.0 / 1.33);
    let depth = dot(p.place - frame.eye.xyz, frame.forward.xyz);
    let shift = min(way, 0.15 * frame.screen.w) * frame.screen.z / depth
        * vec2f(dot(bent + to_eye, frame.right.xyz), -dot(bent + to_eye, frame.up.xyz));
    let seen = textureSampleLevel(behind, smooth_sampler, at + shift / frame.screen.xy, 0.0).rgb;
    let through = seen * exp(-object.light.rgb * way);

    let scattered = lit(object.colour.rgb, n, p.place);
    // Thin layers of what is cloudy are clearer.
    let cloud = object.more.w * (1.0 - exp(-way / (0.6 * object.numbers.x)));
    let below = mix(through, scattered, cloud);

    let mirrored = textureSampleLevel(surroundings, smooth_sampler, reflect(-to_eye, n), 0.0).rgb;
    let half_way = normalize(frame.light.xyz + to_eye);
    let shine = pow(max(dot(n, half_way), 0.0), 160.0);
    // Grahn 2008, 6.5, with reflection and refraction in their right places.
    let fresnel = 0.02 + 0.98 * pow(1.0 - facing, 4.0);
    return vec4f(mix(below, mirrored, fresnel) + vec3f(0.9 * shine), 1.0);
}
