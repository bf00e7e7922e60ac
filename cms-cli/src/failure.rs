//! Errors of a command and their exit codes, which `cms --help` lists.

use std::{fmt::Display, io};

use cms_core::Error;

/// An error of a command, with hints for the user.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    pub(crate) hints: Vec<String>,
}

#[derive(Debug)]
pub(crate) enum FailureKind {
    /// The arguments are wrong, or name a file that cannot be read.
    Usage(String),
    /// The target returned an error.
    Target(Error),
    /// Input files have errors.
    InvalidInput(Vec<Diagnostic>),
    /// Local input or output failed.
    Local(String),
    /// The reader closed the output.
    Closed,
}

/// An error in an input file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Diagnostic {
    /// `file:line:column`, as far as known.
    pub(crate) location: String,
    pub(crate) message: String,
}

impl Diagnostic {
    /// Converts the error of a parser, whose message repeats the position.
    pub(crate) fn syntax(
        name: &str,
        position: Option<(usize, usize)>,
        error: &impl Display,
    ) -> Self {
        let position = position.map(|(line, column)| format!(":{line}:{column}"));
        let location = format!("{name}{}", position.unwrap_or_default());
        Self { location, message: without_position(error) }
    }
}

/// The message of a parser error without its position.
pub(crate) fn without_position(error: &impl Display) -> String {
    let message = error.to_string();
    message.split(" at line ").next().unwrap_or_default().to_owned()
}

/// Result of a command or of a part of it.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// Outcome of a command that ran to its end without a [`Failure`]. Only `Done` has the exit code 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// Some objects were refused, or the command was interrupted.
    Partial,
    /// The command ends with the exit code of an error that it has already printed.
    Refused(u8),
    /// A requested object does not exist.
    NotFound,
    /// The plan cannot be applied.
    Blocked,
    /// `cms check` found problems that remain, or `cms validate` found objects that are not valid.
    CheckFailed,
    /// A part of the target is not ready.
    NotReady,
    /// The plan has changes, and `--exit-code` is set.
    HasChanges,
}

impl Outcome {
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::NotFound => 4,
            Self::Blocked | Self::CheckFailed => 6,
            Self::Partial => 7,
            Self::Refused(code) => code,
            Self::NotReady => 9,
            Self::HasChanges => 10,
        }
    }
}

impl Failure {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        FailureKind::Usage(message.into()).into()
    }

    /// An input file that cannot be read.
    pub(crate) fn unreadable(path: impl Display, reason: impl Display) -> Self {
        Self::usage(format!("cannot read {path}: {reason}"))
    }

    /// An output file that cannot be written.
    pub(crate) fn unwritable(path: impl Display, reason: impl Display) -> Self {
        Self::local(format!("cannot write {path}: {reason}"))
    }

    /// Another local error.
    pub(crate) fn local(message: impl Into<String>) -> Self {
        FailureKind::Local(message.into()).into()
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds hints: a list, or an `Option` with one.
    #[must_use]
    pub(crate) fn hints(mut self, hints: impl IntoIterator<Item: Into<String>>) -> Self {
        self.hints.extend(hints.into_iter().map(Into::into));
        self
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match &self.kind {
            FailureKind::Usage(_) => 2,
            FailureKind::Target(error) => exit_code(error),
            FailureKind::InvalidInput(_) => 6,
            FailureKind::Local(_) => 1,
            FailureKind::Closed => 0,
        }
    }
}

/// Returns the exit code of an error of the core.
pub(crate) fn exit_code(error: &Error) -> u8 {
    match error {
        Error::Internal(_) | Error::Damaged(_) | Error::OutcomeUnknown => 1,
        Error::Unsupported(_) => 2,
        Error::Unauthenticated | Error::Forbidden | Error::CrossSite => 3,
        Error::NotFound { .. } => 4,
        Error::Conflict(_)
        | Error::MatchesChanged { .. }
        | Error::PreconditionFailed
        | Error::IdempotencyKeyReused
        | Error::Gone(_) => 5,
        Error::Invalid(_)
        | Error::Rejected(_)
        | Error::BatchLimit { .. }
        | Error::BadRequest(_)
        | Error::ObjectTooLarge { .. }
        | Error::BodyTooLarge
        | Error::UnsupportedMedia
        | Error::Blocked(_) => 6,
        Error::DataLoss(_) => 8,
        Error::Busy(_)
        | Error::Unreachable(_)
        | Error::TooManyRequests { .. }
        | Error::WouldBlock
        | Error::NoSpace(_) => 9,
    }
}

impl From<FailureKind> for Failure {
    fn from(kind: FailureKind) -> Self {
        Self { kind, hints: Vec::new() }
    }
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Self {
        FailureKind::InvalidInput(vec![diagnostic]).into()
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let hint = match &error {
            Error::Unauthenticated => "check the key in CMS_KEY or --key-file".to_owned(),
            Error::Forbidden => "use a key with more rights (see `cms key list`); a create is also refused at --max-objects or --max-types of the server"
                .to_owned(),
            Error::DataLoss(names) => {
                let names = names.iter().map(|name| format!("--allow-data-loss={name}"));
                format!("allow it with {}", names.collect::<Vec<_>>().join(" "))
            }
            Error::Busy(_) => "it is safe to repeat the command".to_owned(),
            Error::Unreachable(_) => {
                "check that the server runs at this URL; it is safe to repeat the command"
                    .to_owned()
            }
            Error::OutcomeUnknown => {
                "the change may be stored: check the content before you repeat the command"
                    .to_owned()
            }
            Error::TooManyRequests { .. } => "wait a second, then repeat the command".to_owned(),
            Error::NoSpace(_) => {
                "free space on the disk of the data directory, then repeat the command".to_owned()
            }
            _ => return FailureKind::Target(error).into(),
        };
        Self::from(FailureKind::Target(error)).hint(hint)
    }
}

/// Errors of standard output; errors of files name the file.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            FailureKind::Closed.into()
        } else {
            Self::unwritable("standard output", error)
        }
    }
}
