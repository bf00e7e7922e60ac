//! Uploads and image URLs, see docs/reference/media.md

/// The parameters of an upload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UploadRequest {
    /// File name as sent; directories in it are ignored.
    pub file_name: String,
    /// The media type that the client declares.
    pub declared: Option<String>,
    /// The field `type`: `image` or `file`.
    pub kind: Option<String>,
    /// Create the media object; otherwise the response only describes it.
    pub save: bool,
    /// Id of the media object, `_media-<uuid>`: for content that is moved and keeps its ids.
    pub id: Option<String>,
    pub alt: Option<String>,
    pub title: Option<String>,
    /// Ids of `_tag` objects.
    pub tags: Vec<String>,
}

/// A request for `/image/...`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImageRequest<'a> {
    /// The decoded segments of the path after `/image/`.
    pub path: &'a [&'a str],
    /// Query parameter, as are the next two.
    pub transform: Option<&'a str>,
    pub format: Option<&'a str>,
    pub quality: Option<&'a str>,
    /// The header `Accept`, for `format=auto`.
    pub accept: Option<&'a str>,
}
