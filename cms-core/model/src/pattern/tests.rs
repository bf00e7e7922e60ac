use std::{
    io::Write,
    process::{Command, Stdio},
};

use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};
use serde_json::{Value, json};

use super::{Pattern, StepBudget, backtrack, is_supported};

/// Patterns with texts. Node checks the expected results below.
const PATTERNS: [(&str, &[&str]); 91] = [
    // Patterns that clients use.
    ("^[a-zA-Z0-9-_]*$", &["", "a-b_c", "a b", "é"]),
    (r#"^[a-zA-Z0-9-_.,:=!?#$%&(\`\’\{\}" ]*$"#, &["a-b_.,:=!?#$%&(`’{}\" ", "a/b", ")", "’", "'"]),
    (r"^$|^[a-zA-Z0-9_.+-]+@[a-zA-Z0-9_.+-]+?\.[a-zA-Z]{2,}$", &["", "a@b.co", "a@b", "a b@c.de"]),
    (
        r"^([12]\d{3}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01]))T?(([0-1]?[0-9]|2[0-3]):[0-5][0-9])?$",
        &["2021-12-12T12:00", "2021-12-12", "2021-13-12", "٢٠٢١-12-12"],
    ),
    (
        r"^$|^([12]\d{3}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01]))T?(([0-1]?[0-9]|2[0-3]):[0-5][0-9])?(:[0-5][0-9])?(\.[0-9]{3})?(Z|([\+-]\d{2}(:\d{2})?))?$",
        &["", "2021-12-12T12:00:01.123+01:00", "2021-12-12T12:00Z", "2021-12-12T25:00"],
    ),
    (r"^(?=.*\d)(?=.*[A-Z])(?=.*[^\w]).{4,}$", &["Abc1!", "abc1!", "A1!", "Ab\n1!x"]),
    (r"(?=.*\d)(?=.*[A-Z])", &["a1A", "A", "1", "a1\nA"]),
    (r"^(?!draft)", &["draft-1", "public", ""]),
    (r"^(?:(?!<script).)*$", &["a < b", "a<script>", "a\nb"]),
    (r"^[^@\s]+@[^@\s]+$", &["a@b", "a @b", "a\u{feff}@b", "a\u{180e}@b"]),
    ("^[0-9]+x[0-9]+$", &["1x2", "x"]),
    (r"^\p{L}+$", &["Ünïcödé", "a1", "日本"]),
    (r"^[\p{L}\p{N}_-]{1,64}$", &["é-9", "é 9"]),
    (r"^\P{Lu}*$", &["abc", "aBc"]),
    (r"^\p{Script=Greek}+$", &["αβγ", "abc"]),
    (r"^\p{sc=Grek}+\p{gc=Lu}$", &["αβΓ", "αβγ"]),
    (r"\p{Emoji_Presentation}", &["😀", "a", "1"]),
    (r"^[\P{L}]+$", &["12", "a"]),
    // Dots, classes and boundaries.
    ("^.$", &["a", "\n", "\r", "\u{2028}", "\u{2029}", "\u{85}", "😀", "\u{0}", ""]),
    ("^[^]$", &["a", "\n", "\u{2028}", "", "ab"]),
    ("a[]b|c", &["ab", "c", "a[]b"]),
    (r"^[\s\S]$", &["\n", "😀", "ab"]),
    (r"^\d+$", &["12", "٣", "1a"]),
    (r"^\D+$", &["12", "٣", "a"]),
    (r"^\w+$", &["aZ_9", "é", "ſ", "K"]),
    (r"^\W+$", &["aZ_9", "é", "-"]),
    (
        r"^\s+$",
        &[
            " \t\n\u{b}\u{c}\r",
            "\u{a0}\u{1680}\u{2003}\u{202f}\u{205f}\u{3000}\u{feff}",
            "\u{2028}",
            "\u{85}",
            "\u{200b}",
        ],
    ),
    (r"^\S+$", &["\u{85}\u{200b}", "\u{a0}"]),
    (r"\bcat\b", &["a cat.", "concat", "écat", "cat"]),
    (r"\Bcat", &["concat", "cat", "écat"]),
    (r"é\b", &["é", "éa", "é "]),
    (r"^\B$", &["", "a"]),
    (r"\B", &["a", "ab", "é", "a b", ""]),
    (r"a$", &["a", "a\n", "ab"]),
    (r"^b", &["b", "a\nb"]),
    (r"[\b]", &["\u{8}", "b"]),
    (r"[a\-z]", &["-", "b"]),
    (r"^[--a]$", &["-", "A", "b"]),
    (r"^[a-]$", &["-", "a", "b"]),
    (r"^[-a]$", &["-", "a", "b"]),
    (r"^[\w-.]$", &["-", ".", "a", "/"]),
    (r"^[\w-]$", &["-", "a", "."]),
    (r"^[a-\d]$", &["-", "a", "5", "b"]),
    (r"^[^a-c]$", &["d", "b", "\n", "😀"]),
    (r"[&&a]", &["&", "a", "b"]),
    (r"[[a]", &["[", "a"]),
    (r"^[😀-😂]$", &["😁", "😃"]),
    (r"^[(.*+?{}|^$]$", &["(", "^", "a"]),
    // Escapes.
    (r"^\0$", &["\u{0}", "0"]),
    (r"^[\0-\x1f]$", &["\u{1}", " "]),
    (r"^\t\n\v\f\r$", &["\t\n\u{b}\u{c}\r", "t"]),
    (r"^\cJ\cj$", &["\n\n", "J"]),
    (r"^\x41\u0042\u{43}\u{000044}$", &["ABCD", "x41"]),
    (r"^\ud83d\ude00$", &["😀", "a"]),
    (r"^[\ud83d\ude00-\ud83d\ude02]$", &["😁", "😃"]),
    (r"^\u{1F600}$", &["😀"]),
    (r"^\/\^\$\.\*\+\?\(\)\[\]\{\}\|\\$", &["/^$.*+?()[]{}|\\", "/"]),
    (r"^\_\-\@\’\é$", &["_-@’é"]),
    // Braces and brackets as literals.
    ("^{.*}$", &["{a}", "a"]),
    ("^a{,2}$", &["a{,2}", "aa"]),
    ("^a]b}$", &["a]b}"]),
    ("^x{a}$", &["x{a}"]),
    ("{", &["{", "a"]),
    // Quantifiers.
    ("^a{2}$", &["a", "aa", "aaa"]),
    ("^a{2,}?b", &["ab", "aaab"]),
    ("^(?:ab){1,2}$", &["ab", "abab", "ababab", ""]),
    ("^(?:ab){0}$", &["", "ab"]),
    ("^a{0,2}?$", &["", "aa", "aaa"]),
    ("^(?:a?){3}$", &["", "a", "aaa", "aaaa"]),
    ("^(?:a*)*b$", &["aaab", "b", "aaa"]),
    ("^(?:a|ab)(?:c|bcd)(?:d*)$", &["abcd", "abc", "acd"]),
    ("^.{3}$", &["日本語", "ab"]),
    // Groups and references.
    (r"^(a)\1$", &["aa", "ab"]),
    (r"^(?<year>\d{4})-\k<year>$", &["2020-2020", "2020-2021"]),
    (r"^\k<a>(?<a>x)$", &["x", "xx"]),
    (r"^\1(a)$", &["a", "aa"]),
    (r"^(a\1)$", &["a", "aa"]),
    (r"^(?:(a)|b)*\1$", &["ab", "aba", "b", "aa"]),
    (r"^(?:(a)|(b)|c)+\1\2$", &["abc", "abab", "aa", "bb", "ba"]),
    (r"^(z)((a+)?(b+)?(c))*\4$", &["zaacbbbcac", "zaacbbbcacb"]),
    (r"^(a*)*\1$", &["", "a", "aa"]),
    (r"(\w+)\s\1", &["the the", "the then", "a b"]),
    (r"^(?=(a+))a*b\1", &["baaabac", "aaba", "ab"]),
    (r"(?=(a+))a*b\1", &["baaabac"]),
    (r"^(?!(a)b)a\1c", &["ac", "aac", "ab"]),
    (r"(.*?)a(?!(a+)b\2c)\2(.*)", &["baaabaac"]),
    // Look-behind matches backwards.
    (r"(?<=\$)\d+(?!\d)", &["$42", "€42"]),
    (r"(?<!a)b", &["ab", "cb", "b"]),
    (r"(?<=(\d+)(\d+))$", &["1053"]),
    (r"(?<=^(\w+)-\1)$", &["ab-ab", "ab-cb"]),
    (r"^(?<=(?<!x)a??)b|(?<=\1(c))d", &["b", "ccd", "d"]),
];

const REJECTED: [&str; 45] = [
    // Flags, possessive and atomic groups, anchors and classes of other dialects.
    "(?i)a",
    "(?i:a)",
    "(?-i)a",
    "(?x) a",
    "(?s).",
    "a++",
    "a*+",
    "a?+",
    "a{2}+",
    "(?>a)",
    r"\Aa",
    r"a\z",
    r"a\Z",
    r"\h",
    r"\R",
    r"\Q",
    r"\e",
    r"\a",
    r"\K",
    r"\G",
    r"\y",
    "(?P<n>a)",
    "(?#a)",
    "(?|a)",
    r"(?'n'a)",
    "(?<n>a)(?<n>b)",
    r"\k<n>",
    r"\k",
    r"(?<1>a)",
    r"(?<n",
    // Unbalanced, out of order, or without an atom to repeat.
    "(",
    ")",
    "a)",
    "[",
    "[a",
    "*",
    "+a",
    "{2}",
    "a**",
    "a{2,1}",
    "[z-a]",
    "^*",
    r"\b+",
    r"\",
    // Octal numbers.
    r"\08",
];

fn is_match(pattern: &str, text: &str) -> Option<bool> {
    let pattern = Pattern::new(pattern).ok()?;
    let mut budget = StepBudget::of_bytes(text.len());
    let found = pattern.is_match(text, &mut budget);
    // The DFA and the backtracking matcher agree.
    let mut budget = StepBudget::of_bytes(text.len());
    assert_eq!(backtrack::is_match(&pattern.program, text, &mut budget), found);
    Some(found)
}

#[test]
fn patterns_of_other_dialects_are_rejected() {
    for pattern in REJECTED {
        assert!(!is_supported(pattern), "{pattern}");
    }
    for pattern in [
        r"\1",
        r"[\1]",
        r"[\B]",
        r"\x4",
        r"\u12",
        r"\u{110000}",
        r"\c1",
        r"\p{Nothing}",
        r"\p{^L}",
        r"\pL",
        r"(?=a)*",
    ] {
        assert!(!is_supported(pattern), "{pattern}");
    }
    let (deep, long) = ("(".repeat(100_000), "a".repeat(100_000));
    assert!(!is_supported(&deep) && !is_supported(&long));
    assert!(!is_supported(&format!("{}a{}", "(".repeat(300), ")".repeat(300))));
    assert!(is_supported(&format!("{}a{}", "(".repeat(100), ")".repeat(100))));
}

/// Compares with Node: in `u` mode where it accepts the pattern, otherwise without flags.
#[test]
fn patterns_match_what_node_matches() {
    let rows: Vec<(&str, &str)> = PATTERNS
        .iter()
        .flat_map(|(pattern, texts)| texts.iter().map(|text| (*pattern, *text)))
        .collect();
    let found: Vec<Option<bool>> =
        rows.iter().map(|(pattern, text)| is_match(pattern, text)).collect();
    assert!(found.iter().all(Option::is_some));
    let rejected = REJECTED.iter().map(|pattern| (*pattern, ""));
    let all: Vec<(&str, &str)> = rows.iter().copied().chain(rejected).collect();
    let Some(expected) = node(&all) else {
        eprintln!("skipped: Node is not installed");
        return;
    };
    for (((pattern, text), found), expected) in rows.iter().zip(found).zip(&expected) {
        assert_eq!(found, *expected, "{pattern} on {text:?}");
    }
    assert!(expected[rows.len()..].iter().all(Option::is_none));
}

/// Runs patterns on texts in Node; none for a pattern that it rejects.
fn node(rows: &[(&str, &str)]) -> Option<Vec<Option<bool>>> {
    // Without `u`, escapes of other dialects are letters, and code points beyond 16 bits are two
    // characters: patterns with these run only with `u`.
    const SCRIPT: &str = r"
        const compile = (pattern) => {
            try { return new RegExp(pattern, 'u') } catch {}
            const same = /\\([dDsSwWbBtnvfr]|[1-9]|0(?![0-9])|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})/g
            if (/\\[a-zA-Z0-9]|[^\u0000-\uffff]/u.test(pattern.replace(same, ''))) return null
            try { return new RegExp(pattern) } catch { return null }
        }
        const rows = JSON.parse(require('fs').readFileSync(0, 'utf8'))
        const test = ([pattern, text]) => compile(pattern)?.test(text) ?? null
        console.log(JSON.stringify(rows.map(test)))";
    let mut child = Command::new("node")
        .args(["-e", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let input = serde_json::to_vec(rows).unwrap();
    child.stdin.take().unwrap().write_all(&input).unwrap();
    let output = child.wait_with_output().unwrap();
    let results: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    Some(results.iter().map(Value::as_bool).collect())
}

#[test]
fn patterns_on_the_dfa_match_long_texts() {
    let text = format!("{}1A!", "a".repeat(1_000_000));
    for pattern in [
        "^[a-zA-Z0-9!]*$",
        r"^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)(?=.*[^\w]).{8,}$",
        r"(?=.*\d)(?=.*[A-Z])",
        "^(?:(?!<script).)*$",
        "^(?:(?!<script).)+$",
        r"^[\s\S]{1,2000000}$",
        r"^(?:[\p{L}\p{N}]{1,64}!?)+$",
        r"(\d).*!$",
        r"(a)\1",
    ] {
        let mut budget = StepBudget::of_bytes(text.len());
        let compiled = Pattern::new(pattern).unwrap();
        assert!(compiled.is_match(&text, &mut budget), "{pattern}, {budget:?}");
    }
}

#[test]
fn patterns_stop_at_their_budget() {
    let text = "a".repeat(1_000_000);
    for pattern in [r"(?=.*\d)(?=.*[A-Z])", r"^(a|aa)+\1b$", r"(a*)*\1b", r"(?:(?=.*b)a|a)*c(?=)"] {
        let compiled = Pattern::new(pattern).unwrap();
        let mut budget = StepBudget::of_bytes(0);
        assert!(!compiled.is_match(&text, &mut budget), "{pattern}");
        assert!(budget.is_exhausted() && budget.left == 0, "{pattern}");
    }
}

#[test]
fn patterns_with_too_large_automata_run_on_the_backtracking_matcher() {
    let pattern = Pattern::new("[ab]*a[ab]{500}c").unwrap();
    let mut random = 1_u32;
    let letter = |_| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if random >> 31 == 0 { 'a' } else { 'b' }
    };
    let text: String = (0..200_000).map(letter).collect();
    assert_eq!(pattern.linear.as_ref().unwrap().is_match(&text), None);
    let mut budget = StepBudget::of_bytes(0);
    assert!(!pattern.is_match(&text, &mut budget) && budget.is_exhausted());
    // Repetitions of repetitions are not unrolled.
    let pattern = Pattern::new("^((a{0,100}){0,100}){0,100}$").unwrap();
    assert!(pattern.linear.is_none());
    assert!(pattern.is_match(&"a".repeat(1000), &mut StepBudget::of_bytes(0)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// Any pattern on any text causes no panic and stays within its budget.
    #[test]
    fn patterns_never_panic_and_are_bounded(pattern in FRAGMENTS, text in "[ab\n1é😀 -]{0,40}") {
        if let Ok(pattern) = Pattern::new(&pattern) {
            let mut budget = StepBudget::of_bytes(0);
            let found = backtrack::is_match(&pattern.program, &text, &mut budget);
            if let Some(linear) = pattern.linear.as_ref().and_then(|linear| linear.is_match(&text)) {
                prop_assert!(linear == found || budget.is_exhausted());
            }
        }
    }
}

/// Fragments of patterns in any order.
const FRAGMENTS: &str = concat!(
    r"(\(|\)|\(\?:|\(\?=|\(\?!|\(\?<=|\(\?<!|\(\?<n>|\||\*|\+|\?|\{1,3\}|\{2\}|\{0\}|\{,|\[\^?[ab]",
    r"|\]|-|\^|\$|\.|a|b|é|😀|\\d|\\W|\\s|\\b|\\B|\\1|\\2|\\k<n>|\\p\{L\}|\\u|\\x41|\\0|\\){0,16}",
);

/// Compares random patterns with Node, where it is available.
#[test]
fn random_patterns_match_what_node_matches() {
    let mut runner = TestRunner::deterministic();
    let inputs = (FRAGMENTS, "[ab1é -]{0,12}");
    let mut rows = Vec::new();
    while rows.len() < 3000 {
        let (pattern, text) = inputs.new_tree(&mut runner).unwrap().current();
        if is_supported(&pattern) {
            rows.push((pattern, text));
        }
    }
    let borrowed: Vec<(&str, &str)> = rows.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect();
    let Some(expected) = node(&borrowed) else {
        eprintln!("skipped: Node is not installed");
        return;
    };
    assert!(expected.iter().flatten().count() > 2000);
    for ((pattern, text), expected) in borrowed.iter().zip(expected) {
        let found = is_match(pattern, text);
        assert!(expected.is_none_or(|_| found == expected), "{}", json!([pattern, text]));
    }
}
