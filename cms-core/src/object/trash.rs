//! Deleted objects, for the operator.

use cms_model::{
    auth::scope::Access, context::Caller, error::Result, object::render, paging::Page,
    wire::object::Json,
};

use super::service::Objects;

impl Objects<'_> {
    /// Lists deleted objects of a type in the list envelope, oldest deletion first; an object that
    /// was deleted twice is listed twice. Requires an admin key.
    pub fn trash(&self, caller: &Caller, name: &str, page: Page) -> Result<Json> {
        caller.require_admin()?;
        self.read(caller, name, Access::READ_REMOVED, |reader, _, content_type| {
            let total = reader.trash_count(content_type.pk)?;
            let count = total.saturating_sub(page.offset()).min(u64::from(page.limit));
            let mut out = Vec::new();
            render::push_list_head(&mut out, page, total, count);
            let mut is_first = true;
            reader.trash(content_type.pk, page.into(), |stored| {
                if !std::mem::take(&mut is_first) {
                    out.push(b',');
                }
                render::object(&mut out, content_type.name(), &stored);
            })?;
            out.extend_from_slice(b"]}");
            Ok(Json(out))
        })
    }
}
