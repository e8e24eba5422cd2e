//! How the mass of a body is shared among its points.

use super::settings::{Mass, MassSharing, SolidSettings};
use crate::mesh::TetMesh;

/// What sharing and truncation did (Lesmes 2013, table 5.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassReport {
    /// Mass asked for, in kg.
    pub mass: f64,
    /// Mass of all points after truncation, in kg.
    pub effective_mass: f64,
    /// Largest inverse mass before truncation, in 1/kg.
    pub largest_inverse_mass: f64,
    /// Points whose inverse mass was above the limit.
    pub truncated: usize,
    /// The same as a share of all points, in percent.
    pub truncated_percent: f64,
}

/// Inverse masses of all points in 1/kg.
pub(super) fn inverse_masses(mesh: &TetMesh, settings: &SolidSettings) -> (Vec<f32>, MassReport) {
    let mut share = vec![0.0f64; mesh.points.len()];
    let mut around = vec![0u32; mesh.points.len()];
    for (t, tet) in mesh.tets.iter().enumerate() {
        let volume = mesh.volume_of(t);
        for &v in tet {
            share[v as usize] += volume;
            around[v as usize] += 1;
        }
    }
    if settings.mass_sharing == MassSharing::MeanVolume {
        for (share, &n) in share.iter_mut().zip(&around) {
            *share /= f64::from(n.max(1));
        }
    }
    let all: f64 = share.iter().sum();
    let mass = match settings.mass {
        Mass::Total(mass) => f64::from(mass),
        Mass::Density(density) => f64::from(density) * mesh.volume(),
    };
    let exact: Vec<f64> = share.iter().map(|s| all / (mass * s)).collect();
    let limit = settings.max_inverse_mass.map_or(f64::INFINITY, f64::from);
    let inverse: Vec<f32> = exact.iter().map(|&w| w.min(limit) as f32).collect();
    let truncated = exact.iter().filter(|&&w| w > limit).count();
    let report = MassReport {
        mass,
        effective_mass: inverse.iter().map(|&w| 1.0 / f64::from(w)).sum(),
        largest_inverse_mass: exact.iter().copied().fold(0.0, f64::max),
        truncated,
        truncated_percent: 100.0 * truncated as f64 / exact.len().max(1) as f64,
    };
    (inverse, report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{CreaturePreset, TetBlock};
    use crate::solid::{SolidModel, Springs};

    fn settings() -> SolidSettings {
        let mut settings = SolidSettings::new("body", SolidModel::Springs(Springs::default()));
        settings.mass = Mass::Total(50.0);
        settings
    }

    #[test]
    fn the_total_is_kept_by_both_ways_of_sharing() {
        let mesh = TetBlock::default().build().unwrap();
        for sharing in [MassSharing::Lumped, MassSharing::MeanVolume] {
            let mut s = settings();
            s.mass_sharing = sharing;
            let (inverse, report) = inverse_masses(&mesh, &s);
            assert!((report.effective_mass - 50.0).abs() < 1e-4);
            assert_eq!(report.truncated, 0);
            // All elements of a block are equal, so the mean shares equally.
            let (low, high) = inverse
                .iter()
                .fold((f32::MAX, 0.0f32), |(l, h), &w| (l.min(w), h.max(w)));
            let equal = sharing == MassSharing::MeanVolume;
            assert_eq!(high / low < 1.01, equal, "{low} {high}");
        }
    }

    #[test]
    fn truncation_reports_what_it_did() {
        let mesh = CreaturePreset::Bunny.creature(1.0).build().unwrap();
        let mut s = settings();
        s.mass_sharing = MassSharing::MeanVolume;
        let free = inverse_masses(&mesh, &s).1;
        s.max_inverse_mass = Some(0.5 * free.largest_inverse_mass as f32);
        let (inverse, cut) = inverse_masses(&mesh, &s);
        assert_eq!(cut.largest_inverse_mass, free.largest_inverse_mass);
        assert!(cut.truncated > 0 && cut.effective_mass > free.effective_mass);
        let limit = 0.5 * free.largest_inverse_mass as f32;
        let at_limit = inverse.iter().filter(|&&w| w == limit).count();
        assert_eq!(at_limit, cut.truncated);
    }
}
