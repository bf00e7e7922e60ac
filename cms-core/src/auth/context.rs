//! Describes a caller: identity, rights, and the limits and features of the server (see
//! docs/reference/http.md#current-caller).

use std::collections::BTreeMap;

use cms_media::media_type;
use cms_model::{
    auth::scope::Access,
    content_type::catalog::Catalog,
    context::{ActorKind, Caller, Credential},
    error::Result,
    limits,
    wire::{
        context::{
            ApiKey, AuthContext, ContextLimits, ContextRights, ContextUser, Features, IdAndName,
        },
        key::KeyKind,
        user::Role,
    },
};
use cms_store::SpaceIds;

use crate::{CoreConfig, cms::Cms};

impl Cms {
    /// Returns space, identity, rights and limits of the caller. A server adds its own limits and
    /// features.
    pub fn auth_context(&self, caller: &Caller) -> Result<AuthContext> {
        let named = |id| IdAndName { id, name: "default".to_owned() };
        let (organization, space) = self.store.read_autocommit(|reader| {
            let SpaceIds { organization, space } = reader.space_ids()?;
            Ok((named(organization), named(space)))
        })?;
        let (catalog, config) = (self.catalog_of(caller)?, &self.config);
        Ok(AuthContext {
            organization,
            space,
            user: user(caller),
            api_key: api_key(caller),
            by: caller.actor().author().shown_to(caller, ""),
            rights: rights(caller, config, &catalog),
            limits: limits(config),
            features: Features {
                preview_origins: config.preview_origins.clone(),
                ..Features::default()
            },
            version: env!("CARGO_PKG_VERSION").to_owned(),
        })
    }
}

fn user(caller: &Caller) -> ContextUser {
    let actor = caller.actor();
    // A preview token is used by a front end: the response hides the name and e-mail address of its creator.
    let is_hidden = caller.credential == Credential::PreviewToken;
    let (role, email, username) = match &actor.kind {
        ActorKind::User { role, .. } if is_hidden => (Some(*role), None, String::new()),
        ActorKind::User { role, email } => (Some(*role), Some(email.clone()), actor.name.clone()),
        ActorKind::Key(_) | ActorKind::Local => (None, None, actor.name.clone()),
    };
    ContextUser {
        id: actor.id.clone(),
        username,
        roles: vec![role.map_or_else(|| "ROLE_HEADLESS_ADMIN".to_owned(), Role::api_name)],
        email,
        role,
    }
}

fn api_key(caller: &Caller) -> Option<ApiKey> {
    let actor = caller.actor();
    let kind = match &actor.kind {
        _ if caller.credential == Credential::PreviewToken => return None,
        ActorKind::User { .. } => return None,
        ActorKind::Key(kind) => *kind,
        ActorKind::Local => KeyKind::Admin,
    };
    Some(ApiKey { name: actor.name.clone(), kind, rules: actor.rules.clone() })
}

fn rights(caller: &Caller, config: &CoreConfig, catalog: &Catalog) -> ContextRights {
    let letters = |name: &str| -> String {
        [(Access::CREATE, 'c'), (Access::READ, 'r'), (Access::UPDATE, 'u'), (Access::DELETE, 'd')]
            .into_iter()
            .filter(|(access, _)| caller.may(*access, name))
            .map(|(_, letter)| letter)
            .collect()
    };
    let types = catalog
        .types()
        .iter()
        .map(|content_type| (content_type.name().to_owned(), letters(content_type.name())));
    let content_types: BTreeMap<_, _> = types.filter(|(_, letters)| !letters.is_empty()).collect();
    ContextRights {
        admin: caller.is_admin(),
        change_types: config.require_type_change(caller).is_ok(),
        publish: caller.may_publish()
            && content_types.values().any(|letters: &String| letters.contains('u')),
        content_types,
    }
}

fn limits(config: &CoreConfig) -> ContextLimits {
    ContextLimits {
        page_size: limits::MAX_PAGE_SIZE,
        batch: config.batch_limit,
        batch_publish: limits::MAX_PUBLISH_BATCH_IDS,
        object_bytes: limits::MAX_OBJECT_BYTES,
        body_bytes: None,
        file_bytes: config.media_file_limit,
        upload_bytes: None,
        media_types: media_type::ALLOWED.map(str::to_owned).into(),
        search_results: limits::MAX_SEARCH_RESULTS,
        trash_days: limits::TRASH_RETENTION_DAYS,
    }
}
