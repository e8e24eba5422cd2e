//! The viewer: a window in which a scene runs and can be acted on.
//!
//! `desk.rs` is what the user has chosen, `panels.rs` the controls, `view.rs` the mouse
//! on the picture, `plots.rs` live plots, `capture.rs` pictures and animations, `trace.rs`
//! a record of what happened. The simulation runs in a thread of its own
//! (`simulation.rs`); this thread only shows its snapshots.

mod capture;
mod desk;
mod lungs;
mod panels;
mod plots;
mod sign;
mod trace;
mod view;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pliant::scene::{Built, Scene};
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop, EventLoopProxy};
use winit::window::{Window, WindowId};

use crate::error::ViewError;
use crate::gpu::Gpu;
use crate::gui::Gui;
use crate::look::Look;
use crate::renderer::{Renderer, Shown};
use crate::simulation::{Published, Simulation, StateFiles};
use crate::snapshot::Stage;
use capture::Capture;
use desk::{Desk, Wish};
use trace::Trace;
use view::Scenery;

/// How the viewer starts.
pub struct ViewerSettings {
    /// Width and height of the window in pixels.
    pub size: [u32; 2],
    /// What is drawn at first.
    pub look: Look,
    /// Do not run at once.
    pub paused: bool,
    /// Where pictures, animations and states go.
    pub folder: PathBuf,
    /// Write down what happens, one line per event.
    pub trace: Option<PathBuf>,
}

/// Shows a scene in a window until it is closed.
pub fn show(
    scene: Scene,
    built: Built,
    settings: ViewerSettings,
    files: Box<dyn StateFiles>,
) -> Result<(), ViewError> {
    let no_window = |e: String| ViewError::NoWindow(e);
    let events = EventLoop::<News>::with_user_event()
        .build()
        .map_err(|e| no_window(e.to_string()))?;
    let trace = match &settings.trace {
        Some(path) => Trace::to(path).map_err(|e| ViewError::Write {
            path: path.clone(),
            source: e,
        })?,
        None => Trace::default(),
    };
    let mut app = App {
        start: Some((scene, built, files)),
        news: events.create_proxy(),
        settings,
        trace,
        live: None,
        failed: None,
    };
    events
        .run_app(&mut app)
        .map_err(|e| no_window(e.to_string()))?;
    app.trace.say("end");
    match app.failed {
        Some(e) => Err(e),
        None => Ok(()),
    }
}

/// The simulation has something new to show.
struct News;

struct App {
    /// What is built before there is a window.
    start: Option<(Scene, Built, Box<dyn StateFiles>)>,
    news: EventLoopProxy<News>,
    settings: ViewerSettings,
    trace: Trace,
    live: Option<Live>,
    failed: Option<ViewError>,
}

impl App {
    fn open(&mut self, events: &ActiveEventLoop) -> Result<(), ViewError> {
        let Some((scene, built, files)) = self.start.take() else {
            return Ok(());
        };
        let [width, height] = self.settings.size;
        let attributes = Window::default_attributes()
            .with_title(format!("pliant: {}", scene.description.title))
            .with_inner_size(PhysicalSize::new(width, height));
        let window = events
            .create_window(attributes)
            .map_err(|e| ViewError::NoWindow(e.to_string()))?;
        let window = Arc::new(window);
        let screen = Screen::new(events, window.clone())?;
        let gui = Gui::new(&screen.gpu, screen.config.format);
        style(&gui.context);
        let input = egui_winit::State::new(
            gui.context.clone(),
            egui::ViewportId::ROOT,
            &window,
            Some(window.scale_factor() as f32),
            None,
            Some(screen.gpu.device.limits().max_texture_dimension_2d as usize),
        );
        let stage = Stage::new(&scene, &built, 0);
        let mut look = self.settings.look.clone();
        if screen.gpu.is_software() {
            look.samples = 1;
        }
        let camera = stage.camera(&scene, width as f32 / height as f32);
        let news = self.news.clone();
        let simulation = Simulation::start(scene, built, !self.settings.paused, files, move || {
            // The window may have gone already.
            let _ = news.send_event(News);
        });
        self.trace.say(format!("adapter {}", screen.gpu.name()));
        self.live = Some(Live {
            renderer: Renderer::new(&screen.gpu, screen.config.format),
            desk: Desk::new(look, camera, self.settings.folder.clone()),
            capture: Capture::default(),
            simulation,
            input,
            gui,
            screen,
            window,
            drawn: (0, false),
            quits: false,
        });
        Ok(())
    }

