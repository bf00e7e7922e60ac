//! Output: data to standard output, everything else to standard error.
//!
//! Knows formats and progress bars, but neither commands nor targets; tables are in
//! [`crate::text_output`].

use std::{
    fmt,
    io::{self, BufWriter, IsTerminal, Write},
    process::{self, Command, Stdio},
    slice,
    time::{Duration, Instant},
};

use anstream::{AutoStream, ColorChoice, adapter::strip_str};
use console::Term;
use indicatif::{
    HumanBytes, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle,
};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    cli::OutputFormat,
    failure::{Failure, Result},
    text_output::{self, Column},
    yaml,
};

/// Time between two progress lines when standard error is not a terminal.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(10);

/// Exit code after Ctrl-C: the code that a shell reports for a process that the signal ends.
const INTERRUPTED_EXIT_CODE: i32 = 130;

/// Writes output in one format.
pub(crate) struct Printer {
    format: OutputFormat,
    quiet: bool,
    out: Mutex<BufWriter<Output>>,
    /// Progress bars; other lines are written above them.
    bars: MultiProgress,
}

/// Standard output. After its reader has closed it, output is dropped: a command still does its work, and its exit
/// code says how that ended.
struct Output {
    is_closed: bool,
}

impl Output {
    fn unless_closed<T>(&mut self, result: io::Result<T>, dropped: T) -> io::Result<T> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.is_closed = true;
                Ok(dropped)
            }
            result => result,
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = if self.is_closed { Ok(bytes.len()) } else { io::stdout().write(bytes) };
        self.unless_closed(written, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = if self.is_closed { Ok(()) } else { io::stdout().flush() };
        self.unless_closed(flushed, ())
    }
}

impl Printer {
    pub(crate) fn new(format: OutputFormat, quiet: bool) -> Self {
        let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        Self { format, quiet, out: Mutex::new(BufWriter::new(Output { is_closed: false })), bars }
    }

    /// Returns whether the output is for people rather than programs.
    pub(crate) fn is_table(&self) -> bool {
        self.format == OutputFormat::Table
    }

    pub(crate) fn is_csv(&self) -> bool {
        self.format == OutputFormat::Csv
    }

    /// Prints text independently of the format.
    pub(crate) fn text(&self, text: &str) -> Result<()> {
        Ok(self.out.lock().write_all(text.as_bytes())?)
    }

    /// Prints text with colours, where standard output shows them.
    pub(crate) fn styled(&self, text: &str) -> Result<()> {
        match AutoStream::choice(&io::stdout()) {
            ColorChoice::Never => self.text(&strip_str(text).to_string()),
            _ => self.text(text),
        }
    }

