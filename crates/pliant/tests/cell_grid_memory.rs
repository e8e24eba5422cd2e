//! Rebuilding a grid takes no memory once its buffers have grown.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use glam::Vec3;
use pliant::math::XyzVec;
use pliant::space::{CellGrid, NeighbourSearch};

/// The system's allocator, with a count of the bytes it gave out.
struct Counting;

static GIVEN_OUT: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        GIVEN_OUT.fetch_add(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        GIVEN_OUT.fetch_add(new_size, Relaxed);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn rebuilding_and_searching_allocate_nothing() {
    let cloud = |phase: f32| -> XyzVec {
        (0..100_000)
            .map(|i| {
                let t = i as f32 + phase;
                Vec3::new((t * 1.7).sin(), (t * 2.3).cos(), (t * 0.9).sin()) * 3.0
            })
            .collect()
    };
    let frames = [cloud(0.0), cloud(0.4), cloud(0.8)];
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a thread pool");
        let mut grid = CellGrid::new();
        pool.install(|| grid.build(frames[0].view(), 0.1));
        let before = GIVEN_OUT.load(Relaxed);
        let mut found = 0usize;
        for _ in 0..10 {
            for frame in &frames {
                pool.install(|| grid.build(frame.view(), 0.1));
                for i in 0..100 {
                    grid.for_each_within(frame.view(), frame.get(i), &mut |_| found += 1);
                }
            }
        }
        let taken = GIVEN_OUT.load(Relaxed) - before;
        assert!(found >= 30 * 100);
        // The queues of the thread pool take a few blocks of some kilobytes in 30
        // builds; any one array of the grid would take 12 MB.
        assert!(taken < 64 * 1024, "{threads} threads: {taken} bytes");
    }
}