    fn close(&mut self, events: &ActiveEventLoop) {
        self.trace.say("closed");
        self.live = None;
        events.exit();
    }

    /// Ends the viewer with an error.
    fn fail(&mut self, events: &ActiveEventLoop, e: ViewError) {
        self.failed = Some(e);
        self.live = None;
        events.exit();
    }
}

impl ApplicationHandler<News> for App {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        if let Err(e) = self.open(events) {
            self.fail(events, e);
        }
    }

    fn user_event(&mut self, _: &ActiveEventLoop, _: News) {
        if let Some(live) = &self.live {
            live.window.request_redraw();
        }
    }

    fn window_event(&mut self, events: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(live) = &mut self.live else { return };
        match event {
            WindowEvent::CloseRequested | WindowEvent::Destroyed => {
                self.close(events);
                return;
            }
            WindowEvent::Resized(size) => live.screen.resize(size),
            WindowEvent::RedrawRequested => {
                let outcome = live.redraw(&mut self.trace);
                if live.quits {
                    self.close(events);
                    return;
                }
                match outcome {
                    Ok(Some(pause)) => events.set_control_flow(wait(pause)),
                    Ok(None) => events.set_control_flow(ControlFlow::Wait),
                    Err(e) => self.fail(events, e),
                }
                return;
            }
            _ => {}
        }
        if live.input.on_window_event(&live.window, &event).repaint {
            live.window.request_redraw();
        }
    }

    fn new_events(&mut self, _: &ActiveEventLoop, cause: winit::event::StartCause) {
        let due = matches!(cause, winit::event::StartCause::ResumeTimeReached { .. });
        if let (true, Some(live)) = (due, &self.live) {
            live.window.request_redraw();
        }
    }
}

/// Wakes up after a pause, if that is soon enough to matter.
fn wait(pause: Duration) -> ControlFlow {
    match Instant::now().checked_add(pause) {
        Some(then) if pause < Duration::from_secs(3600) => ControlFlow::WaitUntil(then),
        _ => ControlFlow::Wait,
    }
}

/// Quiet panels, readable text.
fn style(context: &egui::Context) {
    context.set_theme(egui::Theme::Dark);
    context.all_styles_mut(|style| {
        style.spacing.item_spacing = egui::vec2(8.0, 5.0);
        style.interaction.tooltip_delay = 0.3;
        style.interaction.selectable_labels = false;
        style.visuals.widgets.noninteractive.fg_stroke.color = egui::Color32::from_gray(205);
        for font in style.text_styles.values_mut() {
            font.size = font.size.max(12.5);
        }
    });
}

/// The window's surface and the device that draws on it.
struct Screen {
    gpu: Gpu,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    window: Arc<Window>,
    /// There is nothing to draw on: the window has no size.
    hidden: bool,
}

impl Screen {
    fn new(events: &ActiveEventLoop, window: Arc<Window>) -> Result<Screen, ViewError> {
        let display = Box::new(events.owned_display_handle());
        let descriptor = wgpu::InstanceDescriptor::new_with_display_handle_from_env(display);
        let instance = wgpu::Instance::new(descriptor);
        let surface = instance
            .create_surface(window.clone())
            .map_err(|e| ViewError::NoWindow(e.to_string()))?;
        let gpu = Gpu::open(instance, Some(&surface))?;
        let size = window.inner_size();
        let usable =
            surface.get_default_config(&gpu.adapter, size.width.max(1), size.height.max(1));
        let mut config =
            usable.ok_or_else(|| ViewError::NoWindow("the adapter cannot draw on it".into()))?;
        // egui and our last step write sRGB numbers themselves.
        let formats = surface.get_capabilities(&gpu.adapter).formats;
        if let Some(plain) = formats.into_iter().find(|f| {
            matches!(
                f,
                wgpu::TextureFormat::Bgra8Unorm | wgpu::TextureFormat::Rgba8Unorm
            )
        }) {
            config.format = plain;
        }
        surface.configure(&gpu.device, &config);
        gpu.check()?;
        Ok(Screen {
            gpu,
            surface,
            config,
            window,
            hidden: false,
        })
    }

