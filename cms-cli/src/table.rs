//! Rows as aligned columns that fit the terminal.
//!
//! Text wraps at spaces. Words that users copy, such as ids, URLs, numbers and dates, are never
//! broken, even if the table becomes wider than the terminal.

use std::{io, iter};

use terminal_size::terminal_size_of;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::settings::variable;

/// Between two columns.
const COLUMN_GAP: &str = "  ";
/// Columns do not shrink below this width.
const MIN_WIDTH: usize = 10;

/// Formats the rows as lines, after the header.
pub(crate) fn aligned(
    header: Option<Vec<String>>,
    rows: impl Iterator<Item = Vec<String>>,
    max_width: Option<usize>,
) -> String {
    let rows = header.into_iter().chain(rows);
    let rows: Vec<Vec<String>> =
        rows.map(|row| row.iter().map(|cell| printable(cell)).collect()).collect();
    let count = rows.iter().map(Vec::len).max().unwrap_or_default();
    let columns: Vec<Column> = (0..count)
        .map(|index| Column::of(rows.iter().filter_map(|row| Some(row.get(index)?.as_str()))))
        .collect();
    let gaps = COLUMN_GAP.len() * count.saturating_sub(1);
    let widths = widths(&columns, max_width.map(|width| width.saturating_sub(gaps)));
    let mut text = String::new();
    for row in &rows {
        let cells: Vec<Vec<String>> =
            row.iter().zip(&widths).map(|(cell, width)| wrapped(cell, *width)).collect();
        for number in 0..cells.iter().map(Vec::len).max().unwrap_or_default().max(1) {
            let mut line = String::new();
            for (cell, width) in cells.iter().zip(&widths) {
                let part = cell.get(number).map_or("", String::as_str);
                line.push_str(part);
                line.extend(iter::repeat_n(
                    ' ',
                    width.saturating_sub(part.width()) + COLUMN_GAP.len(),
                ));
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    text
}

/// The width of the terminal; none where standard output is no terminal, or one of unknown width,
/// as in some containers and editors.
pub(crate) fn terminal_width() -> Option<usize> {
    let (width, _) = terminal_size_of(io::stdout())?;
    known_width(variable("COLUMNS").as_deref(), width.0)
}

fn known_width(columns: Option<&str>, terminal: u16) -> Option<usize> {
    let columns = columns.and_then(|columns| columns.parse::<usize>().ok());
    Some(columns.unwrap_or(terminal.into())).filter(|width| *width > 0)
}

/// Removes control characters, which could move the cursor; line feeds stay.
fn printable(cell: &str) -> String {
    cell.replace("\r\n", "\n").replace(|c: char| c.is_control() && c != '\n', " ")
}

/// The natural and the minimum width of a column.
struct Column {
    natural: usize,
    minimum: usize,
}

impl Column {
    fn of<'c>(cells: impl Iterator<Item = &'c str>) -> Self {
        let (mut natural, mut minimum) = (0, 0);
        for line in cells.flat_map(str::lines) {
            natural = natural.max(line.width());
            let words = line.split(' ').filter(|word| is_unbreakable(word));
            minimum = words.map(UnicodeWidthStr::width).fold(minimum, usize::max);
        }
        Self { natural, minimum: minimum.max(natural.min(MIN_WIDTH)) }
    }
}

/// Returns whether a word must not be broken. JSON and text in scripts without spaces may be.
fn is_unbreakable(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_graphic() && !"{}[]\"".contains(c))
}

/// Distributes the width of the terminal: the widest columns shrink first.
fn widths(columns: &[Column], available: Option<usize>) -> Vec<usize> {
    let capped = |cap: usize| -> Vec<usize> {
        columns.iter().map(|column| column.natural.min(cap).max(column.minimum)).collect()
    };
    let fits = |cap: usize| available.is_none_or(|all| capped(cap).iter().sum::<usize>() <= all);
    let widest = columns.iter().map(|column| column.natural).max().unwrap_or_default();
    if fits(widest) {
        return capped(widest);
    }
    let (mut fitting, mut too_wide) = (0, widest);
    while too_wide - fitting > 1 {
        let middle = usize::midpoint(fitting, too_wide);
        if fits(middle) { fitting = middle } else { too_wide = middle }
    }
    capped(fitting)
}

/// The lines of a cell.
fn wrapped(cell: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in cell.lines() {
        if line.width() <= width {
            lines.push(line.to_owned());
            continue;
        }
        let mut current = String::new();
        for word in line.split(' ') {
            if !current.is_empty() && current.width() + 1 + word.width() > width {
                lines.push(std::mem::take(&mut current));
            }
            if !current.is_empty() {
                current.push(' ');
            }
            if word.width() <= width {
                current.push_str(word);
                continue;
            }
            for c in word.chars() {
                if current.width() + c.width().unwrap_or_default() > width && !current.is_empty() {
                    lines.push(std::mem::take(&mut current));
                }
                current.push(c);
            }
        }
        lines.push(current);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[&[&str]], max_width: Option<usize>) -> String {
        let rows = rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect());
        aligned(None, rows, max_width)
    }

    const URL: &str =
        "https://cms.example/image/0x0/_media-22cc5c6b-553d-4af8-8274-b555f6a2fa3c.jpg";

    #[test]
    fn table_without_a_width_is_as_wide_as_its_cells() {
        let rows: [&[&str]; 3] = [&["ID", "TITLE"], &["a", "A long title of some words"], &["b"]];
        assert_eq!(table(&rows, None), "ID  TITLE\na   A long title of some words\nb\n");
        assert_eq!(table(&rows, Some(80)), table(&rows, None));
        assert_eq!(table(&[], Some(80)), "");
    }

    #[test]
    fn table_wraps_text_at_spaces() {
        let rows: [&[&str]; 2] = [&["ID", "TITLE"], &["a", "A long title of some words"]];
        assert_eq!(table(&rows, Some(18)), "ID  TITLE\na   A long title\n    of some words\n");
        let japanese: [&[&str]; 1] = [&["a", "日本語の文章には空白がない"]];
        assert_eq!(table(&japanese, Some(13)), "a  日本語の文\n   章には空白\n   がない\n");
    }

    #[test]
    fn table_never_breaks_ids_urls_and_numbers() {
        let id = "22cc5c6b-553d-4af8-8274-b555f6a2fa3c";
        let number = "1234567890.123456789";
        let rows: [&[&str]; 1] =
            [&[id, number, URL, "2026-05-10T09:05:00.000000+00:00", "A title"]];
        for width in 0..200 {
            let table = table(&rows, Some(width));
            for word in [id, number, URL, "2026-05-10T09:05:00.000000+00:00"] {
                assert!(table.contains(word), "{word} at {width}: {table}");
            }
        }
        // Within a text, too.
        let rows: [&[&str]; 1] = [&["a", "See https://cms.example/docs for the manual"]];
        assert_eq!(
            table(&rows, Some(10)),
            "a  See\n   https://cms.example/docs\n   for the manual\n"
        );
    }

    #[test]
    fn table_breaks_json_that_does_not_fit() {
        let rows: [&[&str]; 1] = [&["a", r#"{"time":0,"blocks":[]}"#]];
        assert_eq!(table(&rows, Some(15)), "a  {\"time\":0,\"b\n   locks\":[]}\n");
    }

    #[test]
    fn table_shows_no_control_characters() {
        assert_eq!(table(&[&["a\tb", "c\u{1b}[31md\r\ne"]], None), "a b  c [31md\n     e\n");
    }

    #[test]
    fn terminal_of_width_0_has_no_known_width() {
        for (columns, terminal, width) in [
            (None, 80, Some(80)),
            (None, 0, None),
            (Some("0"), 80, None),
            (Some("0"), 0, None),
            (Some("40"), 80, Some(40)),
            (Some(""), 80, Some(80)),
            (Some("wide"), 80, Some(80)),
        ] {
            assert_eq!(known_width(columns, terminal), width, "{columns:?} {terminal}");
        }
    }
}
