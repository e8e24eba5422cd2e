//! In which order links lie around a point.

use super::topology::{Link, Topology};

/// What is around a point, in order.
pub(super) struct Around {
    /// Along edges, in the order in which triangles join them.
    pub edges: Vec<Step>,
    /// Springs against bending.
    pub others: Vec<Step>,
    /// The last edge and the first span a triangle.
    pub closed: bool,
}

/// A step from link to link.
#[derive(Clone, Copy)]
pub(super) struct Step {
    /// The point at the other end.
    pub other: u32,
    /// Nothing where there is no spring, or one that has been passed before.
    pub spring: Option<u32>,
}

impl Around {
    /// The links of point `i`.
    pub fn of(topology: &Topology, i: usize) -> Around {
        let edges = topology.edges.len() as u32;
        let links = topology.links_of(i);
        let step = |l: &Link| Step {
            other: l.other,
            spring: Some(l.spring),
        };
        let others = links.iter().filter(|l| l.spring >= edges).map(step);
        // Every triangle leads from one edge to the next.
        let mut ways: Vec<[u32; 2]> = Vec::new();
        for &t in topology.corners_of(i) {
            let [a, b, c] = topology.triangles[t as usize];
            let own = i as u32;
            ways.push(if a == own {
                [b, c]
            } else if b == own {
                [c, a]
            } else {
                [a, b]
            });
        }
        let mut list: Vec<Step> = Vec::new();
        let mut used: Vec<u32> = Vec::new();
        let mut fans = 0;
        let mut closed = false;
        while let Some(&[start, _]) = ways
            .iter()
            .find(|w| ways.iter().all(|v| v[1] != w[0]))
            .or(ways.first())
        {
            // A step to the point itself keeps two fans apart.
            if fans > 0 {
                list.push(Step {
                    other: i as u32,
                    spring: None,
                });
            }
            fans += 1;
            let mut push = |other: u32| {
                let along = |l: &&Link| l.other == other && l.spring < edges;
                let spring = links.iter().find(along).map(|l| l.spring);
                let fresh = !used.contains(&other);
                used.push(other);
                list.push(Step {
                    other,
                    spring: spring.filter(|_| fresh),
                });
            };
            push(start);
            let mut last = start;
            while let Some(k) = ways.iter().position(|w| w[0] == last) {
                last = ways.swap_remove(k)[1];
                closed = last == start;
                if closed && ways.is_empty() && fans == 1 {
                    break;
                }
                push(last);
                if closed {
                    break;
                }
            }
        }
        Around {
            edges: list,
            others: others.collect(),
            closed: closed && fans == 1,
        }
    }

    /// Link `k` where those along edges end at `edges`. Short lists repeat their last
    /// edge, without a spring: with itself it spans nothing.
    pub fn step(&self, k: usize, edges: usize) -> Option<Step> {
        if k >= edges {
            return self.others.get(k - edges).copied();
        }
        let last = Step {
            spring: None,
            ..*self.edges.last()?
        };
        Some(*self.edges.get(k).unwrap_or(&last))
    }
}