    /// Returns standard output for binary data.
    pub(crate) fn raw(&self) -> Result<io::StdoutLock<'static>> {
        self.flush()?;
        Ok(io::stdout().lock())
    }

    /// Writes the buffered output.
    pub(crate) fn flush(&self) -> Result<()> {
        Ok(self.out.lock().flush()?)
    }

    /// Names the target of a command that changes something, even with `--quiet`.
    pub(crate) fn target(&self, description: &str) -> Result<()> {
        self.flush()?;
        error_line(&format!("target: {description}"));
        Ok(())
    }

    /// Prints a remark on standard error.
    pub(crate) fn note(&self, text: &str) -> Result<()> {
        self.flush()?;
        if !self.quiet {
            self.bars.suspend(|| error_line(text));
        }
        Ok(())
    }

    /// Prints hints on standard error.
    pub(crate) fn hints(&self, hints: impl IntoIterator<Item = String>) -> Result<()> {
        hints.into_iter().try_for_each(|hint| self.note(&text_output::hint(&hint)))
    }

    /// Prints the members of one object.
    pub(crate) fn members(&self, object: &impl Serialize) -> Result<()> {
        let object = json!(object);
        self.value(&object, || text_output::members(&object))
    }

    /// Prints one value; `human` returns the text of the table format.
    pub(crate) fn value(&self, value: &Value, human: impl FnOnce() -> String) -> Result<()> {
        match self.format {
            OutputFormat::Table => self.styled(&human()),
            OutputFormat::Json => Ok(writeln!(self.out.lock(), "{value:#}")?),
            OutputFormat::Ndjson => Ok(writeln!(self.out.lock(), "{value}")?),
            OutputFormat::Yaml => self.text(&yaml::print(value)),
            OutputFormat::Csv => {
                Ok(text_output::csv(&mut *self.out.lock(), &[], slice::from_ref(value))?)
            }
        }
    }

    /// Prints rows; the table format has the given columns, the other formats everything.
    pub(crate) fn rows(&self, rows: &[impl Serialize], columns: &[Column<'_>]) -> Result<()> {
        self.rows_with_header(rows, columns, &[])
    }

    /// As [`Self::rows`]; the CSV format begins with the members of this header, also without rows.
    pub(crate) fn rows_with_header(
        &self,
        rows: &[impl Serialize],
        columns: &[Column<'_>],
        header: &[String],
    ) -> Result<()> {
        let rows: Vec<Value> = rows.iter().map(|row| json!(row)).collect();
        match self.format {
            OutputFormat::Table => self.text(&text_output::table(&rows, columns)),
            OutputFormat::Ndjson => rows.iter().try_for_each(|row| self.value(row, String::new)),
            OutputFormat::Csv => Ok(text_output::csv(&mut *self.out.lock(), header, &rows)?),
            OutputFormat::Json | OutputFormat::Yaml => self.value(&Value::Array(rows), String::new),
        }
    }

    /// Shows the elapsed time of an operation without known progress.
    pub(crate) fn spinner(&self, label: &str) -> ProgressDisplay {
        let since = Instant::now();
        let lines = Display::Elapsed { label: label.to_owned(), since, printed: since };
        self.display(label, "{msg} {elapsed}", ProgressBar::no_length, lines)
    }

    /// Shows the progress of an operation on items.
    pub(crate) fn progress(&self, label: &str, total: u64) -> ProgressDisplay {
        self.bar(label, total, Unit::Items)
    }

    /// Shows the progress of an operation on bytes.
    pub(crate) fn byte_progress(&self, label: &str, total: u64) -> ProgressDisplay {
        self.bar(label, total, Unit::Bytes)
    }

    fn bar(&self, label: &str, total: u64, unit: Unit) -> ProgressDisplay {
        let template = match unit {
            Unit::Items => "{msg} {wide_bar} {human_pos}/{human_len} {rate} {eta}",
            Unit::Bytes => "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}",
        };
        let (text, printed) = (label.to_owned(), Instant::now());
        let lines = Display::Lines { label: text, unit, total, done: 0, printed };
        self.display(label, template, || ProgressBar::new(total), lines)
    }

    /// A bar on a terminal, else lines.
    fn display(
        &self,
        label: &str,
        template: &str,
        bar: impl FnOnce() -> ProgressBar,
        lines: Display,
    ) -> ProgressDisplay {
        if self.quiet {
            return ProgressDisplay(Display::Nothing);
        }
        if !io::stderr().is_terminal() {
            return ProgressDisplay(lines);
        }
        let rate = |state: &ProgressState, out: &mut dyn fmt::Write| {
            write!(out, "{:.0}/s", state.per_sec()).ok();
        };
        let style = ProgressStyle::with_template(template).expect("the template is constant");
        let bar = bar().with_message(label.to_owned()).with_style(style.with_key("rate", rate));
        ProgressDisplay(Display::Bar(self.bars.add(bar)))
    }
}

/// Shows progress until it is dropped.
pub(crate) struct ProgressDisplay(Display);

/// The unit of a progress.
#[derive(Clone, Copy)]
enum Unit {
    Items,
    Bytes,
}

impl Unit {
    fn show(self, number: u64) -> String {
        match self {
            Self::Items => number.to_string(),
            Self::Bytes => HumanBytes(number).to_string(),
        }
    }
}

enum Display {
    Nothing,
    Bar(ProgressBar),
    Lines { label: String, unit: Unit, total: u64, done: u64, printed: Instant },
    Elapsed { label: String, since: Instant, printed: Instant },
}

impl ProgressDisplay {
    pub(crate) fn advance(&mut self, by: u64) {
        match &mut self.0 {
            Display::Nothing => {}
            Display::Bar(bar) => bar.inc(by),
            Display::Lines { label, unit, total, done, printed } => {
                *done += by;
                if printed.elapsed() >= PROGRESS_INTERVAL {
                    *printed = Instant::now();
                    let (done, total) = (unit.show(*done), unit.show(*total));
                    error_line(&format!("{label}: {done} of {total}"));
                }
            }
            Display::Elapsed { label, since, printed } => {
                if printed.elapsed() >= PROGRESS_INTERVAL {
                    *printed = Instant::now();
                    error_line(&format!("{label}: {} s", since.elapsed().as_secs()));
                }
            }
        }
    }

    /// Sets the progress.
    pub(crate) fn advance_to(&mut self, now: u64) {
        match &mut self.0 {
            Display::Nothing | Display::Elapsed { .. } => {}
            Display::Bar(bar) => bar.set_position(now),
            Display::Lines { done, .. } => {
                *done = now;
                self.advance(0);
            }
        }
    }

    /// Updates the elapsed time.
    pub(crate) fn tick(&mut self) {
        self.advance(0);
        if let Display::Bar(bar) = &self.0 {
            bar.tick();
        }
    }

    /// Sets the progress and its total.
    pub(crate) fn set(&mut self, now: u64, new_total: u64) {
        match &mut self.0 {
            Display::Nothing | Display::Elapsed { .. } => {}
            Display::Bar(bar) => bar.set_length(new_total),
            Display::Lines { total, .. } => *total = new_total,
        }
        self.advance_to(now);
    }
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        if let Display::Bar(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

/// Writes one line to standard error. A failure is ignored: there is no other output to report it.
pub(crate) fn error_line(text: &str) {
    writeln!(anstream::stderr(), "{text}").ok();
}

/// Asks for a text on the terminal; an empty input means the default.
pub(crate) fn prompt(question: &str, default: &str) -> Result<String> {
    let line = prompt_line(&format!("{question} [{default}]: "))?;
    Ok(if line.is_empty() { default.to_owned() } else { line })
}

/// Asks for a line on the terminal.
fn prompt_line(question: &str) -> Result<String> {
    write!(anstream::stderr(), "{question}").ok();
    let mut input = String::new();
    io::stdin().read_line(&mut input)?;
    Ok(input.trim().to_owned())
}

/// Asks for a secret on the terminal, without echo. Ctrl-C ends the process, and turns echo on again.
pub(crate) fn prompt_secret(question: &str) -> Result<String> {
    let terminal = [Term::stderr(), Term::stdout()].into_iter().find(Term::is_term);
    let terminal = terminal.ok_or_else(|| Failure::usage("there is no terminal to ask on"))?;
    ctrlc::set_handler(end_prompt).ok();
    terminal.write_str(&format!("{question}: "))?;
    Ok(terminal.read_secure_line()?)
}

/// Ends the process at Ctrl-C.
#[expect(
    clippy::exit,
    clippy::disallowed_methods,
    reason = "the main thread waits for the terminal, and holds nothing that has to be dropped"
)]
fn end_prompt() {
    restore_echo();
    error_line("");
    process::exit(INTERRUPTED_EXIT_CODE);
}

/// Turns on the echo of the terminal on standard input. The program `stty` is part of every Unix; a
/// console of Windows restores its mode itself.
fn restore_echo() {
    if cfg!(unix) {
        Command::new("stty").arg("echo").stdin(Stdio::inherit()).status().ok();
    }
}

/// Asks for a confirmation on the terminal; anything but yes ends the command.
pub(crate) fn confirm(question: &str) -> Result<()> {
    if is_yes(&prompt_line(&format!("{question} [y/N] "))?) {
        Ok(())
    } else {
        Err(Failure::usage("not confirmed, nothing was changed"))
    }
}

pub(crate) fn is_yes(input: &str) -> bool {
    ["y", "yes"].contains(&input.to_ascii_lowercase().as_str())
}