    fn resize(&mut self, size: PhysicalSize<u32>) {
        self.hidden = size.width == 0 || size.height == 0;
        if !self.hidden {
            let most = self.gpu.device.limits().max_texture_dimension_2d;
            self.config.width = size.width.min(most);
            self.config.height = size.height.min(most);
            self.surface.configure(&self.gpu.device, &self.config);
        }
        self.window.request_redraw();
    }

    /// The next texture of the window; `None` if there is none just now.
    fn texture(&mut self) -> Result<Option<wgpu::SurfaceTexture>, ViewError> {
        use wgpu::CurrentSurfaceTexture as Current;
        if self.hidden {
            return Ok(None);
        }
        match self.surface.get_current_texture() {
            Current::Success(texture) | Current::Suboptimal(texture) => Ok(Some(texture)),
            Current::Timeout | Current::Occluded => Ok(None),
            Current::Outdated => {
                self.surface.configure(&self.gpu.device, &self.config);
                self.window.request_redraw();
                Ok(None)
            }
            Current::Lost => {
                self.gpu.check()?;
                let again = self.gpu.instance.create_surface(self.window.clone());
                self.surface = again.map_err(|e| ViewError::NoWindow(e.to_string()))?;
                self.surface.configure(&self.gpu.device, &self.config);
                self.window.request_redraw();
                Ok(None)
            }
            Current::Validation => self.gpu.check().map(|()| None),
        }
    }
}

/// An open viewer.
struct Live {
    // Dropped in this order: the simulation ends before its window does.
    simulation: Simulation,
    desk: Desk,
    capture: Capture,
    renderer: Renderer,
    input: egui_winit::State,
    gui: Gui,
    screen: Screen,
    window: Arc<Window>,
    /// The last state that the trace has told of.
    drawn: (u64, bool),
    /// The user wants to end.
    quits: bool,
}

/// A window with a shorter side, in pixels, has no room for panels: nothing is drawn.
const LEAST_SIDE: u32 = 64;

impl Live {
    /// Draws the window. Returns when egui wants to draw again.
    fn redraw(&mut self, trace: &mut Trace) -> Result<Option<Duration>, ViewError> {
        self.screen.gpu.check()?;
        let now = self.simulation.latest();
        self.desk.plots.add(self.simulation.samples());
        let size = [self.screen.config.width, self.screen.config.height];
        if size[0].min(size[1]) < LEAST_SIDE {
            return Ok(None);
        }
        let aspect = size[0] as f32 / size[1] as f32;
        let camera = || now.camera(aspect);
        if self.desk.follow(&now, camera) {
            let title = &now.setup.scene.description.title;
            self.window.set_title(&format!("pliant: {title}"));
            trace.say(format!("scene {}", now.setup.scene.name));
        }
        self.desk.scale(&now.snapshot, now.setup.speed_range);
        self.desk.recording = self.capture.is_recording();

        let input = self.input.take_egui_input(&self.window);
        let mut scenery = None;
        let (desk, simulation) = (&mut self.desk, &self.simulation);
        let mut output = self.gui.context.run_ui(input, |ui| {
            let area = panels::panels(ui, desk, &now, simulation, trace);
            let seen = view::interact(ui, area, desk, &now, simulation, trace);
            seen.caption.paint(ui.painter(), area);
            messages(ui, area, desk, &now);
            scenery = Some(seen);
        });
        let pause = output
            .viewport_output
            .get(&egui::ViewportId::ROOT)
            .map(|v| v.repaint_delay);
        self.gui.take_textures(&self.screen.gpu, &mut output);
        if let Some(scenery) = scenery {
            self.present(&now, &scenery, output, trace)?;
        }
        if pause == Some(Duration::ZERO) {
            self.window.request_redraw();
        }
        Ok(pause)
    }

