//! `GET /api/v1/open-api-schema.json`, see docs/reference/openapi.md#parameters

use super::{condition::EntityTag, object::Json};
use crate::{
    error::{Error, Result},
    message,
};

/// The parameters of the OpenAPI document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "independent parameters")]
pub struct OpenApiRequest {
    pub version: OpenApiVersion,
    /// Relations in responses contain objects instead of links.
    pub hydrate: bool,
    /// Only paths of content types, without system operations.
    pub user_only: bool,
    /// All routes that the caller may call; `user_only` has no effect.
    pub management: bool,
    /// Single sign-on is configured.
    pub open_id: bool,
    /// Public URL of the API, for example `https://cms.example.com`.
    pub base_url: String,
}

/// Version of the OpenAPI specification.
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
    /// Parses `version`; none or an empty text is the default.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an unknown version.
    pub fn parse(text: Option<&str>) -> Result<Self> {
        match text {
            None | Some("" | "3" | "3.0") => Ok(Self::V30),
            Some("3.1") => Ok(Self::V31),
            Some("2" | "2.0") => Ok(Self::V2),
            Some(_) => Err(Error::invalid("version", message::NOT_VALID)),
        }
    }

    /// The value of the parameter.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2 => "2",
            Self::V30 => "3",
            Self::V31 => "3.1",
        }
    }
}

/// An OpenAPI document and its entity tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenApiDocument {
    pub text: Json,
    pub tag: EntityTag,
}
