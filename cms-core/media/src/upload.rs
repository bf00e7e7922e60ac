//! Uploads (see docs/reference/media.md#upload): the metadata of a file, or all its validation
//! errors.

use cms_model::{error::FieldErrors, message};

use super::media_type::{self, ALLOWED};

const MEGABYTE: u64 = 1024 * 1024;

/// The fields of an upload request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Upload<'a> {
    pub file: Option<UploadedFile<'a>>,
    /// The field `type`.
    pub kind: Option<&'a str>,
}

/// A file as received.
#[derive(Clone, Copy, Debug)]
pub struct UploadedFile<'a> {
    /// The file name; directories in it are ignored.
    pub name: &'a str,
    /// The declared media type of its part of the request.
    pub declared: Option<&'a str>,
    pub content: &'a [u8],
    /// Size of the complete file; if it is too large, `content` may be only its beginning.
    pub size: u64,
}

/// The metadata of a valid file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaMetadata {
    pub file_name: String,
    pub extension: String,
    pub mime_type: &'static str,
    pub kind: MediaKind,
    pub size: u64,
}

cms_model::named_enum! {
    /// The property `type` of a media object.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MediaKind {
        Image => "image",
        File => "file",
    }
}

/// Validates an upload; `limit` is the maximum size of a file in bytes.
pub fn check_upload(upload: &Upload<'_>, limit: u64) -> Result<MediaMetadata, FieldErrors> {
    let mut errors = FieldErrors::default();
    let found = check_file(upload.file.as_ref(), limit, &mut errors);
    let kind = check_kind(upload.kind, found.as_deref(), &mut errors);
    let allowed = ALLOWED.into_iter().find(|&known| Some(known) == found.as_deref());
    match (upload.file, allowed, kind) {
        (Some(file), Some(media_type), Some(kind)) if errors.is_empty() => {
            Ok(describe(&file, media_type, kind))
        }
        _ => Err(errors),
    }
}

/// Returns the media type of the file, also one that is not allowed; none if the file is missing or
/// empty.
fn check_file(
    file: Option<&UploadedFile<'_>>,
    limit: u64,
    errors: &mut FieldErrors,
) -> Option<String> {
    let Some(file) = file else {
        errors.add("file", message::required("file"));
        return None;
    };
    if file.size == 0 {
        errors.add("file", "An empty file is not allowed.");
        return None;
    }
    let found = media_type::detect(file.content, file.name, file.declared);
    if !ALLOWED.contains(&found.as_str()) {
        errors.add("file", not_allowed(&found));
    }
    if file.size > limit {
        errors.add("file", too_large(file.size, limit));
    }
    Some(found)
}

fn check_kind(
    kind: Option<&str>,
    media_type: Option<&str>,
    errors: &mut FieldErrors,
) -> Option<MediaKind> {
    let Some(text) = kind else {
        errors.add("type", message::required("type"));
        return None;
    };
    let Some(kind) = MediaKind::parse(text) else {
        let allowed = MediaKind::ALL.map(MediaKind::as_str);
        errors.add("type", message::not_in_enumeration(&allowed));
        return None;
    };
    let is_image = media_type.is_none_or(|media_type| media_type.starts_with("image/"));
    if kind == MediaKind::Image && !is_image {
        errors.add("type", message::NOT_AN_IMAGE);
    }
    Some(kind)
}

fn describe(file: &UploadedFile<'_>, media_type: &'static str, kind: MediaKind) -> MediaMetadata {
    let base = file.name.rsplit(['/', '\\']).next().unwrap_or_default();
    let extension = media_type::extension(base, media_type);
    MediaMetadata {
        file_name: if base.is_empty() { format!("file.{extension}") } else { base.to_owned() },
        extension,
        mime_type: media_type,
        kind,
        size: file.size,
    }
}

fn not_allowed(found: &str) -> String {
    let allowed = ALLOWED.map(|media_type| format!("\"{media_type}\"")).join(", ");
    format!("The mime type of the file is invalid (\"{found}\"). Allowed mime types are {allowed}.")
}

fn too_large(size: u64, limit: u64) -> String {
    let (size, limit) = (hundredths(size), hundredths(limit));
    // A size that is rounded to the limit would not explain the error.
    let (size, limit) = (megabytes(size.max(limit + 1)), megabytes(limit));
    format!("The file is too large ({size} MB). Allowed maximum size is {limit} MB.")
}

/// Bytes as hundredths of a megabyte, rounded.
fn hundredths(bytes: u64) -> u64 {
    let part = (bytes % MEGABYTE * 100 + MEGABYTE / 2) / MEGABYTE;
    bytes / MEGABYTE * 100 + part
}

/// Two decimals, without zeros at the end: `26.17`, `26.1`, `10`.
fn megabytes(hundredths: u64) -> String {
    let (whole, part) = (hundredths / 100, hundredths % 100);
    match part {
        0 => whole.to_string(),
        _ if part % 10 == 0 => format!("{whole}.{}", part / 10),
        _ => format!("{whole}.{part:02}"),
    }
}

#[cfg(test)]
mod tests;
