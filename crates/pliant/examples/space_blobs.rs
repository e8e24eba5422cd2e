//! A small game with two hundred soft creatures (Mesit 2010, 5.2), in a terminal.
//!
//! You fly the ship `A` through a box full of blobs that breathe, bump and hunt you. Type
//! `w`, `a`, `s`, `d` and Enter to thrust, `f` to blow away what is near, `q` to end. Without
//! anybody at the keys, or with a number of frames as argument, it flies by itself.
//!
//! ```sh
//! cargo run --release -p pliant --example space_blobs
//! cargo run --release -p pliant --example space_blobs -- 120
//! ```

use std::io::BufRead;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

use pliant::scene::{Built, Scene};
use pliant::{Soft, Vec3};

const FRAME: Duration = Duration::from_micros(16_667);
/// Frames between two pictures.
const PICTURE: u32 = 15;
/// Characters across and down.
const MAP: [usize; 2] = [78, 26];
const SIZE: Vec3 = Vec3::new(2.6, 1.04, 1.3);
/// How far blobs see the ship, and its blast reaches, in metres.
const SIGHT: f32 = 0.6;
/// How fast hunters become, in m/s².
const HUNT: f32 = 0.8;
const BLAST: f32 = 1.5;

struct Ship {
    place: Vec3,
    velocity: Vec3,
    hits: u32,
}

fn center(soft: &Soft) -> Vec3 {
    soft.positions().iter().sum::<Vec3>() / soft.len() as f32
}

/// Adds `change` to the velocity of every point.
fn shove(soft: &mut Soft, change: Vec3, mass: f32) {
    for i in 0..soft.len() as u32 {
        soft.push(i, mass * change);
    }
}

/// Blobs see the ship and hunt it; a blast throws them back.
fn think(built: &mut Built, ship: &mut Ship, blast: bool, dt: f32) {
    for &handle in &built.softs {
        let Some(soft) = built.world.soft_mut(handle) else {
            continue;
        };
        let way = ship.place - center(soft);
        let distance = way.length();
        if distance > SIGHT {
            continue;
        }
        // Half a kilogram per square metre of a ball of 95 mm, shared by its points.
        let mass = 0.0567 / soft.len() as f32;
        let toward = way / distance.max(1e-3);
        if blast {
            shove(soft, -BLAST * toward, mass);
        } else {
            shove(soft, HUNT * dt * toward, mass);
        }
        if distance < 0.11 {
            ship.hits += 1;
            ship.velocity += 0.2 * toward;
            shove(soft, -0.3 * toward, mass);
        }
    }
}

fn draw(built: &Built, ship: &Ship, frame: u32, busy: Duration) {
    let mut map = vec![b' '; MAP[0] * MAP[1]];
    let mut mark = |p: Vec3, c: u8| {
        let at = |x: f32, size: f32, n: usize| ((x / size * n as f32) as usize).min(n - 1);
        map[at(p.z, SIZE.z, MAP[1]) * MAP[0] + at(p.x, SIZE.x, MAP[0])] = c;
    };
    for soft in built.world.softs() {
        let swollen = soft.volume() > 1.3 * soft.rest_volume();
        mark(center(soft), if swollen { b'O' } else { b'o' });
    }
    mark(ship.place, b'A');
    println!("\x1b[H\x1b[2J{}", "-".repeat(MAP[0]));
    for row in map.chunks(MAP[0]) {
        println!("{}", String::from_utf8_lossy(row));
    }
    let load = 100.0 * busy.as_secs_f64() / FRAME.as_secs_f64();
    println!(
        "frame {frame}: {load:.0} % of 1/60 s, hit {} times",
        ship.hits
    );
}

/// Keys that have been typed since the last frame.
fn keys(typed: &Receiver<String>) -> Option<String> {
    let mut all = String::new();
    loop {
        match typed.try_recv() {
            Ok(line) => all += &line,
            Err(TryRecvError::Empty) => return Some(all),
            Err(TryRecvError::Disconnected) => return None,
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let most: Option<u32> = std::env::args().nth(1).map(|n| n.parse()).transpose()?;
    let mut built = Scene::open("space-blobs", &[])?.build()?;
    let mut ship = Ship {
        place: 0.5 * SIZE,
        velocity: Vec3::ZERO,
        hits: 0,
    };
    let (send, typed) = channel();
    std::thread::spawn(move || {
        let lines = std::io::stdin().lock().lines().map_while(Result::ok);
        for line in lines {
            if send.send(line).is_err() {
                return;
            }
        }
    });
    let dt = FRAME.as_secs_f32();
    let mut total = Duration::ZERO;
    let mut frame = 0;
    while most.is_none_or(|n| frame < n) {
        let start = Instant::now();
        let pilot = keys(&typed).filter(|_| most.is_none());
        if pilot.as_ref().is_some_and(|k| k.contains('q')) {
            break;
        }
        let typed = pilot.unwrap_or_else(|| {
            let plan = ["w", "d", "s", "a", "f"];
            plan[frame as usize / 20 % plan.len()].into()
        });
        for key in typed.chars() {
            ship.velocity += match key {
                'w' => -0.1 * Vec3::Z,
                's' => 0.1 * Vec3::Z,
                'a' => -0.1 * Vec3::X,
                'd' => 0.1 * Vec3::X,
                _ => Vec3::ZERO,
            };
        }
        think(&mut built, &mut ship, typed.contains('f'), dt);
        ship.velocity *= 0.99;
        ship.place = (ship.place + dt * ship.velocity).clamp(Vec3::splat(0.02), SIZE - 0.02);
        built.world.step(dt)?;
        let busy = start.elapsed();
        total += busy;
        if frame % PICTURE == 0 {
            draw(&built, &ship, frame, busy);
        }
        frame += 1;
        std::thread::sleep(FRAME.saturating_sub(start.elapsed()));
    }
    let mean = total / frame.max(1);
    println!("{frame} frames, {mean:.2?} each, hit {} times", ship.hits);
    Ok(())
}
