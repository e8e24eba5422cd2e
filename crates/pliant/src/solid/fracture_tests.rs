//! Breaking and cutting: when, where, and what must not change.

use glam::Vec3;

use crate::mesh::{TetBlock, TetMesh};
use crate::observe::Totals;
use crate::solid::{Blade, Elastic, Environment, Fracture, Solid, SolidModel, SolidSettings};
use crate::world::Matter;

/// A bar along x, 0.4 m long and 0.1 m thick.
fn bar(fracture: Option<Fracture>) -> Solid {
    let mesh = TetBlock {
        min: Vec3::ZERO,
        max: Vec3::new(0.4, 0.1, 0.1),
        cells: [12, 3, 3],
    };
    let model = SolidModel::Elastic(Elastic {
        young: 1e5,
        poisson: 0.3,
        ..Elastic::default()
    });
    let settings = SolidSettings {
        fracture,
        ..SolidSettings::new("bar", model)
    };
    Solid::new(settings, mesh.build().unwrap()).unwrap()
}

fn totals(solid: &Solid) -> Totals {
    solid.totals(Vec3::ZERO)
}

/// Number of pieces that hang together.
fn pieces(mesh: &TetMesh) -> usize {
    let mut label: Vec<usize> = (0..mesh.points.len()).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for tet in &mesh.tets {
            let least = tet.iter().map(|&v| label[v as usize]).min().unwrap_or(0);
            for &v in tet {
                changed |= label[v as usize] != least;
                label[v as usize] = least;
            }
        }
    }
    label.sort_unstable();
    label.dedup();
    label.len()
}

/// Pulls both ends of a bar apart; returns it after half a second.
fn pulled(fracture: Fracture) -> Solid {
    let mut solid = bar(Some(fracture));
    let around = Environment::new(Vec3::ZERO, &[], []);
    solid.drive_where(|p| p.x < 0.001, -0.02 * Vec3::X);
    solid.drive_where(|p| p.x > 0.399, 0.02 * Vec3::X);
    for _ in 0..100 {
        let before = totals(&solid);
        solid.advance(0.005, &around);
        let moved = totals(&solid);
        solid.fracture();
        let after = totals(&solid);
        assert!((before.mass - after.mass).abs() < 1e-5 * before.mass);
        let change = (after.momentum - moved.momentum).length();
        assert!(change < 1e-5 * after.mass, "{change}");
        assert!((after.kinetic - moved.kinetic).abs() < 1e-5 * moved.kinetic.max(1e-6));
        assert!(solid.shape().surface_mesh().check().problems().len() < 3);
    }
    solid
}

/// The bar is stretched by 5 %: a stress of 5 kPa and a little more at its ends.
#[test]
fn a_bar_breaks_above_its_strength_and_not_below() {
    let whole = pulled(Fracture::new(12e3));
    assert_eq!((pieces(whole.rest()), whole.surface_version()), (1, 0));
    let broken = pulled(Fracture::new(3e3));
    assert!(pieces(broken.rest()) >= 2, "{}", broken.surface_version());
    assert!((broken.volume() / bar(None).volume() - 1.0).abs() < 0.02);
    // The pieces are free of the pull.
    let stress = broken.von_mises().unwrap();
    let mean = stress.iter().sum::<f32>() / stress.len() as f32;
    assert!(mean < 2e3, "{mean}");
}

#[test]
fn toughness_and_grain_hold_a_bar_together() {
    let tough = pulled(Fracture {
        toughness: 1e3,
        ..Fracture::new(3e3)
    });
    assert_eq!(pieces(tough.rest()), 1);
    let along = pulled(Fracture {
        grain: Vec3::X,
        grain_strength: 4.0,
        ..Fracture::new(3e3)
    });
    assert_eq!(along.surface_version(), 0);
    let across = pulled(Fracture {
        grain: Vec3::Y,
        grain_strength: 4.0,
        ..Fracture::new(3e3)
    });
    // It cracks; the crack need not run right through in this time.
    assert!(across.surface_version() > 0);
}

/// A blade drawn through in ten strokes parts the bar in two; half way it has not.
#[test]
fn a_blade_cuts_in_two() {
    let mut solid = bar(None);
    solid.put(|p| p, |p| Vec3::new(0.1, p.x, 0.0));
    let start = totals(&solid);
    let at = |k: i32| {
        let y = 0.11 - 0.012 * k as f32;
        [Vec3::new(0.201, y, -0.05), Vec3::new(0.201, y, 0.15)]
    };
    let mut copied = 0;
    for k in 0..10 {
        copied += solid.cut(&Blade {
            from: at(k),
            to: at(k + 1),
        });
        let parted = pieces(solid.rest());
        assert!(if k < 6 { parted == 1 } else { parted <= 2 });
    }
    assert_eq!(pieces(solid.rest()), 2);
    assert!(copied >= 16, "{copied}");
    let end = totals(&solid);
    assert!((start.mass - end.mass).abs() < 1e-5 * start.mass);
    assert!((start.momentum - end.momentum).length() < 1e-5 * start.momentum.length());
    assert!((start.kinetic - end.kinetic).abs() < 1e-4 * start.kinetic);
    // The cut is part of the surface.
    let mesh = solid.shape().surface_mesh();
    assert!(mesh.check().is_closed());
    let whole = bar(None).surface().len();
    assert!(solid.surface().len() >= whole + 36);
    // A stroke in the air does nothing.
    assert_eq!(
        solid.cut(&Blade {
            from: [Vec3::splat(1.0), Vec3::splat(1.1)],
            to: [Vec3::splat(1.2), Vec3::splat(1.5)],
        }),
        0
    );
}
