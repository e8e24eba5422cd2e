//! Forces and stiffness of all elements: first every element by itself, then every
//! point gathers from the elements around it.

use glam::{DVec3, Mat3A, Quat, Vec3A};
use rayon::prelude::*;

use super::block_matrix::{BlockMatrix, ROWS, run};
use super::conjugate_gradient::{Freedom, Outcome, Scratch};
use super::corotational::{Corotational, rotation, strain};
use super::element::{Elements, cofactor};
use super::envelope::Envelope;
use super::neo_hookean::{NeoHookean, NeoHookeanTangent};
use super::patches::group_by;
use super::settings::{Elastic, ElasticLaw};
use crate::crew::Spread;
use crate::mesh::TetMesh;

/// Elements per task.
const CHUNK: usize = 512;
/// Iterations that solving by factors spares.
const WORTH: u32 = 12;

/// What finite elements know of a body.
#[derive(Clone, Debug)]
pub(super) struct ElasticBody {
    pub settings: Elastic,
    pub law: Law,
    pub elements: Elements,
    pub state: Vec<ElementState>,
    pub stiffness: BlockMatrix,
    /// Elastic force on every point in N.
    pub force: Vec<Vec3A>,
    /// Around point i: `around[start[i]..start[i + 1]]`.
    start: Vec<u32>,
    around: Vec<Corner>,
    /// Last change of velocity: where the solver starts.
    pub change: Vec<Vec3A>,
    /// Masses with their damping: the part of the equations beside the stiffness.
    pub diagonal: Vec<f32>,
    /// Right-hand side of the equations of this step, in N s.
    pub right: Vec<Vec3A>,
    /// How points may move in this step.
    pub freedom: Vec<Freedom>,
    pub scratch: Scratch,
    /// Factors of the equations of an earlier step, if the body is thin or small.
    pub factor: Option<Envelope>,
    /// They have become too different.
    pub worn: bool,
    /// How the last solve went.
    pub outcome: Outcome,
    /// What the forces within each piece of the body add up to in the last step, in N s: nothing
    /// but the rounding of large ones.
    pub spare: Vec<DVec3>,
    /// What gravity, fields and loads have given in the last step to points that are not
    /// pinned, and pins to those that are, in N s.
    pub outside: DVec3,
    pub held: DVec3,
    /// Impulse on constrained points in the last step, in N s.
    pub reaction: Vec<Vec3A>,
}

/// The law of the material with its constants.
#[derive(Clone, Copy, Debug)]
pub(super) enum Law {
    Corotational(Corotational),
    NeoHookean(NeoHookean),
}

/// What an element remembers, and what it computes for its points.
#[derive(Clone, Copy, Debug)]
pub(super) struct ElementState {
    /// The last rotation: where the search for the next begins.
    pub rotation: Quat,
    /// Strain that stays.
    pub plastic: Mat3A,
    /// Corotational: the turned gradients of corners 1, 2 and 3. Neo-Hookean: the
    /// deformation gradient.
    frame: Mat3A,
    /// First Piola-Kirchhoff stress in Pa.
    pub stress: Mat3A,
    tangent: NeoHookeanTangent,
}

/// A corner of an element, seen from its point.
#[derive(Clone, Copy, Debug)]
struct Corner {
    element: u32,
    corner: u8,
    /// Where the four corners' blocks are in the point's row.
    slots: [u16; 4],
}

impl ElasticBody {
    pub fn new(settings: Elastic, mesh: &TetMesh) -> ElasticBody {
        let (lambda, mu) = settings.lame();
        let law = match settings.law {
            ElasticLaw::Corotational => Law::Corotational(Corotational { lambda, mu }),
            ElasticLaw::NeoHookean => Law::NeoHookean(NeoHookean::new(lambda, mu)),
        };
        let stiffness = BlockMatrix::new(mesh);
        let points = mesh.points.len();
        let (start, places) = group_by(points, mesh.tets.iter().flatten().copied());
        let around = places
            .iter()
            .map(|&place| {
                let (element, corner) = (place / 4, (place % 4) as u8);
                let tet = mesh.tets[element as usize];
                let row = tet[corner as usize] as usize;
                Corner {
                    element,
                    corner,
                    // Corners of an element are joined by edges, so the slots exist.
                    slots: tet.map(|v| stiffness.slot(row, v).unwrap_or(0)),
                }
            })
            .collect();
        let rest = ElementState {
            rotation: Quat::IDENTITY,
            plastic: Mat3A::ZERO,
            frame: Mat3A::IDENTITY,
            stress: Mat3A::ZERO,
            tangent: NeoHookeanTangent::default(),
        };
        ElasticBody {
            law,
            elements: Elements::new(mesh),
            state: vec![rest; mesh.tets.len()],
            force: vec![Vec3A::ZERO; points],
            start,
            around,
            change: vec![Vec3A::ZERO; points],
            diagonal: Vec::new(),
            right: Vec::new(),
            freedom: vec![Freedom::Free; points],
            scratch: Scratch::default(),
            factor: Envelope::new(&stiffness, WORTH),
            worn: false,
            outcome: Outcome::default(),
            spare: Vec::new(),
            outside: DVec3::ZERO,
            held: DVec3::ZERO,
            reaction: Vec::new(),
            stiffness,
            settings,
        }
    }

