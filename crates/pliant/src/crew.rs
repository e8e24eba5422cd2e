//! The threads of a step: awake from its beginning to its end.
//!
//! A step of a few thousand particles is a hundred loops of some ten microseconds each. To
//! wake a sleeping thread takes as long as such a loop, so with work-stealing alone two
//! threads were hardly faster than one. Here the other workers of the caller's thread pool
//! are asked once per step for help, and then watch for loops until the step ends.
//!
//! - Nobody has to come: a worker that is busy elsewhere, or asleep, is not waited for. The
//!   thread that steps does what nobody else has taken.
//! - A loop is divided into pieces, and every thread begins with its own share of them, the
//!   same in every loop, so that it finds in its cache what it has written there. Then it
//!   takes pieces from the end of others' shares.
//! - Workers that find no loop do what else there is in the pool.
//!
//! Loops that have been asked for from elsewhere, or from within a loop, are plain loops of
//! rayon. Which thread does which piece has no influence on the result as long as pieces
//! write to different places, which the borrow checker sees to.

use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rayon::iter::plumbing::{Producer, ProducerCallback};
use rayon::prelude::*;

/// Pieces of a loop per thread: enough that nobody waits long for the last one.
const PIECES: usize = 24;
/// How often a worker looks for a loop before it looks whether the pool has other work.
const PATIENCE: u32 = 1024;

thread_local! {
    /// The crew whose step this thread runs; null elsewhere and within a loop.
    static CREW: Cell<*const Crew> = const { Cell::new(ptr::null()) };
}

/// A loop that is going on: what to do with piece number `n`.
type Work = *const (dyn Fn(usize) + Sync);

/// On a cache line of its own (two, as processors fetch them in pairs).
#[repr(align(128))]
#[derive(Default)]
struct Apart<T>(T);

/// What the threads of one step have in common.
struct Crew {
    /// False from the end of the step on.
    on: AtomicBool,
    /// Number of the loop, odd while there are pieces to take.
    number: Apart<AtomicU64>,
    /// Threads that may be working on a piece.
    present: Apart<AtomicUsize>,
    /// For every thread the pieces left of its share, first and end in 32 bits each.
    shares: Box<[Apart<AtomicU64>]>,
    /// Written before `number` becomes odd, read only by those who are `present` while it is.
    work: UnsafeCell<Option<Work>>,
    /// What a piece has panicked with.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: all fields but `work` are made for sharing. `work` is written by the one thread that
// runs the step, when nobody is present, and what it points to may be called by any thread.
unsafe impl Send for Crew {}
// SAFETY: as above.
unsafe impl Sync for Crew {}

/// Runs `step` on a thread of the current pool, with the others at hand.
pub(crate) fn with_crew<R: Send>(step: impl FnOnce() -> R + Send) -> R {
    rayon::scope(|_| {
        let threads = rayon::current_num_threads();
        if threads == 1 || !CREW.get().is_null() {
            return step();
        }
        let crew = Arc::new(Crew::new(threads));
        let captain = rayon::current_thread_index();
        let hired = Arc::clone(&crew);
        rayon::spawn_broadcast(move |context| {
            if Some(context.index()) != captain {
                hired.help(context.index());
            }
        });
        let _on_duty = OnDuty::begin(&crew);
        step()
    })
}

/// While it lives, the loops of this thread are those of a crew.
struct OnDuty<'a>(&'a Crew);

impl<'a> OnDuty<'a> {
    fn begin(crew: &'a Crew) -> Self {
        CREW.set(crew);
        OnDuty(crew)
    }
}

impl Drop for OnDuty<'_> {
    fn drop(&mut self) {
        CREW.set(ptr::null());
        self.0.on.store(false, Ordering::Release);
    }
}

/// While it lives, loops of this thread are plain ones: it is within one of a crew.
struct Within(*const Crew);

impl Within {
    fn enter() -> Self {
        Within(CREW.replace(ptr::null()))
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        CREW.set(self.0);
    }
}

