//! Images on request: finds, renders once, and reads them (see docs/reference/media.md#image-urls).
//!
//! Three steps with increasing cost. [`Media::find`] reads only the database and returns all values
//! that a conditional request needs. [`Media::rendered`] reads the cache of rendered images.
//! [`Media::image_body`] renders.

use std::{
    borrow::Cow,
    fmt::Write as _,
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, Read},
    ops::Range,
    sync::atomic::Ordering,
};

use bytes::Bytes;
use cms_media::{animation, chunks::ChunkReader, pipeline, renders::RenderedImage};
use cms_model::{
    TRACE_TARGET,
    clock::Timestamp,
    error::{Error, Result},
    media::{
        focal_point::FocalPoint,
        id::FileId,
        output::Output,
        path::{ImagePath, RequestedImage},
        render::{RenderFormat, RenderSpec, SourceLimits},
        transform::{self, Rectangle, ResizePlan, Size, Transform, Trim},
    },
    object::model::{Edition, StoredObject},
    wire::media::ImageRequest,
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use tracing::info_span;

use super::service::Media;

/// Bytes per read of a stored file that [`Media::open`] returns.
const CHUNK_BYTES: u64 = 1024 * 1024;
/// Version of the rendering: increment it to render all images again.
const RENDERING_VERSION: u32 = 1;

/// The image or file of a request, found but not read.
#[derive(Debug)]
pub struct Image {
    file: FileId,
    /// The media type of the stored file.
    media_type: String,
    /// The rendering with its name in the cache; none: the stored file itself.
    rendering: Option<(String, Rendering)>,
    /// The strong `ETag`, without quotes: bytes with the same tag are identical.
    pub etag: String,
    pub modified: Timestamp,
    /// Another `Accept` header may get another response.
    pub varies: bool,
}

/// The rendering of a stored image.
#[derive(Clone, Debug, PartialEq)]
struct Rendering {
    /// The format of the stored image.
    source_format: RenderFormat,
    trim: Option<Trim>,
    requested: Size,
    /// Only for sizes that crop.
    focal_point: Option<FocalPoint>,
    format: RenderFormat,
    /// The requested quality of a lossy format.
    quality: Option<u8>,
}

/// The body of the response.
#[derive(Debug)]
pub enum ImageBody {
    /// The stored file, of this size, which [`Media::read`] reads.
    Original {
        size: u64,
    },
    Rendered(RenderedImage),
}

/// The properties of a media object that images need.
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
    focal_point: Option<&'a RawValue>,
    #[serde(borrow)]
    width: Option<&'a RawValue>,
    #[serde(borrow)]
    height: Option<&'a RawValue>,
}

impl Image {
    /// Returns whether nothing has to be rendered: the response is the stored file.
    pub fn is_stored(&self) -> bool {
        self.rendering.is_none()
    }

    /// Returns whether rendering is slow: an image in full size, or AVIF.
    pub fn is_slow(&self) -> bool {
        self.rendering.as_ref().is_some_and(|(_, rendering)| {
            rendering.requested == Size::default() || rendering.format == RenderFormat::Avif
        })
    }

    /// The media type of the response.
    pub fn media_type(&self, body: &ImageBody) -> &str {
        match (body, &self.rendering) {
            (ImageBody::Rendered(_), Some((_, rendering))) => rendering.format.media_type(),
            _ => &self.media_type,
        }
    }
}