    /// Computes forces and stiffness at these displacements. Plastic strain flows
    /// for `dt` seconds.
    pub fn assemble(&mut self, tets: &[[u32; 4]], displacement: &[Vec3A], dt: f32) {
        self.compute_elements(tets, displacement, dt);
        let (law, elements, state) = (self.law, &self.elements, &self.state);
        let (start, around) = (&self.start, &self.around);
        let (rows, tasks) = self.stiffness.tasks_mut();
        let tasks = tasks.into_iter();
        let tasks = tasks.zip(self.force.chunks_mut(ROWS)).collect();
        run(tasks, |((first, blocks), force)| {
            blocks.fill(Mat3A::ZERO);
            for (k, force) in force.iter_mut().enumerate() {
                let i = first + k;
                let row = (rows[i] - rows[first]) as usize..(rows[i + 1] - rows[first]) as usize;
                let row = &mut blocks[row];
                *force = Vec3A::ZERO;
                for corner in &around[start[i] as usize..start[i + 1] as usize] {
                    let t = corner.element as usize;
                    let gradients = elements.gradients(t);
                    let volume = elements.volume[t];
                    let own = gradients[corner.corner as usize];
                    *force -= volume * (state[t].stress * own);
                    law.add_blocks(&state[t], &gradients, volume, corner, row);
                }
            }
            0.0
        });
    }

    /// Computes only the forces on all points.
    pub fn compute_forces(&mut self, tets: &[[u32; 4]], displacement: &[Vec3A]) {
        self.compute_elements(tets, displacement, 0.0);
        let (elements, state) = (&self.elements, &self.state);
        let (start, around) = (&self.start, &self.around);
        let gather = |(i, force): (usize, &mut Vec3A)| {
            *force = around[start[i] as usize..start[i + 1] as usize]
                .iter()
                .fold(Vec3A::ZERO, |sum, corner| {
                    let t = corner.element as usize;
                    let own = elements.gradients(t)[corner.corner as usize];
                    sum - elements.volume[t] * (state[t].stress * own)
                });
        };
        self.force
            .par_iter_mut()
            .with_min_len(CHUNK)
            .enumerate()
            .spread(gather);
    }

    fn compute_elements(&mut self, tets: &[[u32; 4]], displacement: &[Vec3A], dt: f32) {
        let (law, elements) = (self.law, &self.elements);
        let plasticity = self.settings.plasticity;
        let tasks = self.state.chunks_mut(CHUNK).enumerate().collect();
        run(tasks, |(chunk, states)| {
            for (k, state) in states.iter_mut().enumerate() {
                let t = chunk * CHUNK + k;
                let u = tets[t].map(|v| displacement[v as usize]);
                let gradient = elements.displacement_gradient(t, u);
                let f = Mat3A::IDENTITY + gradient;
                match law {
                    Law::Corotational(law) => {
                        state.rotation = rotation(f, state.rotation);
                        let r = Mat3A::from_quat(state.rotation);
                        let total = strain(state.rotation, r, gradient);
                        if let Some(plasticity) = plasticity {
                            plasticity.flow(&mut state.plastic, total, dt);
                        }
                        state.stress = law.stress(r, total - state.plastic);
                        let [b1, b2, b3] = elements.gradient[t];
                        state.frame = Mat3A::from_cols(r * b1, r * b2, r * b3);
                    }
                    Law::NeoHookean(law) => {
                        state.frame = f;
                        state.stress = law.stress(f);
                        state.tangent = law.tangent(f);
                    }
                }
            }
            0.0
        });
    }

    /// Elastic energy in J at these displacements; does not change the body.
    pub fn energy(&self, tets: &[[u32; 4]], displacement: &[Vec3A]) -> f64 {
        let tasks = (0..tets.len()).step_by(CHUNK).collect();
        run(tasks, |first| {
            (first..(first + CHUNK).min(tets.len()))
                .map(|t| self.energy_of(t, tets, displacement))
                .sum()
        })
    }

    /// Elastic energy of one element in J.
    pub fn energy_of(&self, t: usize, tets: &[[u32; 4]], displacement: &[Vec3A]) -> f64 {
        let u = tets[t].map(|v| displacement[v as usize]);
        let gradient = self.elements.displacement_gradient(t, u);
        let f = Mat3A::IDENTITY + gradient;
        let density = match self.law {
            Law::Corotational(law) => {
                let q = rotation(f, self.state[t].rotation);
                let total = strain(q, Mat3A::from_quat(q), gradient);
                f64::from(law.energy(total - self.state[t].plastic))
            }
            Law::NeoHookean(law) => law.energy(f),
        };
        f64::from(self.elements.volume[t]) * density
    }

    pub fn bytes(&self) -> usize {
        52 * self.elements.gradient.len()
            + std::mem::size_of::<ElementState>() * self.state.len()
            + 52 * self.stiffness.block.len()
            + std::mem::size_of::<Corner>() * self.around.len()
            + 180 * self.force.len()
            + self.factor.as_ref().map_or(0, Envelope::bytes)
    }
}

impl Law {
    /// Adds the blocks of one element to the row of one of its corners.
    #[inline]
    fn add_blocks(
        &self,
        state: &ElementState,
        gradients: &[Vec3A; 4],
        volume: f32,
        corner: &Corner,
        row: &mut [Mat3A],
    ) {
        match self {
            Law::Corotational(law) => {
                let [c1, c2, c3] = [state.frame.x_axis, state.frame.y_axis, state.frame.z_axis];
                let turned = [-(c1 + c2 + c3), c1, c2, c3];
                let ci = turned[usize::from(corner.corner)] * volume;
                for (c, slot) in turned.into_iter().zip(corner.slots) {
                    row[usize::from(slot)] += law.block(ci, c);
                }
            }
            Law::NeoHookean(law) => {
                let (f, g) = (state.frame, cofactor(state.frame));
                let own = gradients[usize::from(corner.corner)];
                for (b, slot) in gradients.iter().zip(&corner.slots) {
                    row[usize::from(*slot)] += law.block(&state.tangent, f, g, own * volume, *b);
                }
            }
        }
    }
}
