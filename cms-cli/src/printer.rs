//! The only place that writes to the terminal: data to standard output, all else to standard error.
//!
//! Knows formats and progress, but neither commands nor targets. How values become tables is in
//! [`crate::report`].

use std::{
    fmt,
    io::{self, BufWriter, IsTerminal, Write},
    time::{Duration, Instant},
};

use anstream::AutoStream;
use indicatif::{
    HumanBytes, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle,
};
use serde_json::Value;

use crate::{
    cli::Format,
    failure::{Kind, Result},
    report::{self, Column},
    yaml,
};

/// Between two lines of progress when standard error is not a terminal.
const PLAIN_PROGRESS: Duration = Duration::from_secs(10);

/// Where output goes, and in which form.
pub(crate) struct Printer {
    format: Format,
    quiet: bool,
    out: BufWriter<AutoStream<io::Stdout>>,
    /// Bars on the terminal: lines are written above them, not into them.
    bars: MultiProgress,
}

impl Printer {
    pub(crate) fn new(format: Format, quiet: bool) -> Self {
        let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        Self { format, quiet, out: BufWriter::new(anstream::stdout()), bars }
    }

    /// Whether people read the output rather than programs.
    pub(crate) fn is_table(&self) -> bool {
        self.format == Format::Table
    }

    /// Prints what has a form of its own.
    pub(crate) fn text(&mut self, text: &str) -> Result<()> {
        Ok(self.out.write_all(text.as_bytes())?)
    }

    /// Standard output as it is, for bytes of any kind.
    pub(crate) fn raw(&mut self) -> Result<io::StdoutLock<'static>> {
        self.flush()?;
        Ok(io::stdout().lock())
    }

    /// Sends out what was printed so far.
    pub(crate) fn flush(&mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }

    /// Says what the command works on; not even `--quiet` silences that.
    pub(crate) fn target(&mut self, description: &str) -> Result<()> {
        self.flush()?;
        error_line(&format!("target: {description}"));
        Ok(())
    }

    /// A remark for people.
    pub(crate) fn note(&mut self, text: &str) -> Result<()> {
        self.flush()?;
        if !self.quiet {
            self.bars.suspend(|| error_line(text));
        }
        Ok(())
    }

    /// Prints one value; `human` makes the text of the table format.
    pub(crate) fn value(&mut self, value: &Value, human: impl FnOnce() -> String) -> Result<()> {
        match self.format {
            Format::Table => self.out.write_all(human().as_bytes())?,
            Format::Json => writeln!(self.out, "{value:#}")?,
            Format::Ndjson => writeln!(self.out, "{value}")?,
            Format::Yaml => self.out.write_all(yaml::print(value).as_bytes())?,
            Format::Csv => report::csv(&mut self.out, std::slice::from_ref(value))?,
        }
        Ok(())
    }

    /// Prints rows; the table format shows `columns` of them, the others everything.
    pub(crate) fn rows(&mut self, rows: &[Value], columns: &[Column]) -> Result<()> {
        match self.format {
            Format::Table => self.out.write_all(report::table(rows, columns).as_bytes())?,
            Format::Json => writeln!(self.out, "{:#}", Value::Array(rows.to_vec()))?,
            Format::Ndjson => {
                for row in rows {
                    writeln!(self.out, "{row}")?;
                }
            }
            Format::Yaml => {
                self.out.write_all(yaml::print(&Value::Array(rows.to_vec())).as_bytes())?;
            }
            Format::Csv => report::csv(&mut self.out, rows)?,
        }
        Ok(())
    }

    /// Starts to show that somebody else works, who does not say how far that is.
    pub(crate) fn waiting(&self, label: &str) -> Progress {
        Progress(if self.quiet {
            Display::Nothing
        } else if io::stderr().is_terminal() {
            let style = ProgressStyle::with_template("{msg} {elapsed}");
            let bar = ProgressBar::no_length()
                .with_message(label.to_owned())
                .with_style(style.expect("the template is constant"));
            Display::Bar(self.bars.add(bar))
        } else {
            let since = Instant::now();
            Display::Waiting { label: label.to_owned(), since, told: since }
        })
    }

    /// Starts to show how far a long piece of work is.
    pub(crate) fn progress(&self, label: &str, total: u64) -> Progress {
        self.bar(label, total, Unit::Things)
    }

    /// Starts to show how many bytes of a long piece of work are done.
    pub(crate) fn bytes(&self, label: &str, total: u64) -> Progress {
        self.bar(label, total, Unit::Bytes)
    }

    fn bar(&self, label: &str, total: u64, unit: Unit) -> Progress {
        let display = if self.quiet {
            Display::Nothing
        } else if io::stderr().is_terminal() {
            let style = match unit {
                Unit::Things => "{msg} {wide_bar} {human_pos}/{human_len} {rate} {eta}",
                Unit::Bytes => "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}",
            };
            let bar = ProgressBar::new(total).with_message(label.to_owned()).with_style(
                ProgressStyle::with_template(style).expect("the template is constant").with_key(
                    "rate",
                    |state: &ProgressState, out: &mut dyn fmt::Write| {
                        write!(out, "{:.0}/s", state.per_sec()).ok();
                    },
                ),
            );
            Display::Bar(self.bars.add(bar))
        } else {
            let label = label.to_owned();
            Display::Lines { label, unit, total, done: 0, told: Instant::now() }
        };
        Progress(display)
    }
}

