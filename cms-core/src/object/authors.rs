//! The authors of objects in a response: `internal.createdBy` and `internal.updatedBy`, see
//! docs/reference/objects.md#select-fields
//!
//! They are read once all objects of the response are rendered: with one statement for the actors,
//! and one per edition for the last changes. [`super::hydrate`] inserts them into the text.

use cms_model::{
    content_type::catalog::CompiledType,
    context::Caller,
    error::{Error, Result},
    object::{
        model::{Edition, StoredObject},
        projection::AuthorField,
    },
};
use cms_store::Reader;

/// An author in a response.
pub(crate) struct ObjectAuthor {
    /// Name of the type of the object, which decides whether names of users are shown.
    content_type: String,
    /// Primary key of the actor; none for a command on the data directory. [`Self::new`] sets the
    /// creator. If `updated` is set, [`read`] replaces it by the actor of the last change.
    actor: Option<i64>,
    /// For [`AuthorField::UpdatedBy`], the edition and the primary key of the row whose last author is to be read;
    /// none for [`AuthorField::CreatedBy`].
    updated: Option<(Edition, i64)>,
    /// Empty until it is read.
    pub(crate) json: String,
}

impl ObjectAuthor {
    pub(crate) fn new(
        field: AuthorField,
        content_type: &CompiledType,
        edition: Edition,
        stored: &StoredObject<'_>,
    ) -> Self {
        let updated = match field {
            AuthorField::CreatedBy => None,
            AuthorField::UpdatedBy => Some((edition, stored.pk)),
        };
        let content_type = content_type.name().to_owned();
        Self { content_type, actor: stored.internal.owner, updated, json: String::new() }
    }
}

/// Reads the authors of a response.
pub(crate) fn read(
    reader: &Reader<'_>,
    caller: &Caller,
    mut authors: Vec<&mut ObjectAuthor>,
) -> Result<()> {
    for edition in Edition::ALL {
        let row = |author: &ObjectAuthor| author.updated.filter(|(of, _)| *of == edition);
        let rows: Vec<i64> =
            authors.iter().filter_map(|author| row(author)).map(|(_, pk)| pk).collect();
        let actors = reader.updated_by(edition, &rows)?;
        for author in &mut authors {
            if let Some((_, pk)) = row(author) {
                author.actor = actors.get(&pk).copied().flatten();
            }
        }
    }
    let found = reader.authors(authors.iter().map(|author| author.actor.into()))?;
    for author in authors {
        let by = found.author_of(author.actor.into()).shown_to(caller, &author.content_type);
        author.json = serde_json::to_string(&by).map_err(Error::internal)?;
    }
    Ok(())
}
