//! `cms completions`, `cms man`: generated from the declared arguments.

use std::{fs, path::Path};

use clap::CommandFactory;

use crate::{
    cli::Cli,
    failure::{Failure, Outcome, Result},
    printer::Printer,
};

pub(super) fn completions(shell: clap_complete::Shell, printer: &Printer) -> Result<Outcome> {
    // Generated in memory: the generator panics when it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "cms", &mut script);
    printer.text(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Done)
}

pub(super) fn man(folder: &Path, printer: &Printer) -> Result<Outcome> {
    let unwritable = |error| Failure::unwritable(folder.display(), error);
    fs::create_dir_all(folder).map_err(unwritable)?;
    clap_mangen::generate_to(Cli::command(), folder).map_err(unwritable)?;
    printer.note(&format!("manual pages are in {}", folder.display()))?;
    Ok(Outcome::Done)
}

// The generated page contains `cms serve`, too.
#[cfg(feature = "serve")]
#[cfg(test)]
mod tests {
    use std::{fmt::Write as _, fs, path::Path};

    use clap::{Arg, ArgAction, Command, CommandFactory, builder::StyledStr};

    use crate::cli::Cli;

    const HEAD: &str = "# Commands and flags

After this page you know every command with its arguments, flags, values and defaults. It is the text of
`cms <command> --help`; [The command line](../cli.md) explains how commands work together. All commands have the
[global options](#global-options).
";

    /// docs/reference/cli.md is generated from the declared arguments.
    #[test]
    fn reference_is_generated_from_the_arguments() {
        let mut root = Cli::command();
        root.build();
        let mut page = HEAD.to_owned();
        for command in root.get_subcommands() {
            section(command, &mut page);
        }
        page.push_str("\n## Global options\n\n");
        table(root.get_arguments(), &mut page);
        let path = format!("{}/../docs/reference/cli.md", env!("CARGO_MANIFEST_DIR"));
        if fs::read_to_string(&path).is_ok_and(|known| known == page) {
            return;
        }
        fs::write(format!("{path}.new"), &page).unwrap();
        panic!("docs/reference/cli.md differs from the arguments: move cli.md.new over it");
    }

    fn section(command: &Command, page: &mut String) {
        if command.get_name() == "help" {
            return;
        }
        if command.has_subcommands() {
            return command.get_subcommands().for_each(|one| section(one, page));
        }
        let name = command.get_bin_name().unwrap();
        writeln!(page, "\n## {name}\n").unwrap();
        let about = command.get_long_about().or(command.get_about());
        writeln!(page, "{}\n", about.map(plain).unwrap_or_default()).unwrap();
        let usage = command.clone().render_usage().to_string();
        writeln!(page, "```text\n{}\n```", usage.trim_start_matches("Usage: ")).unwrap();
        if command.get_arguments().any(is_own) {
            page.push('\n');
            table(command.get_arguments().filter(|one| is_own(one)), page);
        }
    }

    fn is_own(argument: &Arg) -> bool {
        !argument.is_global_set() && !argument.is_hide_set() && !is_of_clap(argument)
    }

    /// The flags `--help` and `--version` that clap adds. Some commands have their own `--version`.
    fn is_of_clap(argument: &Arg) -> bool {
        matches!(argument.get_action(), ArgAction::Help | ArgAction::Version)
    }

    fn table<'a>(arguments: impl Iterator<Item = &'a Arg>, page: &mut String) {
        page.push_str("| Argument | Description |\n|---|---|\n");
        for argument in arguments.filter(|one| !is_of_clap(one)) {
            let help = argument.get_long_help().or(argument.get_help()).map(plain);
            let help = help.unwrap_or_default().replace("\n\n", " ").replace('\n', " ");
            let mut row = vec![help];
            let values: Vec<_> = argument.get_possible_values();
            let takes_value = argument.get_action().takes_values();
            if takes_value && !values.is_empty() && argument.get_id() != "o" {
                let names = values.iter().map(|value| format!("`{}`", value.get_name()));
                row.push(format!("Values: {}.", names.collect::<Vec<_>>().join(", ")));
            }
            if takes_value && let [default, ..] = argument.get_default_values() {
                row.push(format!("Default: `{}`.", default.display()));
            }
            let aliases = argument.get_visible_aliases().unwrap_or_default();
            if !aliases.is_empty() {
                let names = aliases.iter().map(|alias| format!("`--{alias}`"));
                row.push(format!("Alias: {}.", names.collect::<Vec<_>>().join(", ")));
            }
            if let Some(variable) = argument.get_env() {
                row.push(format!("Variable: `{}`.", variable.display()));
            }
            row.retain(|part| !part.is_empty());
            let cells = [format!("`{}`", usage(argument)), row.join(" ")];
            let [name, description] = cells.map(|cell| cell.replace('|', "\\|"));
            writeln!(page, "| {name} | {description} |").unwrap();
        }
    }

