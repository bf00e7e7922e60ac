//! Pictures on request (contract 7.3 to 7.5): found, rendered once, read.
//!
//! Three steps, from cheap to dear. [`Media::find`] asks the database alone and gives all that a
//! conditional request needs. [`Media::rendered`] looks for a picture that was made before.
//! [`Media::picture`] makes it.

use std::{borrow::Cow, fmt::Write as _, ops::Range, sync::atomic::Ordering};

use bytes::Bytes;
use cms_media::{animation, pipeline, renders::Made};
use cms_model::{
    TRACE_TARGET,
    clock::Timestamp,
    error::{Error, Result},
    media::{
        id::FileId,
        output::Output,
        path::{ImagePath, RequestedImage},
        render::{Format, Job, Limits},
        transform::{self, Rectangle, ResizePlan, Size, Transform, Trim},
    },
    object::model::Edition,
    wire::media::ImageRequest,
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use tracing::info_span;

use super::service::Media;

/// Number of what renderings look like: another one, and all of them are made anew.
const LOOK: u32 = 1;

/// A picture or file that a request asks for, found but not read.
#[derive(Debug)]
pub struct Image {
    file: FileId,
    /// The media type of the stored file.
    media_type: String,
    /// With its name; none: the stored file itself.
    rendering: Option<(String, Rendering)>,
    /// Strong, without quotes: bytes of one tag never differ.
    pub etag: String,
    pub modified: Timestamp,
    /// Another `Accept` may get another answer.
    pub varies: bool,
}

/// What is made of a stored picture.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rendering {
    source: Format,
    trim: Option<Trim>,
    asked: Size,
    format: Format,
    quality: u8,
}

/// What is sent.
#[derive(Debug)]
pub enum Picture {
    /// The stored file, of this size, which [`Media::read`] reads.
    Original {
        size: u64,
    },
    Rendered(Made),
}

/// What pictures need of a media object.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MediaObject<'a> {
    #[serde(borrow)]
    extension: Cow<'a, str>,
    #[serde(borrow)]
    mime_type: Cow<'a, str>,
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    variants: Option<&'a RawValue>,
    #[serde(borrow)]
    width: Option<&'a RawValue>,
    #[serde(borrow)]
    height: Option<&'a RawValue>,
}

impl Image {
    /// Tells whether nothing has to be made: the stored file is what is asked for.
    pub fn is_stored(&self) -> bool {
        self.rendering.is_none()
    }

    /// Tells whether making it takes long: a whole picture, or a format that costs much.
    pub fn is_slow(&self) -> bool {
        self.rendering.as_ref().is_some_and(|(_, rendering)| {
            rendering.asked == Size::default() || rendering.format == Format::Avif
        })
    }

    /// The media type of what is sent.
    pub fn media_type(&self, picture: &Picture) -> &str {
        match (picture, &self.rendering) {
            (Picture::Rendered(_), Some((_, rendering))) => rendering.format.media_type(),
            _ => &self.media_type,
        }
    }
}

impl Media<'_> {
    /// Finds what an address names.
    ///
    /// # Errors
    /// [`Error::NotFound`] for an unknown picture or variant, [`Error::Invalid`] for bad numbers.
    pub fn find(&self, request: &ImageRequest<'_>) -> Result<Image> {
        let unknown = || Error::NotFound { what: "image", name: request.path.join("/") };
        let path = ImagePath::parse(request.path).ok_or_else(unknown)?;
        let file = FileId::parse(path.id).ok_or_else(unknown)?;
        let found = self.look(|reader, media| {
            reader.object(Edition::Current, media, path.id, |stored| {
                let object: MediaObject<'_> = serde_json::from_str(&stored.data).ok()?;
                path.has_extension(&object.extension).then(|| {
                    let (rendering, varies) = rendering(&path, request, &object)?;
                    // An id whose object was deleted may come back with another file.
                    let mut etag = format!("{file}-{:x}", stored.internal.created_at);
                    let rendering = rendering.map(|rendering| (rendering.name(), rendering));
                    if let Some((name, _)) = &rendering {
                        write!(etag, "-{name}").expect("a String takes all");
                    }
                    Ok(Image {
                        etag,
                        file,
                        media_type: object.mime_type.into_owned(),
                        rendering,
                        modified: Timestamp(stored.internal.updated_at * 1_000_000),
                        varies,
                    })
                })
            })
        })?;
        found.flatten().ok_or_else(unknown)?
    }

    /// Returns a picture that was made before.
    pub fn rendered(&self, image: &Image) -> Option<Picture> {
        let (name, _) = image.rendering.as_ref()?;
        if let Some(picture) = self.cms.recent_renders.get(&image.etag) {
            self.cms.renders.uses.recent.fetch_add(1, Ordering::Relaxed);
            return Some(Picture::Rendered(Made::Whole(picture)));
        }
        let now = self.cms.config.clock.now().system_time();
        let made = self.cms.renders.get(&image.file, name, now)?;
        if made.size() == 0 {
            return None;
        }
        self.cms.renders.uses.cached.fetch_add(1, Ordering::Relaxed);
        if let Made::Whole(picture) = &made {
            self.cms.recent_renders.keep(&image.etag, picture);
        }
        Some(Picture::Rendered(made))
    }

    /// Makes a picture, or finds the stored file.
    ///
    /// # Errors
    /// [`Error::NotFound`] when the object has no file, [`Error::Invalid`] when it is broken, or larger
    /// than pictures may be, [`Error::Internal`] when it has another size than the uploaded file.
    pub fn picture(&self, image: &Image) -> Result<Picture> {
        let size = self.intact_size(&image.file)?;
        if let Some((name, rendering)) = &image.rendering {
            let make = || {
                let source = self.read(image, 0..size)?;
                info_span!(target: TRACE_TARGET, "render").in_scope(|| rendering.render(&source))
            };
            let now = self.cms.config.clock.now().system_time();
            let made = self.cms.renders.get_or_make(&image.file, name, now, make)?;
            if made.size() > 0 {
                return Ok(Picture::Rendered(made));
            }
        }
        Ok(Picture::Original { size })
    }

    /// Reads a part of the stored file.
    pub fn read(&self, image: &Image, range: Range<u64>) -> Result<Bytes> {
        let read = self.cms.files.read(&image.file, range)?;
        read.ok_or_else(|| no_file(&image.file))
    }
}

