//! `GET /api/v1/open-api-schema.json` (contract 9.1).

use super::{condition::EntityTag, object::Json};
use crate::{
    error::{Error, Result},
    message,
};

/// Which description of the API is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OpenApiRequest {
    pub version: OpenApiVersion,
    /// Relations that are read hold objects instead of links.
    pub hydrate: bool,
    /// Nothing that every server has: only content.
    pub user_only: bool,
    /// Where the API is found, for example `https://cms.example.com`.
    pub base_url: String,
}

/// The form of a description.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OpenApiVersion {
    /// Swagger 2.0.
    V2,
    /// OpenAPI 3.0.
    #[default]
    V30,
    /// OpenAPI 3.1.
    V31,
}

impl OpenApiVersion {
    /// Reads `version`; none or an empty text is the default.
    ///
    /// # Errors
    /// [`crate::error::Error::Invalid`] for a version that there is not.
    pub fn parse(text: Option<&str>) -> Result<Self> {
        match text {
            None | Some("" | "3" | "3.0") => Ok(Self::V30),
            Some("3.1") => Ok(Self::V31),
            Some("2" | "2.0") => Ok(Self::V2),
            Some(_) => Err(Error::invalid("version", message::NOT_VALID)),
        }
    }

    /// The text that is sent.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2 => "2",
            Self::V30 => "3",
            Self::V31 => "3.1",
        }
    }
}

/// A description, and a tag that changes when it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenApiDocument {
    pub text: Json,
    pub tag: EntityTag,
}
