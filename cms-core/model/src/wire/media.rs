//! Uploads and addresses of images (contract 7.1, 7.3).

/// What a request says of the file that it uploads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UploadRequest {
    /// Name of the file as sent; folders before it do not count.
    pub file_name: String,
    /// The media type that the sender declares.
    pub declared: Option<String>,
    /// The field `type`: `image` or `file`.
    pub kind: Option<String>,
    /// Makes the media object, too; else it is only described.
    pub save: bool,
    /// The id to be: `_media-<uuid>`. For content that moves and keeps its ids.
    pub id: Option<String>,
    pub alt: Option<String>,
    pub title: Option<String>,
    /// Ids of `_tag` objects.
    pub tags: Vec<String>,
}

/// A request for `/image/...`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImageRequest<'a> {
    /// The segments of the path after `/image/`, decoded.
    pub path: &'a [&'a str],
    /// Query parameters of these names.
    pub transform: Option<&'a str>,
    pub format: Option<&'a str>,
    pub quality: Option<&'a str>,
    /// The header `Accept`, which `format=auto` looks at.
    pub accept: Option<&'a str>,
}