fn no_file(file: &FileId) -> Error {
    Error::NotFound { what: "file", name: file.to_string() }
}

/// Says what has to be made of a picture, if anything, and whether that depends on `Accept`.
fn rendering(
    path: &ImagePath<'_>,
    request: &ImageRequest<'_>,
    object: &MediaObject<'_>,
) -> Result<(Option<Rendering>, bool)> {
    let wanted = path.requested_image(request.transform);
    let output = Output::parse(request.format, request.quality);
    let (RequestedImage { size, transform }, output) = match (wanted, output) {
        (Ok(wanted), Ok(output)) => (wanted, output),
        (wanted, output) => {
            let mut errors = wanted.err().unwrap_or_default();
            errors.merge(output.err().unwrap_or_default());
            return Err(Error::Invalid(errors));
        }
    };

    let source = Format::from_media_type(&object.mime_type).filter(|_| object.kind == "image");
    let Some(source) = source else { return Ok((None, false)) };
    let trim = match transform {
        None => None,
        Some(Transform::Trim(trim)) => Some(trim),
        Some(Transform::Variant(name)) => {
            let variants = object.variants.map_or("null", RawValue::get);
            let variants: Value = serde_json::from_str(variants).unwrap_or_default();
            Some(transform::variant(&variants, &name)?)
        }
    };
    let most = match size {
        Size { width: 1.., height: 1.. } => size,
        _ => Size { width: side(object.width), height: side(object.height) },
    };
    let format = output.format(request.accept, source, most);
    // A quality that changes nothing must not tell apart what is the same.
    let quality = output.quality.filter(|_| format.is_lossy());
    let is_stored =
        trim.is_none() && size == Size::default() && format == source && quality.is_none();
    let quality = quality.unwrap_or(format.default_quality());
    let rendering = Rendering { source, trim, asked: size, format, quality };
    Ok(((!is_stored).then_some(rendering), output.varies()))
}

/// A side as the object has it. Objects are edited by people, so anything may stand there.
fn side(stored: Option<&RawValue>) -> u32 {
    stored.and_then(|stored| stored.get().parse().ok()).unwrap_or(u32::MAX)
}

impl Rendering {
    /// Names it among all that can be made of one picture.
    fn name(&self) -> String {
        let Self { trim, asked, format, quality, .. } = self;
        let mut name = format!("{}x{}", asked.width, asked.height);
        if let Some(trim) = trim {
            let edges =
                [Some(trim.top), trim.right, Some(trim.bottom), trim.left, trim.width, trim.height];
            name.push_str("-t");
            for edge in edges {
                let edge = edge.map_or_else(|| "_".to_owned(), |edge| edge.to_string());
                write!(name, ".{edge}").expect("a String takes all");
            }
        }
        if format.is_lossy() {
            write!(name, "-q{quality}").expect("a String takes all");
        }
        write!(name, "-{LOOK}.{}", format.extension()).expect("a String takes all");
        name
    }

    /// Returns nothing for a picture that is better sent as it is stored.
    fn render(&self, source: &[u8]) -> Result<Vec<u8>> {
        if animation::is_animated(self.source.media_type(), source) {
            return Ok(Vec::new());
        }
        let job = |size: Size| {
            let plan = transform::resize_plan(size, self.trim.as_ref(), self.asked)?;
            let whole = Rectangle { x: 0, y: 0, width: size.width, height: size.height };
            let is_converted =
                self.format != self.source || self.quality != self.format.default_quality();
            let plan =
                plan.or_else(|| is_converted.then_some(ResizePlan { crop: whole, output: size }));
            Ok(plan.map(|plan| Job { plan, format: self.format, quality: self.quality }))
        };
        let rendered = pipeline::render(source, self.source, job, &Limits::default())?;
        Ok(rendered.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests;