    fn present(
        &mut self,
        now: &Published,
        scenery: &Scenery,
        output: egui::FullOutput,
        trace: &mut Trace,
    ) -> Result<(), ViewError> {
        let scale = output.pixels_per_point;
        let [left, top] = [scenery.area.left() * scale, scenery.area.top() * scale];
        let fits = |length: f32, most: u32| (length * scale).round().clamp(1.0, most as f32) as u32;
        let config = &self.screen.config;
        let size = [
            fits(scenery.area.width(), config.width),
            fits(scenery.area.height(), config.height),
        ];
        let place = [
            left.clamp(0.0, (config.width - size[0]) as f32),
            top.clamp(0.0, (config.height - size[1]) as f32),
            size[0] as f32,
            size[1] as f32,
        ];
        let whole = [config.width, config.height];
        let camera = self.desk.orbit.camera();
        let shown = Shown {
            snapshot: &now.snapshot,
            look: &self.desk.look,
            camera: &camera,
            size,
        };
        let name = &now.setup.scene.name;
        let mut words = Vec::new();
        for wish in std::mem::take(&mut self.desk.wishes) {
            let gpu = &self.screen.gpu;
            let folder = &self.desk.folder;
            let outcome = match wish {
                Wish::Quit => {
                    self.quits = true;
                    continue;
                }
                Wish::Screenshot => self
                    .capture
                    .picture(gpu, folder, name, &shown, &scenery.caption)
                    .map(|p| format!("saved {}", p.display())),
                Wish::Record if self.capture.is_recording() => {
                    self.capture.end().map(|ended| match ended {
                        Some((p, n)) => format!("saved {} of {n} pictures", p.display()),
                        None => String::new(),
                    })
                }
                Wish::Record => self
                    .capture
                    .begin(folder, name, &shown)
                    .map(|p| format!("recording {}", p.display())),
            };
            words.push(outcome.unwrap_or_else(|e| e.to_string()));
        }
        self.capture
            .follow(&self.screen.gpu, &shown, &scenery.caption)?;
        let Some(texture) = self.screen.texture()? else {
            return Ok(());
        };
        let gpu = &self.screen.gpu;
        self.renderer.draw(gpu, &shown, &scenery.marks)?;
        let target = texture
            .texture
            .create_view(&wgpu::TextureViewDescriptor::default());
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let around = wgpu::Color::BLACK;
        self.renderer.show(&mut encoder, &target, place, around);
        let wanted = self.gui.paint(gpu, &mut encoder, &target, whole, output);
        self.input.handle_platform_output(&self.window, wanted);
        gpu.queue.submit([encoder.finish()]);
        self.window.pre_present_notify();
        gpu.queue.present(texture);
        for word in words {
            trace.say(&word);
            self.desk.say(word, self.gui.context.time());
        }
        trace.say("frame");
        let state = (now.snapshot.number, now.playing);
        if trace.is_on() && self.drawn != state {
            self.drawn = state;
            trace.say(format!(
                "drawn {} {:.4} {}",
                now.snapshot.number, now.snapshot.time, now.playing
            ));
        }
        Ok(())
    }
}

/// What the simulation or the viewer has to say, over the picture.
fn messages(ui: &egui::Ui, area: egui::Rect, desk: &mut Desk, now: &Published) {
    let time = ui.ctx().time();
    if desk.toast.as_ref().is_some_and(|(_, until)| *until < time) {
        desk.toast = None;
    }
    if desk.toast.is_some() {
        ui.ctx().request_repaint_after(Duration::from_millis(500));
    }
    let words = desk.toast.as_ref().map(|(w, _)| w.as_str());
    let Some(text) = now.message.as_deref().or(words) else {
        return;
    };
    let font = egui::FontId::proportional(14.0);
    let wide = (area.width() - 80.0).max(80.0);
    let ink = egui::Color32::WHITE;
    let galley = ui.painter().layout(text.into(), font, ink, wide);
    let corner = area.center_top() + egui::vec2(-0.5 * galley.size().x, 44.0);
    let plate = egui::Rect::from_min_size(corner, galley.size()).expand2(egui::vec2(14.0, 9.0));
    let paper = egui::Color32::from_black_alpha(200);
    ui.painter().rect_filled(plate, 6.0, paper);
    ui.painter().galley(corner, galley, ink);
}
