//! `cms webhook`: lists deliveries of webhooks and replays them.
//!
//! The command only queues deliveries; a running server sends them.

use cms_core::{Error, wire::webhook::ReplayRequest};
use serde_json::json;

use super::{counted, open_to_read, open_to_write, print_dry_run};
use crate::{
    cli::WebhookCommand,
    failure::{Outcome, Result},
    printer::Printer,
    settings::Settings,
    target::Target,
    text_output::{Column, column},
};

const COLUMNS: [Column; 8] = [
    column("ID", "/id"),
    column("NAME", "/name"),
    column("TYPE", "/type"),
    column("URL", "/url"),
    column("ENABLED", "/enabled"),
    column("PENDING", "/pending"),
    column("FAILING", "/failing"),
    column("SECRET", "/secret"),
];

const LOG_COLUMNS: [Column; 9] = [
    column("DELIVERY", "/id"),
    column("STATUS", "/status"),
    column("ACTION", "/action"),
    column("REF", "/ref"),
    column("ATTEMPTS", "/attempts"),
    column("LAST", "/attemptedAt"),
    column("MS", "/durationMs"),
    column("RESPONSE", "/response/status"),
    column("ERROR", "/error"),
];

pub(super) fn run(
    command: WebhookCommand,
    settings: &Settings,
    printer: &Printer,
) -> Result<Outcome> {
    match command {
        WebhookCommand::List => {
            printer.rows(&open_to_read(settings)?.webhooks()?, &COLUMNS)?;
        }
        WebhookCommand::Log { id, limit } => {
            printer.rows(&open_to_read(settings)?.webhook_log(&id, limit)?, &LOG_COLUMNS)?;
        }
        WebhookCommand::Replay { id, deliveries, dry_run } => {
            let target = open_to_write(settings, printer, dry_run.dry_run)?;
            if dry_run.dry_run {
                require(&*target, &id)?;
                return print_dry_run(printer, &format!("replay deliveries of \"{id}\""));
            }
            let ids = (!deliveries.is_empty()).then_some(deliveries);
            let replayed = target.replay_webhook(&id, &ReplayRequest { ids })?;
            let number = counted(replayed.replayed, "delivery");
            printer.value(&json!(replayed), || format!("{number} queued\n"))?;
        }
        WebhookCommand::Test { id, dry_run } => {
            let target = open_to_write(settings, printer, dry_run.dry_run)?;
            if dry_run.dry_run {
                require(&*target, &id)?;
                return print_dry_run(printer, &format!("test the webhook \"{id}\""));
            }
            printer.members(&target.test_webhook(&id)?)?;
            printer.note(&format!("`cms webhook log {id}` shows the result"))?;
        }
    }
    Ok(Outcome::Done)
}

fn require(target: &dyn Target, id: &str) -> Result<()> {
    let exists = target.webhooks()?.iter().any(|webhook| webhook.id.eq_ignore_ascii_case(id));
    if exists { Ok(()) } else { Err(Error::not_found("webhook", id).into()) }
}