impl Crew {
    fn new(threads: usize) -> Crew {
        Crew {
            on: AtomicBool::new(true),
            number: Apart::default(),
            present: Apart::default(),
            shares: (0..threads).map(|_| Apart::default()).collect(),
            work: UnsafeCell::new(None),
            panic: Mutex::new(None),
        }
    }

    /// Calls `work` for all pieces from 0 to `pieces`; returns when all of it is done.
    fn run(&self, pieces: usize, work: &(dyn Fn(usize) + Sync)) {
        let threads = self.shares.len();
        for (t, share) in self.shares.iter().enumerate() {
            let (first, end) = (t * pieces / threads, (t + 1) * pieces / threads);
            let both = (end as u64) << 32 | first as u64;
            share.0.store(both, Ordering::Relaxed);
        }
        // SAFETY: only this thread writes, and nobody reads: the last loop ended when nobody
        // was present, and who has come since has found an even number. The work is called
        // only by those who are present, and this function waits for them.
        unsafe {
            let work: *const (dyn Fn(usize) + Sync + '_) = work;
            *self.work.get() = Some(std::mem::transmute::<
                *const (dyn Fn(usize) + Sync + '_),
                Work,
            >(work));
        }
        let number = self.number.0.load(Ordering::Relaxed) + 1;
        self.number.0.store(number, Ordering::SeqCst);
        let own = rayon::current_thread_index().unwrap_or(0);
        self.take_part(own, work);
        self.number.0.store(number + 1, Ordering::SeqCst);
        let mut waited = 0u32;
        while self.present.0.load(Ordering::SeqCst) > 0 {
            waited += 1;
            if waited.is_multiple_of(4 * PATIENCE) {
                std::thread::yield_now();
            }
            std::hint::spin_loop();
        }
        let panicked = self.panic.lock().map_or(None, |mut p| p.take());
        if let Some(payload) = panicked {
            resume_unwind(payload);
        }
    }

    /// Takes part in loops until the step ends.
    fn help(&self, own: usize) {
        let mut last = 0;
        let mut idle = 0u32;
        while self.on.load(Ordering::Relaxed) {
            let number = self.number.0.load(Ordering::Acquire);
            if number % 2 == 1 && number != last {
                last = number;
                idle = 0;
                self.present.0.fetch_add(1, Ordering::SeqCst);
                // Sequential consistency: either the number is seen to be even here, or the
                // thread that runs the step sees that somebody is present.
                if self.number.0.load(Ordering::SeqCst) == number {
                    // SAFETY: the loop of this number was going on when this thread was
                    // present already, so `run` is waiting for it and the work is alive.
                    if let Some(work) = unsafe { *self.work.get() } {
                        self.take_part(own, unsafe { &*work });
                    }
                }
                self.present.0.fetch_sub(1, Ordering::SeqCst);
            } else {
                idle += 1;
                if idle.is_multiple_of(PATIENCE)
                    && rayon::yield_now() != Some(rayon::Yield::Executed)
                    && idle.is_multiple_of(8 * PATIENCE)
                {
                    std::thread::yield_now();
                }
                std::hint::spin_loop();
            }
        }
    }

    /// Works on pieces as long as there are any: first on its own, from the front, then on
    /// those of others, from the end. A panic is kept for the thread that runs the step.
    fn take_part(&self, own: usize, work: &(dyn Fn(usize) + Sync)) {
        let _within = Within::enter();
        let threads = self.shares.len();
        for k in 0..threads {
            let share = &self.shares[(own + k) % threads].0;
            while let Some(piece) = take(share, k == 0) {
                if let Err(payload) = catch_unwind(AssertUnwindSafe(|| work(piece)))
                    && let Ok(mut panic) = self.panic.lock()
                {
                    *panic = Some(payload);
                }
            }
        }
    }
}

/// Takes a piece from the front or the end of a share.
fn take(share: &AtomicU64, front: bool) -> Option<usize> {
    let mut both = share.load(Ordering::Relaxed);
    loop {
        let (first, end) = (both & u64::from(u32::MAX), both >> 32);
        if first >= end {
            return None;
        }
        let (piece, left) = if front {
            (first, end << 32 | (first + 1))
        } else {
            (end - 1, (end - 1) << 32 | first)
        };
        match share.compare_exchange_weak(both, left, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return Some(piece as usize),
            Err(now) => both = now,
        }
    }
}

/// Loops for the crew of a step; plain parallel loops elsewhere.
pub(crate) trait Spread: IndexedParallelIterator {
    /// Calls `work` for every item.
    fn spread<F>(self, work: F)
    where
        F: Fn(Self::Item) + Sync + Send,
    {
        match current() {
            Some(crew) => divide(crew, self, work, None),
            None => self.for_each(work),
        }
    }

    /// The same, while somebody does what is `aside`.
    fn spread_beside<F, A>(self, aside: A, work: F)
    where
        F: Fn(Self::Item) + Sync + Send,
        A: FnOnce() + Send,
    {
        match current() {
            Some(crew) => {
                let once = Mutex::new(Some(aside));
                let aside = || take_out(&once).map_or((), |aside| aside());
                divide(crew, self, work, Some(&aside));
            }
            None => {
                rayon::join(|| self.for_each(work), aside);
            }
        }
    }

    /// What `work` makes of every item, in order.
    fn spread_map<R, F>(self, work: F) -> Vec<R>
    where
        R: Send,
        F: Fn(Self::Item) -> R + Sync + Send,
    {
        if current().is_none() {
            return self.map(work).collect();
        }
        let mut made: Vec<Option<R>> = Vec::new();
        made.resize_with(self.len(), || None);
        self.zip(made.par_iter_mut())
            .spread(|(item, made)| *made = Some(work(item)));
        made.into_iter().flatten().collect()
    }
}

impl<I: IndexedParallelIterator> Spread for I {}

/// Numbers that one thread fills or copies at a time.
const LONG: usize = 4096;

/// Fills an array, by all threads if it is long.
pub(crate) fn fill<T: Copy + Send + Sync>(a: &mut [T], value: T) {
    a.par_chunks_mut(LONG).spread(|a| a.fill(value));
}

/// Copies an array of the same length, by all threads if it is long.
pub(crate) fn copy<T: Copy + Send + Sync>(to: &mut [T], from: &[T]) {
    (to.par_chunks_mut(LONG), from.par_chunks(LONG))
        .into_par_iter()
        .spread(|(to, from)| to.copy_from_slice(from));
}

/// The crew that the loops of this thread belong to.
fn current<'a>() -> Option<&'a Crew> {
    // SAFETY: the pointer is that of a crew whose `OnDuty` lives on this thread's stack, below
    // the caller: it is taken back when that ends.
    unsafe { CREW.get().as_ref() }
}

/// Has `crew` do all pieces of a loop, and what is `aside`.
fn divide<I, F>(crew: &Crew, items: I, work: F, aside: Option<&(dyn Fn() + Sync)>)
where
    I: IndexedParallelIterator,
    F: Fn(I::Item) + Sync,
{
    let len = items.len();
    items.with_producer(Pieces {
        crew,
        len,
        work,
        aside,
    });
}

/// Divides a loop into pieces and has them done.
struct Pieces<'a, F> {
    crew: &'a Crew,
    len: usize,
    work: F,
    aside: Option<&'a (dyn Fn() + Sync)>,
}

impl<T, F: Fn(T) + Sync> ProducerCallback<T> for Pieces<'_, F> {
    type Output = ();