impl Media<'_> {
    /// Finds the image of a URL.
    ///
    /// # Errors
    /// [`Error::NotFound`] for an unknown image or variant, [`Error::Invalid`] for invalid numbers.
    pub fn find(&self, request: &ImageRequest<'_>) -> Result<Image> {
        let unknown = || Error::not_found("image", request.path.join("/"));
        let path = ImagePath::parse(request.path).ok_or_else(unknown)?;
        let file = FileId::parse(path.id).ok_or_else(unknown)?;
        let found = self.lookup(|reader, media| {
            reader.object(Edition::Current, media, path.id, |stored| {
                let object: MediaObject<'_> = serde_json::from_str(&stored.data).ok()?;
                path.has_extension(&object.extension).then(|| {
                    let (rendering, varies) = rendering(&path, request, &object)?;
                    let source_tag = source_tag(&stored, &object.mime_type);
                    let rendering = rendering
                        .map(|rendering| (format!("{source_tag}-{}", rendering.name()), rendering));
                    let tag = rendering.as_ref().map_or(&source_tag, |(name, _)| name);
                    Ok(Image {
                        etag: format!("{file}-{tag}"),
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

    /// Returns a rendered image from the cache.
    pub fn rendered(&self, image: &Image) -> Option<ImageBody> {
        let (name, _) = image.rendering.as_ref()?;
        if let Some(bytes) = self.cms.recent_renders.get(&image.etag) {
            self.cms.renders.counts.memory.fetch_add(1, Ordering::Relaxed);
            return Some(ImageBody::Rendered(RenderedImage::InMemory(bytes)));
        }
        let now = self.cms.now().system_time();
        let rendered = self.cms.renders.get(&image.file, name, now)?;
        if rendered.size() == 0 {
            return None;
        }
        self.cms.renders.counts.disk.fetch_add(1, Ordering::Relaxed);
        if let RenderedImage::InMemory(bytes) = &rendered {
            self.cms.recent_renders.insert(image.etag.clone(), bytes.clone());
        }
        Some(ImageBody::Rendered(rendered))
    }

    /// Renders an image, or returns the stored file.
    ///
    /// # Errors
    /// [`Error::NotFound`] when the object has no file, [`Error::Invalid`] when the image is
    /// damaged or too large, [`Error::Internal`] when the size of the file differs from the upload.
    pub fn image_body(&self, image: &Image) -> Result<ImageBody> {
        let size = self.intact_size(&image.file)?;
        if let Some((name, rendering)) = &image.rendering {
            let render = || {
                let source = self.read(image, 0..size)?;
                info_span!(target: TRACE_TARGET, "render").in_scope(|| rendering.render(&source))
            };
            let now = self.cms.now().system_time();
            let rendered = self.cms.renders.get_or_render(&image.file, name, now, render)?;
            if rendered.size() > 0 {
                return Ok(ImageBody::Rendered(rendered));
            }
        }
        Ok(ImageBody::Original { size })
    }

    /// Reads a range of the stored file.
    pub fn read(&self, image: &Image, range: Range<u64>) -> Result<Bytes> {
        let read = self.cms.files.read(&image.file, range)?;
        read.ok_or_else(|| Error::not_found("file", image.file.to_string()))
    }

    /// Opens the stored file of this size for reading.
    pub fn open(self, image: Image, size: u64) -> impl Read {
        ChunkReader::new(size, CHUNK_BYTES, move |range| {
            self.read(&image, range).map_err(io::Error::other)
        })
    }
}

/// Returns the rendering of an image, if any, and whether it depends on `Accept`.
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

    let source_format =
        RenderFormat::from_media_type(&object.mime_type).filter(|_| object.kind == "image");
    let Some(source_format) = source_format else { return Ok((None, false)) };
    let trim = match transform {
        None => None,
        Some(Transform::Trim(trim)) => Some(trim),
        Some(Transform::Variant(name)) => {
            let variants = object.variants.map_or("null", RawValue::get);
            let variants: Value = serde_json::from_str(variants).unwrap_or_default();
            Some(transform::variant(&variants, &name)?)
        }
    };
    let is_crop = size.width > 0 && size.height > 0;
    let focal_point = object.focal_point.filter(|_| is_crop);
    let focal_point = focal_point.and_then(|stored| FocalPoint::parse(stored.get()));
    let max_size = max_size(object, trim.as_ref(), size);
    let format = output.format(request.accept, source_format, max_size);
    // A quality without effect must not give the same image several names.
    let quality = output.quality.filter(|_| format.is_lossy());
    let is_stored =
        trim.is_none() && size == Size::default() && format == source_format && quality.is_none();
    let rendering =
        Rendering { source_format, trim, requested: size, focal_point, format, quality };
    Ok(((!is_stored).then_some(rendering), output.varies()))
}

/// Identifies the file of an id, and how it is decoded. The id of a removed object may be used again with
/// another file, even with the same creation date, and users may edit the media type.
fn source_tag(stored: &StoredObject<'_>, media_type: &str) -> String {
    // Another version of the standard library may hash differently: then images are rendered again.
    let mut hasher = DefaultHasher::new();
    media_type.hash(&mut hasher);
    format!("{:x}-{:x}-{:x}", stored.internal.created_at, stored.pk, hasher.finish())
}

/// The size of a rendering, at most; it is exact if the size of the image is known.
fn max_size(object: &MediaObject<'_>, trim: Option<&Trim>, requested: Size) -> Size {
    // Users edit objects, so a dimension may have any value; 0 stands for an unknown one.
    let side = |stored: Option<&RawValue>| stored?.get().parse().ok().filter(|&side| side > 0);
    match (side(object.width), side(object.height)) {
        (Some(width), Some(height)) => {
            let image = Size { width, height };
            // Rendering refuses a trim that the image does not allow.
            let plan = transform::resize_plan(image, trim, requested, None).ok().flatten();
            plan.map_or(image, |plan| plan.output)
        }
        _ if requested.width > 0 && requested.height > 0 => requested,
        _ => Size { width: u32::MAX, height: u32::MAX },
    }
}

impl Rendering {
    /// Its unique name among all renderings of an image.
    fn name(&self) -> String {
        let Self { trim, requested, focal_point, format, quality, .. } = self;
        let mut name = format!("{}x{}", requested.width, requested.height);
        if let Some(trim) = trim {
            let edges =
                [Some(trim.top), trim.right, Some(trim.bottom), trim.left, trim.width, trim.height];
            name.push_str("-t");
            for edge in edges {
                let edge = edge.map_or_else(|| "_".to_owned(), |edge| edge.to_string());
                write!(name, ".{edge}").expect("writing to a String cannot fail");
            }
        }
        if let Some(FocalPoint { x, y }) = focal_point {
            // As bits, because every digit counts and the name has a limited length.
            write!(name, "-f{:x}.{:x}", x.to_bits(), y.to_bits())
                .expect("writing to a String cannot fail");
        }
        // The default quality has another name if it is requested explicitly: the stored image is then encoded again,
        // so the result may differ.
        let quality = match quality {
            Some(quality) => format!("-r{quality}"),
            None if format.is_lossy() => format!("-q{}", format.default_quality()),
            None => String::new(),
        };
        name.push_str(&quality);
        write!(name, "-{RENDERING_VERSION}.{}", format.extension())
            .expect("writing to a String cannot fail");
        name
    }

    /// Returns an empty `Vec` if the response is the unchanged stored file, for example for an animated image.
    fn render(&self, source: &[u8]) -> Result<Vec<u8>> {
        if animation::is_animated(self.source_format.media_type(), source) {
            return Ok(Vec::new());
        }
        let spec = |size: Size| {
            let plan =
                transform::resize_plan(size, self.trim.as_ref(), self.requested, self.focal_point)?;
            let full = Rectangle { x: 0, y: 0, width: size.width, height: size.height };
            let is_converted = self.format != self.source_format || self.quality.is_some();
            let plan =
                plan.or_else(|| is_converted.then_some(ResizePlan { crop: full, output: size }));
            let quality = self.quality.unwrap_or(self.format.default_quality());
            Ok(plan.map(|plan| RenderSpec { plan, format: self.format, quality }))
        };
        let rendered =
            pipeline::render(source, self.source_format, spec, &SourceLimits::default())?;
        Ok(rendered.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests;
