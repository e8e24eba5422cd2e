//! The graphics adapter and its device.

use std::sync::{Arc, Mutex, PoisonError};

use crate::error::ViewError;

/// An open graphics device. Problems that it reports later are kept, not panicked on:
/// see [`Gpu::problem`].
pub struct Gpu {
    /// What makes surfaces.
    pub instance: wgpu::Instance,
    /// The adapter.
    pub adapter: wgpu::Adapter,
    /// The device.
    pub device: wgpu::Device,
    /// Where commands go.
    pub queue: wgpu::Queue,
    problem: Arc<Mutex<Option<String>>>,
}

impl Gpu {
    /// A device without a window.
    pub fn headless() -> Result<Gpu, ViewError> {
        let descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
        Gpu::open(wgpu::Instance::new(descriptor), None)
    }

    /// The best device of `instance` that can draw on `surface`.
    pub fn open(
        instance: wgpu::Instance,
        surface: Option<&wgpu::Surface<'_>>,
    ) -> Result<Gpu, ViewError> {
        let wanted = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            compatible_surface: surface,
            ..wgpu::RequestAdapterOptions::default()
        };
        let adapter = pollster::block_on(instance.request_adapter(&wanted))
            .map_err(|e| ViewError::NoAdapter(e.to_string()))?;
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("pliant"),
            required_limits: wgpu::Limits::downlevel_defaults().using_resolution(adapter.limits()),
            ..wgpu::DeviceDescriptor::default()
        };
        let (device, queue) =
            pollster::block_on(adapter.request_device(&descriptor)).map_err(|e| {
                ViewError::NoDevice {
                    adapter: adapter.get_info().name,
                    problem: e.to_string(),
                }
            })?;
        let problem = Arc::new(Mutex::new(None));
        let kept = problem.clone();
        device.on_uncaptured_error(Arc::new(move |e: wgpu::Error| note(&kept, e.to_string())));
        let kept = problem.clone();
        device.set_device_lost_callback(move |reason, message| {
            if reason != wgpu::DeviceLostReason::Destroyed {
                note(&kept, message);
            }
        });
        Ok(Gpu {
            instance,
            adapter,
            device,
            queue,
            problem,
        })
    }

    /// Name of the adapter and how it is driven.
    pub fn name(&self) -> String {
        let info = self.adapter.get_info();
        format!("{} ({})", info.name, info.backend)
    }

    /// True if the processor does the drawing.
    pub fn is_software(&self) -> bool {
        self.adapter.get_info().device_type == wgpu::DeviceType::Cpu
    }

    /// The first thing that has gone wrong since the device was opened.
    pub fn problem(&self) -> Option<String> {
        let held = self.problem.lock();
        held.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Fails if anything has gone wrong.
    pub fn check(&self) -> Result<(), ViewError> {
        self.problem().map_or(Ok(()), |p| Err(ViewError::Lost(p)))
    }
}

/// The first problem tells most: later ones follow from it.
fn note(kept: &Mutex<Option<String>>, problem: String) {
    kept.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .get_or_insert(problem);
}
