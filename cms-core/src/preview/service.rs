//! Creates, authenticates and expires preview tokens (see docs/reference/preview.md).
//!
//! A token has the rights of its creator to read, as they are at the time of a request.

use cms_model::{
    auth::{
        key::{encode, token_hash},
        scope::Access,
    },
    clock::Timestamp,
    content_type::preview,
    context::{Caller, Credential},
    dates,
    error::{Error, Result},
    limits, message,
    object::view::View,
    wire::preview::{Preview, PreviewRequest},
};

use crate::{
    auth::key_ring,
    cms::service,
    object::{service::find_map, write},
};

/// Start of every token.
const PREFIX: &str = "pv_";
const LIFETIME_MICROS: i64 = limits::PREVIEW_TOKEN_MINUTES * 60_000_000;

service! {
    /// Operations on preview tokens.
    Previews, previews
}

impl Previews<'_> {
    /// Creates a token of the caller, and the URL that shows an object with it. `base_url` is the
    /// URL of this server.
    ///
    /// # Errors
    /// [`Error::Forbidden`] for callers that can only read and those that may not read the type,
    /// [`Error::Invalid`] when there is no such object in the view of the request.
    pub fn create(
        &self,
        caller: &Caller,
        request: &PreviewRequest,
        base_url: &str,
    ) -> Result<Preview> {
        caller.require_write()?;
        let unknown = |path: &str| Error::invalid(path, message::NOT_IN_DATABASE);
        let (template, id, data) = self.cms.read_with_catalog(|reader, catalog| {
            let name = &request.content_type;
            let content_type = catalog.find(name).ok_or_else(|| unknown("contentType"))?;
            caller.require(Access::READ, name)?;
            let view = View::for_object(caller, content_type);
            let found = find_map(reader, content_type, view, &request.id, |stored| {
                let stored = view.mask(stored.clone());
                (stored.id.into_owned(), stored.data.into_owned())
            });
            let (id, data) = found.map_err(|error| match error {
                Error::NotFound { .. } => unknown("id"),
                other => other,
            })?;
            Ok((content_type.definition.preview_url().map(str::to_owned), id, data))
        })?;
        let config = &self.cms.config;
        let token = format!("{PREFIX}{}", encode(&config.ids.secret()));
        let expires_at = Timestamp(config.clock.now().0 + LIFETIME_MICROS);
        let url_of = |template: String| -> Result<String> {
            Ok(preview::url_of(&template, base_url, &token, &id, &write::parse(&data)?))
        };
        let url = template.map(url_of).transpose()?;
        let (creator, hash) = (caller.actor().pk, token_hash(&token));
        let limit = limits::MAX_PREVIEW_TOKENS;
        self.cms
            .store
            .write(move |writer| writer.insert_preview_token(creator, hash, expires_at, limit))?;
        let embeddable = url.as_deref().is_some_and(|url| self.is_embeddable(url, base_url));
        Ok(Preview { token, url, embeddable, expires_at: dates::microsecond_date(expires_at) })
    }

    /// Returns whether a URL is of this server, or of an origin in the setting `preview-origins`.
    fn is_embeddable(&self, url: &str, base_url: &str) -> bool {
        let Some(origin) = preview::origin(url) else { return false };
        preview::origin(base_url).as_ref() == Some(&origin)
            || self.cms.config.preview_origins.contains(&origin)
    }

    /// Finds the caller that a token belongs to.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] for other texts and expired tokens, and when the creator is
    /// disabled or removed.
    pub(crate) fn authenticate(&self, token: &str) -> Result<Caller> {
        if !token.starts_with(PREFIX) {
            return Err(Error::Unauthenticated);
        }
        let (hash, now) = (token_hash(token), self.cms.now());
        self.cms.store.read(|reader| {
            let creator = reader.preview_token(hash, now)?.ok_or(Error::Unauthenticated)?;
            let actor = match creator {
                Some(pk) => key_ring::actor_of(reader, pk)?.ok_or(Error::Unauthenticated)?.into(),
                None => Caller::local().actor,
            };
            let catalog = Some(self.cms.catalog.at(reader)?);
            Ok(Caller { catalog, credential: Credential::PreviewToken, ..Caller::new(actor) })
        })
    }
}
