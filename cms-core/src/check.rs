//! Looking for what does not fit together in a data folder, and mending what is derived.
//!
//! What is derived follows from content: indexes, slots, links, counters, the public view as far as
//! the versions are there, the search index. Content itself is never touched. Every look is a
//! snapshot of its own, and a repair is followed by another look: only what is gone then counts as
//! mended.

use std::path::Path;

use cms_model::{
    content_type::catalog::CompiledType,
    error::{Error, Result},
    object::scan,
    wire::check::{CheckArea, CheckReport, CheckRequest, Finding, MediaCheck},
};

use crate::{
    cms::Cms,
    object::write,
    store::{Reader, Writer, damage, read_file},
};

/// Most findings that are told.
const TOLD: usize = 1000;

/// Looks for damage in the database file of a folder that cannot be opened; finds nothing when the
/// folder cannot be opened for another reason.
pub fn check_file(folder: &Path) -> Result<CheckReport> {
    let mut findings = Vec::new();
    let looked = read_file(&folder.join("cms.db"), |reader| pages(reader, &mut findings));
    if let Err(error) = &looked
        && let Some(cause) = damage(error)
    {
        findings.push(found(CheckArea::Database, "", cause.to_string(), false));
    }
    let is_damaged = is_damaged(&findings);
    if is_damaged {
        Ok(CheckReport { findings, ..CheckReport::default() })
    } else {
        looked.map(|()| CheckReport::default())
    }
}

impl Cms {
    /// Looks for what does not fit together, and mends what can be mended when asked to. In a damaged
    /// database nothing is mended.
    pub fn check(&self, request: &CheckRequest) -> Result<CheckReport> {
        let mut findings = self.look()?;
        let is_damaged = is_damaged(&findings);
        if request.repair && !is_damaged && findings.iter().any(|finding| finding.derived) {
            self.mend(&findings)?;
            let left = self.look()?;
            for finding in &mut findings {
                finding.repaired = !left.contains(finding);
            }
            findings
                .extend(left.into_iter().filter(|new| !findings.contains(new)).collect::<Vec<_>>());
        }
        let media = CheckRequest { repair: request.repair && !is_damaged, ..request.clone() };
        let (media, of_files) = match self.media().check(&media) {
            // Which files have an object is not known then.
            Err(Error::Internal(_)) if is_damaged => (MediaCheck::default(), Vec::new()),
            media => media?,
        };
        findings.extend(of_files);
        let more = findings.len().saturating_sub(TOLD) as u64;
        findings.truncate(TOLD);
        Ok(CheckReport { media, findings, more })
    }

    fn look(&self) -> Result<Vec<Finding>> {
        let mut findings = self.store.inspect(|reader| {
            let mut findings = Vec::new();
            pages(reader, &mut findings)?;
            if let Some(damage) = findings.iter().find(|found| is_damage(found)) {
                self.store.note_damage(&damage.message);
                self.unreadable(reader, &mut findings);
                return Ok(findings);
            }
            match self.content(reader, &mut findings) {
                // Damage may lie within the values of a row, where pages do not show it.
                Err(Error::Internal(cause)) => {
                    let message = format!("content cannot be read: {cause}");
                    findings.push(found(CheckArea::Database, "", message, false));
                }
                looked => looked?,
            }
            Ok(findings)
        })?;
        if is_damaged(&findings) {
            return Ok(findings);
        }
        let differences = self.search().differences()?;
        findings
            .extend(differences.into_iter().map(|text| found(CheckArea::Index, "", text, true)));
        Ok(findings)
    }

    /// Looks at rows, of all types.
    fn content(&self, reader: &Reader<'_>, findings: &mut Vec<Finding>) -> Result<()> {
        rows(reader, findings)?;
        if is_damaged(findings) {
            // What follows from rows that are not there means nothing.
            return Ok(());
        }
        for content_type in self.catalog.at(reader)?.types() {
            Look { reader, content_type, findings }.at_all()?;
        }
        Ok(())
    }

    /// Names what cannot be read in a damaged database.
    fn unreadable(&self, reader: &Reader<'_>, findings: &mut Vec<Finding>) {
        let cause = |error: &Error| match error {
            Error::Internal(cause) => cause.to_string(),
            other => other.to_string(),
        };
        let catalog = match self.catalog.at(reader) {
            Ok(catalog) => catalog,
            Err(error) => {
                let message = format!("content types cannot be read: {}", cause(&error));
                return findings.push(found(CheckArea::Database, "", message, false));
            }
        };
        for content_type in catalog.types() {
            let name = content_type.name();
            match reader.unreadable_rows(content_type.pk) {
                Ok(objects) => findings.extend(objects.into_iter().map(|(id, cause)| {
                    let message = format!("it cannot be read: {cause}");
                    found(CheckArea::Objects, &format!("{name}/{id}"), message, false)
                })),
                Err(error) => {
                    let message = format!("its objects cannot be listed: {}", cause(&error));
                    findings.push(found(CheckArea::Objects, name, message, false));
                }
            }
        }
    }

    fn mend(&self, findings: &[Finding]) -> Result<()> {
        let is_found = |part| findings.iter().any(|found| found.part == part && found.derived);
        let derived = [
            CheckArea::Database,
            CheckArea::Counters,
            CheckArea::Published,
            CheckArea::Slots,
            CheckArea::Links,
        ];
        if derived.into_iter().any(is_found) {
            let catalog = std::sync::Arc::clone(&self.catalog);
            let (remake, relink) = (is_found(CheckArea::Database), is_found(CheckArea::Links));
            self.store.write(move |writer| {
                if remake {
                    writer.remake_indexes()?;
                }
                let catalog = catalog.within(writer)?;
                catalog.types().iter().try_for_each(|known| mend_type(writer, known, relink))
            })?;
        }
        if is_found(CheckArea::Index) { self.search().remake() } else { Ok(()) }
    }
}

