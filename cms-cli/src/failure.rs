//! Why a command failed, and the exit code that says so (see the table in `cms --help`).

use std::{fmt::Display, io};

use cms_core::Error;

/// A failed command: what happened, and what the user can do next.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) kind: Kind,
    pub(crate) hints: Vec<String>,
}

#[derive(Debug)]
pub(crate) enum Kind {
    /// The command was used wrongly, or names a file that cannot be read.
    Usage(String),
    /// What the target answered.
    Target(Error),
    /// Mistakes in files that describe types.
    Faults(Vec<Fault>),
    /// Reading or writing failed on this side.
    Local(String),
    /// Nobody reads the output any more.
    Closed,
}

/// One mistake in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// `file:line:column`, as far as it is known.
    pub(crate) place: String,
    pub(crate) message: String,
}

/// Result of a command or a part of it.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// How a command that did not fail ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// Some objects were refused.
    Partly,
    /// All objects were refused; with the exit code of the reason.
    Refused(u8),
    /// Something of what was asked for is not there.
    Missing,
    /// A plan that cannot be applied.
    Blocked,
    /// A check found something wrong, and it stays so.
    Unsound,
    /// There are changes, and the caller asked to be told by the exit code.
    Changes,
}

impl Outcome {
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Missing => 4,
            Self::Blocked | Self::Unsound => 6,
            Self::Partly => 7,
            Self::Refused(code) => code,
            Self::Changes => 10,
        }
    }
}

impl Failure {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Kind::Usage(message.into()).into()
    }

    /// An input file that cannot be read.
    pub(crate) fn unreadable(place: impl Display, reason: impl Display) -> Self {
        Self::usage(format!("cannot read {place}: {reason}"))
    }

    /// An output file that cannot be written.
    pub(crate) fn unwritable(place: impl Display, reason: impl Display) -> Self {
        Self::local(format!("cannot write {place}: {reason}"))
    }

    /// Something else that did not work on this side.
    pub(crate) fn local(message: impl Into<String>) -> Self {
        Kind::Local(message.into()).into()
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match &self.kind {
            Kind::Usage(_) => 2,
            Kind::Target(error) => exit_code(error),
            Kind::Faults(_) => 6,
            Kind::Local(_) => 1,
            Kind::Closed => 0,
        }
    }
}

/// Returns the exit code of an error of the core.
pub(crate) fn exit_code(error: &Error) -> u8 {
    match error {
        Error::Internal(_) | Error::Damaged(_) => 1,
        Error::Unsupported(_) => 2,
        Error::Unauthenticated | Error::Forbidden => 3,
        Error::NotFound { .. } => 4,
        Error::Conflict(_)
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
        Error::Busy(_) | Error::Unreachable(_) | Error::TooManyRequests | Error::NoSpace(_) => 9,
    }
}

impl From<Kind> for Failure {
    fn from(kind: Kind) -> Self {
        Self { kind, hints: Vec::new() }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let hint = match &error {
            Error::Unauthenticated => {
                Some("the server does not know the key of CMS_KEY or --key-file".to_owned())
            }
            Error::Forbidden => {
                Some("a key of another kind is needed, see `cms key list`".to_owned())
            }
            Error::DataLoss(names) => {
                let names = names.iter().map(|name| format!("--allow-data-loss={name}"));
                Some(format!("{} agrees to that", names.collect::<Vec<_>>().join(" ")))
            }
            Error::Busy(_) | Error::Unreachable(_) => {
                Some("it is safe to repeat the command".to_owned())
            }
            Error::TooManyRequests => Some("wait a second, then repeat the command".to_owned()),
            Error::NoSpace(_) => {
                Some("make room on the disk of the data folder, then repeat the command".to_owned())
            }
            _ => None,
        };
        let failure = Self::from(Kind::Target(error));
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

/// Errors of standard output; files are reported with their names instead.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Kind::Closed.into()
        } else {
            Self::unwritable("standard output", error)
        }
    }
}
