//! Checks the integrity of a data directory, and repairs derived data.
//!
//! Derived data follows from content: indexes, slots, links, counters, the public view as far as
//! the versions exist, the search index. Content itself is never changed. After a repair the check
//! runs again: a finding counts as repaired only if it has disappeared.

use std::{path::Path, sync::Arc};

use cms_model::{
    content_type::catalog::CompiledType,
    error::{Error, Result},
    object::scan,
    wire::check::{CheckArea, CheckReport, CheckRequest, Finding, MediaCheck},
};
use cms_store::{Reader, WriteTransaction, damage, read_file};

use crate::{cms::Cms, object::write};

/// Maximum number of reported findings.
const MAX_FINDINGS: usize = 1000;

/// Fails when a check has to stop. Every stage calls it several times a second, also within a
/// statement.
pub type EnsureRunning = Arc<dyn Fn() -> Result<()> + Send + Sync>;

/// Checks the database file of a data directory that cannot be opened.
///
/// # Errors
/// When the file cannot be opened for another reason than damage.
pub fn check_file(folder: &Path) -> Result<CheckReport> {
    let mut findings = Vec::new();
    let checked = read_file(&folder.join("cms.db"), |reader| pages(reader, &mut findings));
    if let Err(error) = &checked
        && let Some(cause) = damage(error)
    {
        findings.push(finding(CheckArea::Database, "", cause.to_string(), false));
    }
    let is_damaged = is_damaged(&findings);
    if is_damaged {
        Ok(CheckReport { findings, ..CheckReport::default() })
    } else {
        checked.map(|()| CheckReport::default())
    }
}

impl Cms {
    /// Checks the integrity, and repairs derived data if requested, unless the database is damaged.
    pub fn check(&self, request: &CheckRequest) -> Result<CheckReport> {
        self.check_while(request, &(Arc::new(|| Ok(())) as EnsureRunning))
    }

    /// As [`Self::check`], until `ensure_running` fails. A repair then stops between two steps, each
    /// of which is complete or did not begin.
    ///
    /// # Errors
    /// The error of `ensure_running`, or [`Error::Busy`] from an interrupted statement.
    pub fn check_while(
        &self,
        request: &CheckRequest,
        ensure_running: &EnsureRunning,
    ) -> Result<CheckReport> {
        let mut findings = self.integrity_findings(ensure_running)?;
        let is_damaged = is_damaged(&findings);
        if request.repair && !is_damaged && findings.iter().any(|finding| finding.derived) {
            self.repair(&findings, ensure_running)?;
            let left = self.integrity_findings(ensure_running)?;
            for finding in &mut findings {
                finding.repaired = !left.contains(finding);
            }
            findings
                .extend(left.into_iter().filter(|new| !findings.contains(new)).collect::<Vec<_>>());
        }
        let media = CheckRequest { repair: request.repair && !is_damaged, ..request.clone() };
        let (media, of_files) = match self.media().check(&media, ensure_running) {
            // The damage hides which objects the files belong to.
            Err(Error::Internal(_)) if is_damaged => (MediaCheck::default(), Vec::new()),
            media => media?,
        };
        findings.extend(of_files);
        let more = findings.len().saturating_sub(MAX_FINDINGS) as u64;
        findings.truncate(MAX_FINDINGS);
        Ok(CheckReport { media, findings, more })
    }

    fn integrity_findings(&self, ensure_running: &EnsureRunning) -> Result<Vec<Finding>> {
        let mut findings =
            self.store.read_without_timeout(is_stopped(ensure_running), |reader| {
                let mut findings = Vec::new();
                pages(reader, &mut findings)?;
                if let Some(damage) = findings.iter().find(|found| is_damage(found)) {
                    self.store.record_damage_cause(&damage.message);
                    self.unreadable(reader, &mut findings);
                    return Ok(findings);
                }
                match self.content(reader, &mut findings) {
                    // Damaged values of a row are not visible in the structure of pages.
                    Err(Error::Internal(cause)) => {
                        let message = format!("content cannot be read: {cause}");
                        findings.push(finding(CheckArea::Database, "", message, false));
                    }
                    checked => checked?,
                }
                Ok(findings)
            })?;
        // A statement that was interrupted looks like an unreadable object.
        ensure_running()?;
        if is_damaged(&findings) {
            return Ok(findings);
        }
        let differences = self.search().differences(ensure_running)?;
        findings
            .extend(differences.into_iter().map(|text| finding(CheckArea::Index, "", text, true)));
        Ok(findings)
    }

