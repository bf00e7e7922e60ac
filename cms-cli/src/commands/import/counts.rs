//! How many objects and files came in, and how many did not. Each is counted once; refused ones are
//! listed with their places and reasons.

use cms_core::FieldErrors;
use serde::Serialize;

use super::{super::advice, element::Element};

/// Refusals that are listed; more are counted, and `--rejects` has all of them.
const LISTED: usize = 10_000;

/// What became of the objects.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) created: u64,
    pub(super) updated: u64,
    pub(super) unchanged: u64,
    pub(super) refused: u64,
    /// Objects that were brought into their status or workflow state.
    pub(super) statuses: u64,
    pub(super) files: FileCounts,
    /// The first refused objects and files.
    pub(super) refusals: Vec<Refusal>,
    pub(super) interrupted: bool,
}

/// A refused object or file: where it stands, and why it was refused.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Refusal {
    content_type: String,
    /// File and line, or file and number of the element.
    place: String,
    id: Option<String>,
    errors: FieldErrors,
}

impl Refusal {
    pub(super) fn of(content_type: &str, element: &Element, errors: &FieldErrors) -> Self {
        Self {
            content_type: content_type.to_owned(),
            place: element.place.clone(),
            id: element.id().map(str::to_owned),
            errors: errors.clone(),
        }
    }

    /// What is allowed instead, where the reasons do not say it.
    pub(super) fn advice(&self) -> Option<String> {
        advice::on_webhook(&self.content_type, &self.errors)
    }
}

/// What became of the files of media objects.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileCounts {
    pub(super) stored: u64,
    /// They were there before.
    pub(super) unchanged: u64,
    pub(super) refused: u64,
    /// Media objects of which the folder holds no file.
    pub(super) missing: u64,
    /// Files of which the folder holds no media object.
    pub(super) without_object: u64,
}

impl FileCounts {
    pub(super) fn sentence(&self) -> Option<String> {
        let Self { stored, unchanged, refused, .. } = self;
        let sentence = format!("files: stored {stored}, unchanged {unchanged}, refused {refused}");
        (stored + unchanged + refused > 0).then_some(sentence)
    }
}

/// As what an object that is there was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counted {
    Created,
    Updated,
    Unchanged,
}

impl Counts {
    pub(super) fn add(&mut self, counted: Counted) {
        *self.of(counted) += 1;
    }

    /// Lists a refused object or file, as long as the list is not full.
    pub(super) fn list(&mut self, refusal: impl FnOnce() -> Refusal) {
        if self.refusals.len() < LISTED {
            self.refusals.push(refusal());
        }
    }

    /// Takes an object out that is refused after all.
    pub(super) fn take_back(&mut self, counted: Counted) {
        *self.of(counted) -= 1;
    }

    fn of(&mut self, counted: Counted) -> &mut u64 {
        match counted {
            Counted::Created => &mut self.created,
            Counted::Updated => &mut self.updated,
            Counted::Unchanged => &mut self.unchanged,
        }
    }

    pub(super) fn sentence(&self) -> String {
        let Self { created, updated, unchanged, refused, statuses, .. } = self;
        let statuses = match statuses {
            0 => String::new(),
            _ => format!(", statuses set {statuses}"),
        };
        format!(
            "created {created}, updated {updated}, unchanged {unchanged}, refused {refused}{statuses}"
        )
    }
}