    /// The argument as its usage line shows it, with the short flag.
    fn usage(argument: &Arg) -> String {
        let shown = argument.to_string();
        match argument.get_short() {
            Some(short) if argument.get_long().is_some() => format!("-{short}, {shown}"),
            _ => shown,
        }
    }

    /// The text with a period at its end: clap removes it from short help texts.
    fn plain(text: &StyledStr) -> String {
        let text = text.to_string().trim().to_owned();
        if text.ends_with(['.', ':']) { text } else { text + "." }
    }

    /// No test runs some commands of the documentation: deployment, containers, upgrades. So this test
    /// checks names, flags and values of all commands in code blocks.
    #[test]
    fn commands_of_the_documentation_are_valid() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut pages = vec![root.join("README.md")];
        for folder in ["docs", "docs/how-to", "docs/reference"] {
            let entries = fs::read_dir(root.join(folder)).unwrap();
            let paths = entries.map(|entry| entry.unwrap().path());
            pages.extend(paths.filter(|path| path.extension().is_some_and(|it| it == "md")));
        }
        let (mut checked, mut errors) = (0, String::new());
        for page in pages.iter().filter(|page| !page.ends_with("reference/cli.md")) {
            let text = fs::read_to_string(page).unwrap();
            let mut is_block = false;
            for (index, line) in text.lines().enumerate() {
                is_block ^= line.starts_with("```");
                let line = line.trim().trim_start_matches("- ").trim_start_matches("run: ");
                let line = line.strip_prefix("$ ").unwrap_or(line);
                // Three dots stand for further arguments, a backslash for the next line.
                let is_complete = !line.contains("...") && !line.ends_with('\\');
                let is_command = line.starts_with("cms ") && !line.starts_with("cms = ");
                if !is_block || !is_command || !is_complete {
                    continue;
                }
                checked += 1;
                if let Err(error) = Cli::command().try_get_matches_from(words(line))
                    && error.use_stderr()
                {
                    let page = page.display();
                    writeln!(errors, "{page}:{}: {line}\n{error}", index + 1).unwrap();
                }
            }
        }
        assert!(checked > 100, "{checked}");
        assert!(errors.is_empty(), "{errors}");
    }

    /// The words of a command as a shell splits them, up to an operator or a comment.
    fn words(line: &str) -> Vec<String> {
        let (mut words, mut word) = (Vec::new(), None::<String>);
        let mut quote = None;
        for c in line.chars() {
            match (quote, c) {
                (Some(open), _) if c == open => quote = None,
                (None, '\'' | '"') => {
                    quote = Some(c);
                    word.get_or_insert_default();
                }
                (None, ' ') => words.extend(word.take()),
                (None, '>') => {
                    // The file descriptor of a redirection is no word: `2> FILE`.
                    word.take_if(|word| word == "2");
                    break;
                }
                (None, '|' | '<' | '&' | ';' | '#') => break,
                _ => word.get_or_insert_default().push(c),
            }
        }
        words.extend(word);
        words
    }
}