    fn callback<P: Producer<Item = T>>(self, producer: P) {
        let most = PIECES * self.crew.shares.len();
        let grain = producer.min_len().max(self.len.div_ceil(most)).max(1);
        let count = self.len.div_ceil(grain).max(1);
        if count == 1 && self.aside.is_none() {
            return producer.into_iter().for_each(self.work);
        }
        let mut pieces = Vec::with_capacity(count);
        let mut rest = producer;
        for _ in 1..count {
            let (piece, others) = rest.split_at(grain);
            pieces.push(Mutex::new(Some(piece)));
            rest = others;
        }
        pieces.push(Mutex::new(Some(rest)));
        // What is aside takes longest and comes first.
        let asides = usize::from(self.aside.is_some());
        self.crew.run(asides + count, &|k| match self.aside {
            Some(aside) if k == 0 => aside(),
            _ => {
                if let Some(piece) = take_out(&pieces[k - asides]) {
                    piece.into_iter().for_each(&self.work);
                }
            }
        });
    }
}

/// Takes out what only one thread gets; the lock is never waited for.
fn take_out<T>(once: &Mutex<Option<T>>) -> Option<T> {
    once.lock().map_or(None, |mut once| once.take())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;
    use std::sync::mpsc::channel;

    fn pool(threads: usize) -> rayon::ThreadPool {
        let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
        builder.build().unwrap()
    }

    /// Loops of many lengths, also within each other and with something aside.
    fn loops() -> Vec<usize> {
        let mut sums = Vec::new();
        for n in [0, 1, 2, 5, 47, 48, 49, 1000] {
            let mut visits = vec![0u32; n];
            visits.par_iter_mut().spread(|v| *v += 1);
            assert!(visits.iter().all(|v| *v == 1), "{n}");
            let mut done = false;
            visits
                .par_iter_mut()
                .with_min_len(3)
                .spread_beside(|| done = true, |v| *v += 1);
            assert!(done && visits.iter().all(|v| *v == 2), "{n}");
            let inner = |k: usize| {
                let parts = (0..k % 7).into_par_iter().spread_map(|i| i * k);
                parts.iter().sum::<usize>()
            };
            sums.extend((0..n).into_par_iter().spread_map(inner));
        }
        sums
    }

    #[test]
    fn every_item_is_visited_once_and_answers_come_in_order() {
        let plain = loops();
        for threads in [1, 2, 3, 5] {
            let pool = pool(threads);
            for _ in 0..20 {
                assert_eq!(pool.install(|| with_crew(loops)), plain);
            }
        }
    }

    #[test]
    fn long_arrays_are_filled_and_copied_to_their_ends() {
        for n in [0, 1, LONG - 1, LONG, 3 * LONG + 7] {
            let from: Vec<usize> = (0..n).collect();
            let mut to = vec![0; n];
            pool(2).install(|| with_crew(|| copy(&mut to, &from)));
            assert_eq!(to, from);
            pool(2).install(|| with_crew(|| fill(&mut to, 5)));
            assert!(to.iter().all(|v| *v == 5), "{n}");
        }
    }

    #[test]
    fn a_panic_reaches_the_step_and_the_crew_goes_on() {
        let went_on = pool(2).install(|| {
            with_crew(|| {
                let broken = catch_unwind(|| {
                    (0..100)
                        .into_par_iter()
                        .spread(|i| assert!(i != 77, "number {i}"));
                });
                let payload = broken.unwrap_err();
                let message = payload.downcast_ref::<String>();
                assert!(message.is_some_and(|m| m.contains("number 77")));
                loops().len()
            })
        });
        assert_eq!(went_on, loops().len());
    }

    /// A worker that is busy with something that ends only after the step.
    #[test]
    fn nobody_is_waited_for() {
        let pool = pool(2);
        let (release, wait) = channel::<()>();
        let (started, is_busy) = channel::<()>();
        pool.spawn(move || {
            started.send(()).unwrap();
            wait.recv().unwrap();
        });
        is_busy.recv().unwrap();
        let sums = pool.install(|| with_crew(loops));
        release.send(()).unwrap();
        assert_eq!(sums, loops());
    }

    #[test]
    fn two_steps_at_once_share_a_pool() {
        let pool = pool(2);
        let finished = AtomicU32::new(0);
        std::thread::scope(|threads| {
            for _ in 0..3 {
                threads.spawn(|| {
                    for _ in 0..30 {
                        pool.install(|| with_crew(loops));
                    }
                    finished.fetch_add(1, Ordering::Relaxed);
                });
            }
        });
        assert_eq!(finished.into_inner(), 3);
    }
}