    /// Checks the rows of all types.
    fn content(&self, reader: &Reader<'_>, findings: &mut Vec<Finding>) -> Result<()> {
        rows(reader, findings)?;
        if is_damaged(findings) {
            // Without these rows, further findings mean nothing.
            return Ok(());
        }
        for content_type in self.catalog.at(reader)?.types() {
            TypeCheck { reader, content_type, findings }.all()?;
        }
        Ok(())
    }

    /// Adds the unreadable types and objects of a damaged database.
    fn unreadable(&self, reader: &Reader<'_>, findings: &mut Vec<Finding>) {
        let cause = |error: &Error| match error {
            Error::Internal(cause) => cause.to_string(),
            other => other.to_string(),
        };
        let catalog = match self.catalog.at(reader) {
            Ok(catalog) => catalog,
            Err(error) => {
                let message = format!("content types cannot be read: {}", cause(&error));
                return findings.push(finding(CheckArea::Database, "", message, false));
            }
        };
        for content_type in catalog.types() {
            let name = content_type.name();
            match reader.unreadable_rows(content_type.pk) {
                Ok(objects) => findings.extend(objects.into_iter().map(|(id, cause)| {
                    let message = format!("the object cannot be read: {cause}");
                    finding(CheckArea::Objects, &format!("{name}/{id}"), message, false)
                })),
                Err(error) => {
                    let message =
                        format!("the objects of the type cannot be listed: {}", cause(&error));
                    findings.push(finding(CheckArea::Objects, name, message, false));
                }
            }
        }
    }

    fn repair(&self, findings: &[Finding], ensure_running: &EnsureRunning) -> Result<()> {
        ensure_running()?;
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
            let (rebuild, relink) = (is_found(CheckArea::Database), is_found(CheckArea::Links));
            self.store.write(move |writer| {
                if rebuild {
                    writer.rebuild_sql_indexes()?;
                }
                writer.increment_all_change_counters()?;
                let catalog = catalog.within(writer)?;
                catalog.types().iter().try_for_each(|known| repair_type(writer, known, relink))
            })?;
        }
        if is_found(CheckArea::Index) { self.search().rebuild(ensure_running) } else { Ok(()) }
    }
}

/// Returns the condition that interrupts the statements of a check.
pub(crate) fn is_stopped(ensure_running: &EnsureRunning) -> impl Fn() -> bool + Send + 'static {
    let ensure_running = Arc::clone(ensure_running);
    move || ensure_running().is_err()
}

fn repair_type(
    writer: &WriteTransaction<'_>,
    content_type: &CompiledType,
    relink: bool,
) -> Result<()> {
    let (ctd, definition) = (content_type.pk, &content_type.definition);
    writer.rebuild_public_view(ctd, definition.draft_public)?;
    writer.fill_slots(ctd, &content_type.indexed, definition.editions())?;
    writer.recount(ctd)?;
    if relink {
        write::relink_all(writer, &content_type.properties, ctd)?;
    }
    Ok(())
}

pub(crate) fn finding(
    part: CheckArea,
    place: &str,
    message: impl Into<String>,
    derived: bool,
) -> Finding {
    Finding { part, place: place.to_owned(), message: message.into(), derived, repaired: false }
}

/// Whether a finding makes further checks meaningless.
fn is_damaged(findings: &[Finding]) -> bool {
    findings.iter().any(is_damage)
}

fn is_damage(found: &Finding) -> bool {
    found.part == CheckArea::Database && !found.derived
}

/// Checks the structure of the database file.
fn pages(reader: &Reader<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    for (place, message) in reader.integrity_errors()? {
        // An index can be rebuilt from its table, unless two rows of the table have one key.
        let in_index = message.contains("missing from index") || message.contains("in index");
        let derived = in_index && !message.contains("non-unique");
        findings.push(finding(CheckArea::Database, &place, message, derived));
    }
    Ok(())
}