/// Shows how far a long piece of work is, until it is dropped.
pub(crate) struct Progress(Display);

/// What a progress counts.
#[derive(Clone, Copy)]
enum Unit {
    Things,
    Bytes,
}

impl Unit {
    fn show(self, number: u64) -> String {
        match self {
            Self::Things => number.to_string(),
            Self::Bytes => HumanBytes(number).to_string(),
        }
    }
}

enum Display {
    Nothing,
    Bar(ProgressBar),
    Lines { label: String, unit: Unit, total: u64, done: u64, told: Instant },
    Waiting { label: String, since: Instant, told: Instant },
}

impl Progress {
    pub(crate) fn advance(&mut self, by: u64) {
        match &mut self.0 {
            Display::Nothing => {}
            Display::Bar(bar) => bar.inc(by),
            Display::Lines { label, unit, total, done, told } => {
                *done += by;
                if told.elapsed() >= PLAIN_PROGRESS {
                    *told = Instant::now();
                    let (done, total) = (unit.show(*done), unit.show(*total));
                    error_line(&format!("{label}: {done} of {total}"));
                }
            }
            Display::Waiting { label, since, told } => {
                if told.elapsed() >= PLAIN_PROGRESS {
                    *told = Instant::now();
                    error_line(&format!("{label}: {} s", since.elapsed().as_secs()));
                }
            }
        }
    }

    /// Shows that so much of the same total is done.
    pub(crate) fn advance_to(&mut self, now: u64) {
        match &mut self.0 {
            Display::Nothing | Display::Waiting { .. } => {}
            Display::Bar(bar) => bar.set_position(now),
            Display::Lines { done, .. } => {
                *done = now;
                self.advance(0);
            }
        }
    }

    /// Shows that time has passed.
    pub(crate) fn tick(&mut self) {
        self.advance(0);
        if let Display::Bar(bar) = &self.0 {
            bar.tick();
        }
    }

    /// Shows that so much of another total is done.
    pub(crate) fn set(&mut self, now: u64, of: u64) {
        match &mut self.0 {
            Display::Nothing | Display::Waiting { .. } => {}
            Display::Bar(bar) => {
                bar.set_length(of);
                bar.set_position(now);
            }
            Display::Lines { total, done, .. } => {
                (*total, *done) = (of, now);
                self.advance(0);
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Display::Bar(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

/// Writes one line to standard error. Nobody can be told when that fails.
pub(crate) fn error_line(text: &str) {
    writeln!(anstream::stderr(), "{text}").ok();
}

/// Asks a question on the terminal; anything but yes ends the command.
pub(crate) fn confirm(question: &str) -> Result<()> {
    write!(anstream::stderr(), "{question} [y/N] ").ok();
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    if matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        Ok(())
    } else {
        Err(Kind::Usage("not confirmed, nothing was changed".to_owned()).into())
    }
}
