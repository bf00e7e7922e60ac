//! Renamed settings: their old flags, variables and keys work for one release, with a warning.

use std::ffi::OsString;

use clap::{ArgMatches, parser::ValueSource};

use crate::settings;

/// Old and new names of settings, as flags. The old flags are aliases in [`crate::cli`].
const RENAMED: [(&str, &str); 1] = [("least-rate", "min-transfer-rate")];

/// Returns the current name of a setting, and adds a warning if it was renamed.
pub(super) fn current<'n>(name: &'n str, warnings: &mut Vec<String>) -> &'n str {
    match RENAMED.iter().find(|(old, _)| *old == name) {
        Some((old, new)) => {
            warnings.push(format!("warning: setting {old} was renamed, use {new}"));
            new
        }
        None => name,
    }
}

/// Returns warnings for the old flags among the arguments.
pub(super) fn flag_warnings(arguments: &[OsString]) -> Vec<String> {
    let is_given = |old: &str| {
        let flag = format!("--{old}");
        arguments.iter().filter_map(|argument| argument.to_str()).any(|argument| {
            argument
                .strip_prefix(&flag)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        })
    };
    let given = RENAMED.iter().filter(|(old, _)| is_given(old));
    given.map(|(old, new)| format!("warning: flag --{old} was renamed, use --{new}")).collect()
}

/// Converts old variables to flags, unless the setting has a flag or a variable of the new name.
pub(super) fn variables(given: &ArgMatches, warnings: &mut Vec<String>) -> Vec<OsString> {
    let mut flags = Vec::new();
    for (old, new) in RENAMED {
        let [old, variable] =
            [old, new].map(|name| format!("CMS_{}", name.to_ascii_uppercase().replace('-', "_")));
        let source = given.value_source(&new.replace('-', "_"));
        let is_unset = matches!(source, None | Some(ValueSource::DefaultValue));
        if let Some(value) = settings::variable(&old).filter(|_| is_unset) {
            warnings.push(format!("warning: variable {old} was renamed, use {variable}"));
            flags.push(format!("--{new}={value}").into());
        }
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renamed_settings_have_a_warning() {
        let arguments = |given: &[&str]| given.iter().map(OsString::from).collect::<Vec<_>>();
        let warning = "warning: flag --least-rate was renamed, use --min-transfer-rate";
        for given in [["--least-rate", "9"], ["--data=d", "--least-rate=9"]] {
            assert_eq!(flag_warnings(&arguments(&given)), [warning]);
        }
        assert!(flag_warnings(&arguments(&["--min-transfer-rate=9", "--least-rates"])).is_empty());

        let mut warnings = Vec::new();
        assert_eq!(current("least-rate", &mut warnings), "min-transfer-rate");
        assert_eq!(current("listen", &mut warnings), "listen");
        assert_eq!(warnings, ["warning: setting least-rate was renamed, use min-transfer-rate"]);
    }
}
