#![allow(missing_docs)]
use std::sync::Mutex;
use std::time::Instant;
static T: Mutex<Vec<(&'static str, f64, u64)>> = Mutex::new(Vec::new());
pub struct P(&'static str, Instant);
pub fn p(n: &'static str) -> P { P(n, Instant::now()) }
impl Drop for P { fn drop(&mut self) { add(self.0, self.1.elapsed().as_secs_f64()); } }
pub fn add(n: &'static str, t: f64) { let mut g = T.lock().unwrap(); if let Some(e) = g.iter_mut().find(|e| e.0 == n) { e.1 += t; e.2 += 1 } else { g.push((n, t, 1)) } }
pub fn print() { let mut g = T.lock().unwrap(); g.sort_by(|a,b| b.1.total_cmp(&a.1)); for e in g.iter() { eprintln!("{:40} {:9.1} ms {:8} {:.3} ms", e.0, 1e3*e.1, e.2, 1e3*e.1/e.2 as f64) } g.clear() }