/// Checks rows that belong to no type.
fn rows(reader: &Reader<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    for (table, parent) in reader.dangling_rows()? {
        let message = format!("a row refers to a missing row of {parent}");
        findings.push(finding(CheckArea::Database, &table, message, false));
    }
    let orphans = reader.count_orphaned_versions()?;
    if orphans > 0 {
        let message = format!("versions of missing objects: {orphans}");
        findings.push(finding(CheckArea::Versions, "", message, false));
    }
    Ok(())
}

/// The check of one type.
struct TypeCheck<'l> {
    reader: &'l Reader<'l>,
    content_type: &'l CompiledType,
    findings: &'l mut Vec<Finding>,
}

impl TypeCheck<'_> {
    fn add(
        &mut self,
        part: CheckArea,
        id: Option<&str>,
        message: impl Into<String>,
        derived: bool,
    ) {
        let name = self.content_type.name();
        let place = id.map_or_else(|| name.to_owned(), |id| format!("{name}/{id}"));
        self.findings.push(finding(part, &place, message, derived));
    }

    fn all(&mut self) -> Result<()> {
        self.objects()?;
        self.counters()?;
        self.published_view()?;
        self.slots()?;
        self.links_of_objects()
    }

    fn objects(&mut self) -> Result<()> {
        for id in self.reader.objects_with_invalid_json(self.content_type.pk)? {
            self.add(CheckArea::Objects, Some(&id), "invalid JSON", false);
        }
        for (id, message) in self.reader.objects_with_invalid_versions(self.content_type.pk)? {
            self.add(CheckArea::Versions, Some(&id), message, false);
        }
        Ok(())
    }

    fn counters(&mut self) -> Result<()> {
        let state = self.reader.type_state(self.content_type.pk)?;
        let (live, published) = self.reader.count_rows(self.content_type.pk)?;
        if (state.live, state.published) != (live, published) {
            let message = format!(
                "counters say {} objects and {} published, found {live} and {published}",
                state.live, state.published
            );
            self.add(CheckArea::Counters, None, message, true);
        }
        Ok(())
    }

    fn published_view(&mut self) -> Result<()> {
        let draft_public = self.content_type.definition.draft_public;
        let wrong =
            self.reader.objects_with_wrong_publication(self.content_type.pk, draft_public)?;
        for (id, status, is_published, has_version) in wrong {
            let found = if is_published { "has a wrong row" } else { "has no row" };
            let message = format!("status is {status}, but the public view {found} for the object");
            self.add(CheckArea::Published, Some(&id), message, has_version);
        }
        Ok(())
    }

    fn slots(&mut self) -> Result<()> {
        let CompiledType { pk, indexed, definition, .. } = self.content_type;
        let unfilled = self.reader.count_outdated_slots(*pk, indexed, definition.editions())?;
        if unfilled > 0 {
            let message = format!("stale index values in {unfilled} rows");
            self.add(CheckArea::Slots, None, message, true);
        }
        for (slot, property) in self.content_type.unique_properties() {
            for ids in self.reader.duplicate_unique_values(*pk, slot)? {
                let message =
                    format!("objects with the same value of the unique {}: {ids}", property.name);
                self.add(CheckArea::Unique, None, message, false);
            }
        }
        for (slot, names) in indexed.combinations() {
            for ids in self.reader.duplicate_unique_values(*pk, slot)? {
                let names = names.join(" and ");
                let message = format!("objects with the same unique combination of {names}: {ids}");
                self.add(CheckArea::Unique, None, message, false);
            }
        }
        Ok(())
    }

    fn links_of_objects(&mut self) -> Result<()> {
        let (reader, content_type) = (self.reader, self.content_type);
        let properties = &content_type.properties;
        reader.for_each_object(content_type.pk, |pk, id, data, published| {
            let mut links = scan::links(data, properties);
            links.extend(published.into_iter().flat_map(|data| scan::links(data, properties)));
            let mut wanted: Vec<(String, String)> = links
                .into_iter()
                .map(|link| (link.content_type, link.id.to_ascii_lowercase()))
                .collect();
            wanted.sort();
            wanted.dedup();
            if reader.stored_links(pk)? != wanted {
                let message = "stored links differ from the links in the object";
                self.add(CheckArea::Links, Some(id), message, true);
            }
            Ok(())
        })
    }
}