fn mend_type(writer: &Writer<'_>, content_type: &CompiledType, relink: bool) -> Result<()> {
    let (ctd, definition) = (content_type.pk, &content_type.definition);
    writer.republish(ctd, definition.draft_public)?;
    writer.fill_slots(ctd, &content_type.indexed, definition.editions())?;
    writer.recount(ctd)?;
    if relink {
        let mut objects = Vec::new();
        writer.each_text(ctd, |pk, _, _, _| {
            objects.push(pk);
            Ok(())
        })?;
        for pk in objects {
            write::relink(writer, &content_type.properties, pk)?;
        }
    }
    Ok(())
}

fn found(part: CheckArea, place: &str, message: impl Into<String>, derived: bool) -> Finding {
    Finding { part, place: place.to_owned(), message: message.into(), derived, repaired: false }
}

/// Tells whether something was found that makes it pointless to look further.
fn is_damaged(findings: &[Finding]) -> bool {
    findings.iter().any(is_damage)
}

fn is_damage(found: &Finding) -> bool {
    found.part == CheckArea::Database && !found.derived
}

/// The file of the database.
fn pages(reader: &Reader<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    for (place, message) in reader.thorough_damage()? {
        // Whatever an index lacks stands in its table.
        let derived = message.contains("missing from index") || message.contains("in index");
        findings.push(found(CheckArea::Database, &place, message, derived));
    }
    Ok(())
}

/// What concerns no type.
fn rows(reader: &Reader<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    for (table, parent) in reader.dangling_rows()? {
        let message = format!("a row refers to one of {parent} that is not there");
        findings.push(found(CheckArea::Database, &table, message, false));
    }
    let strays = reader.stray_versions()?;
    if strays > 0 {
        let message = format!("versions of objects that are not there: {strays}");
        findings.push(found(CheckArea::Versions, "", message, false));
    }
    Ok(())
}

/// A look at one type.
struct Look<'l> {
    reader: &'l Reader<'l>,
    content_type: &'l CompiledType,
    findings: &'l mut Vec<Finding>,
}

impl Look<'_> {
    fn add(
        &mut self,
        part: CheckArea,
        id: Option<&str>,
        message: impl Into<String>,
        derived: bool,
    ) {
        let name = self.content_type.name();
        let place = id.map_or_else(|| name.to_owned(), |id| format!("{name}/{id}"));
        self.findings.push(found(part, &place, message, derived));
    }

    fn at_all(&mut self) -> Result<()> {
        self.at_objects()?;
        self.at_counters()?;
        self.at_published()?;
        self.at_slots()?;
        self.at_links()
    }

    fn at_objects(&mut self) -> Result<()> {
        for id in self.reader.unreadable_objects(self.content_type.pk)? {
            self.add(CheckArea::Objects, Some(&id), "its text is no JSON", false);
        }
        for (id, message) in self.reader.misnumbered(self.content_type.pk)? {
            self.add(CheckArea::Versions, Some(&id), message, false);
        }
        Ok(())
    }

    fn at_counters(&mut self) -> Result<()> {
        let state = self.reader.ctd_state(self.content_type.pk)?;
        let (live, published) = self.reader.count_by_walk(self.content_type.pk)?;
        if (state.live, state.published) != (live, published) {
            let (said, of) = (state.live, state.published);
            let message = format!(
                "{said} objects are counted and {of} published, {live} and {published} are there"
            );
            self.add(CheckArea::Counters, None, message, true);
        }
        Ok(())
    }

    fn at_published(&mut self) -> Result<()> {
        let draft_public = self.content_type.definition.draft_public;
        let wrong = self.reader.mispublished(self.content_type.pk, draft_public)?;
        for (id, status, is_shown, is_there) in wrong {
            let shown = if is_shown { "shows something else" } else { "does not show it" };
            let message = format!("its status is {status}, and the public view {shown}");
            self.add(CheckArea::Published, Some(&id), message, is_there);
        }
        Ok(())
    }

    fn at_slots(&mut self) -> Result<()> {
        let CompiledType { pk, indexed, definition, .. } = self.content_type;
        let unfilled = self.reader.unfilled_slots(*pk, indexed, definition.editions())?;
        if unfilled > 0 {
            let message =
                format!("indexed properties of {unfilled} rows are not what their text says");
            self.add(CheckArea::Slots, None, message, true);
        }
        for property in self.content_type.properties.iter().filter(|property| property.unique) {
            let Some(slot) = indexed.find(&property.name) else { continue };
            for ids in self.reader.shared_values(*pk, slot)? {
                let message =
                    format!("{} is unique, and these have the same: {ids}", property.name);
                self.add(CheckArea::Unique, None, message, false);
            }
        }
        Ok(())
    }

    fn at_links(&mut self) -> Result<()> {
        let (reader, content_type) = (self.reader, self.content_type);
        let properties = &content_type.properties;
        reader.each_text(content_type.pk, |pk, id, data, published| {
            let mut links = scan::links(data, properties);
            links.extend(published.into_iter().flat_map(|data| scan::links(data, properties)));
            let mut wanted: Vec<(String, String)> = links
                .into_iter()
                .map(|link| (link.content_type, link.id.to_ascii_lowercase()))
                .collect();
            wanted.sort();
            wanted.dedup();
            if reader.noted_links(pk)? != wanted {
                self.add(
                    CheckArea::Links,
                    Some(id),
                    "its links are not noted as its text has them",
                    true,
                );
            }
            Ok(())
        })
    }
}
