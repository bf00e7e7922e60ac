use std::ops::Bound;

use super::*;
use crate::search::query::{Pattern, Piece, Scalar, Value};

/// A query in one line: `(+all any -none)`, `path:test`, `=value`, `*` for everything.
fn show(query: &Query) -> String {
    match query {
        Query::All => "*".to_owned(),
        Query::None => "nothing".to_owned(),
        Query::Boost(query, factor) => format!("{}^{factor}", show(query)),
        Query::Field { path: None, test } => show_test(test),
        Query::Field { path: Some(path), test } => format!("{path}:{}", show_test(test)),
        Query::Boolean { must, should, must_not } => {
            let marked = |mark: &'static str, list: &[Query]| {
                list.iter().map(|query| format!("{mark}{}", show(query))).collect::<Vec<_>>()
            };
            let parts = [marked("+", must), marked("", should), marked("-", must_not)].concat();
            format!("({})", parts.join(" "))
        }
    }
}

fn show_test(test: &Test) -> String {
    match test {
        Test::Word(word) => word.clone(),
        Test::Fuzzy { word, edits } => format!("{word}~{edits}"),
        Test::Phrase(words) => format!("\"{}\"", words.join(" ")),
        Test::Wildcard(Pattern(pieces)) => {
            format!("/{}/", pieces.iter().map(show_piece).collect::<String>())
        }
        Test::Equals(scalar) => format!("={}", show_scalar(scalar)),
        Test::Exists => "any".to_owned(),
        Test::Range { from, to } => {
            let bound = |bound: &Bound<Value>, signs: [&str; 2]| match bound {
                Bound::Unbounded => String::new(),
                Bound::Included(value) => format!("{}{}", signs[0], show_value(value)),
                Bound::Excluded(value) => format!("{}{}", signs[1], show_value(value)),
            };
            format!("{}{}", bound(from, [">=", ">"]), bound(to, ["<=", "<"]))
        }
    }
}

fn show_piece(piece: &Piece) -> char {
    match piece {
        Piece::Char(c) => *c,
        Piece::One => '?',
        Piece::Many => '*',
    }
}

fn show_scalar(scalar: &Scalar) -> String {
    match scalar {
        Scalar::Bool(value) => value.to_string(),
        Scalar::Integer(value) => value.to_string(),
        Scalar::Number(value) => format!("{value:?}"),
    }
}

/// The text in quotes; behind it the number, if it is one.
fn show_value(value: &Value) -> String {
    let number = value.number.as_ref().map(show_scalar).unwrap_or_default();
    format!("'{}'{number}", value.text)
}

fn request(q: &str, mode: QueryMode) -> SearchRequest {
    SearchRequest { q: Some(q.to_owned()), mode, ..SearchRequest::default() }
}

fn filtered(path: &str, text: &str) -> SearchRequest {
    let filters = vec![(path.to_owned(), text.to_owned())];
    SearchRequest { filters, ..request("", QueryMode::Default) }
}

fn read(q: &str, mode: QueryMode) -> String {
    show(&Search::read(&request(q, mode)).expect(q).query)
}

fn read_filter(path: &str, text: &str) -> String {
    show(&Search::read(&filtered(path, text)).expect(text).filter)
}

#[test]
fn q_is_read_with_any_word_as_the_rule() {
    let table = [
        // words
        ("", "*"),
        (" * ", "*"),
        ("Hello", "hello"),
        ("Zwölf Äpfel", "(zwölf äpfel)"),
        ("foo-bar, 12.5!", "((foo bar) (12 5))"),
        ("...", "nothing"),
        ("\"\"", "nothing"),
        ("!!! a", "a"),
        ("a OR *", "(a *)"),
        // operators
        ("a b c", "(a b c)"),
        ("a OR b", "(a b)"),
        ("a AND b", "(+a +b)"),
        ("a b AND c", "(a (+b +c))"),
        ("a AND b OR c AND d", "((+a +b) (+c +d))"),
        ("a AND (b OR c)", "(+a +(b c))"),
        ("a -b", "(a -b)"),
        ("a NOT b", "(a -b)"),
        ("a AND NOT b", "(+a -b)"),
        ("+a b", "(+a b)"),
        ("+a -b c d", "(+a c d -b)"),
        ("a OR b -c", "(a b -c)"),
        ("a OR NOT b", "(a (+* -b))"),
        ("NOT a OR b", "((+* -a) b)"),
        ("-a", "(+* -a)"),
        ("-a -b", "(+* -a -b)"),
        ("NOT NOT a", "a"),
        ("NOT (a b)", "(+* -(a b))"),
        ("-foo-bar x", "(x -(foo bar))"),
        ("a - b", "(a b)"),
        ("and or not", "(and or not)"),
        ("ANDROID", "android"),
        ("NOT\"a b\"", "(+* -\"a b\")"),
        ("a AND !!!", "a"),
        // groups
        ("(a)", "a"),
        ("(a b)^2 c", "((a b)^2 c)"),
        ("() a", "a"),
        ("((a) (b AND c))", "(a (+b +c))"),
        // phrases
        ("\"Hello World\"", "\"hello world\""),
        ("\"post-900923\"", "\"post 900923\""),
        ("\"one\"", "one"),
        ("\"a b\"^1.5 c", "(\"a b\"^1.5 c)"),
        ("\"a \\\" b\"", "\"a b\""),
        ("a\"b c\"d", "(a \"b c\" d)"),
        // ends of words
        ("a^2", "a^2"),
        ("a^0 b^x c^", "((a 0) (b x) c)"),
        ("hello~", "hello~1"),
        ("hello~0", "hello"),
        ("hello~2^3", "hello~2^3"),
        ("hello~7", "(hello 7)"),
        ("ab~ abc~ abcdef~", "(ab abc~1 abcdef~2)"),
        // wildcards
        ("te?t", "/te?t/"),
        ("Te**t", "/te*t/"),
        ("foo-b*", "(foo /b*/)"),
        ("foo-*", "foo"),
        ("te\\*t", "(te t)"),
        ("Ä*\u{308}^2", "/ä*\u{308}/^2"),
        // fields
        ("title:Foo", "title:foo"),
        ("title:foo bar", "(title:foo bar)"),
        ("title:(foo bar)", "(title:foo title:bar)"),
        ("title:(foo AND -bar)", "(+title:foo -title:bar)"),
        ("title:\"foo bar\"", "title:\"foo bar\""),
        ("title:*", "title:any"),
        ("title:a*", "title:/a*/"),
        ("-title:foo", "(+* -title:foo)"),
        ("list[*].sub[0].name:x", "list.sub.name:x"),
        ("cat[*].dataUrl:x", "cat:x"),
        ("http://a.b", "(http a b)"),
        ("12:30 a: b :c", "((12 30) a b c)"),
        ("a\\:b", "(a b)"),
        ("ti*:b", "(/ti*/ b)"),
        ("a:b:c", "(a:b a:c)"),
        ("title:foo-bar", "(title:foo title:bar)"),
        ("price:-5", "((+price:5 -price:=5) price:=-5)"),
        // ranges
        ("n:[1 TO 5]", "n:>='1'1<='5'5"),
        ("n:{1.5 TO b]^2", "n:>'1.5'1.5<='b'^2"),
        ("n:[* TO 5}", "n:<'5'5"),
        ("n:[* TO *]", "n:any"),
        ("n:[\"A B\" TO \"c\\]d\"]", "n:>='a b'<='c]d'"),
        ("n:>10 n:>=10 n:<10 n:<=10", "(n:>'10'10 n:>='10'10 n:<'10'10 n:<='10'10)"),
        ("n:>\"a b\"", "n:>'a b'"),
        (">10 [1 TO 2]", "(10 1 to 2)"),
        // literally
        ("(a AND b", "(a and b)"),
        ("a) OR b", "(a or b)"),
        ("\"a OR b", "(a or b)"),
        ("a AND", "(a and)"),
        ("OR a", "(or a)"),
        ("a AND OR b", "(a and or b)"),
        ("a NOT", "(a not)"),
        ("NOT AND a", "(not and a)"),
        ("title:(foo", "(title foo)"),
        ("(title:)", "title"),
        ("n:[1 TO 5", "(n 1 to 5)"),
        ("n:[1, 5]", "(n 1 5)"),
        ("n:[ TO 5]", "(n to 5)"),
        ("n:>", "n"),
        // scripts without blanks, links
        ("日本", "\"日 本\""),
        ("iPhone手机 x", "(\"iphone 手 机\" x)"),
        ("日*", "日"),
        ("/api/v1/content/post/p-1", "\"post p 1\""),
        ("a \"/api/v1/content/post/p%201\"", "(a \"post p 1\")"),
        ("\\", "nothing"),
    ];
    for (text, expected) in table {
        assert_eq!(read(text, QueryMode::Default), expected, "{text}");
    }
}

#[test]
fn filters_need_all_words_of_one_field() {
    let table = [
        ("", "*"),
        ("*", "p:any"),
        ("Red Wine", "(+p:red +p:wine)"),
        ("\"Red Wine\"", "p:\"red wine\""),
        ("red wine OR beer", "((+p:red +p:wine) p:beer)"),
        ("red NOT wine", "(+p:red -p:wine)"),
        ("a OR b -c", "(p:a (+p:b -p:c))"),
        ("-a", "(+* -p:a)"),
        ("foo-bar", "(+p:foo +p:bar)"),
        ("a:b", "(+p:a +p:b)"),
        ("12", "(p:12 p:=12)"),
        ("12.5", "(p:\"12 5\" p:=12.5)"),
        ("-5", "((+p:5 -p:=5) p:=-5)"),
        ("1 OR 2", "((p:1 p:=1) (p:2 p:=2))"),
        ("true", "(p:true p:=true)"),
        ("False", "p:false"),
        ("1e400", "p:1e400"),
        (">10", "p:>'10'10"),
        (">= 10 <20", "(+p:>='10'10 +p:<'20'20)"),
        ("[1 TO 5] OR 7", "(p:>='1'1<='5'5 (p:7 p:=7))"),
        ("[draft]", "p:draft"),
        ("AND", "p:and"),
        ("hell?", "p:/hell?/"),
        ("hello~1", "p:hello~1"),
        ("...", "nothing"),
        ("/api/v1/content/cat/red wine", "p:\"cat red wine\""),
    ];
    for (text, expected) in table {
        assert_eq!(read_filter("p", text), expected, "{text}");
    }
    assert_eq!(read_filter("", "a"), "nothing");
    let several = SearchRequest {
        filters: vec![("a".to_owned(), "x".to_owned()), ("b[*]".to_owned(), "y".to_owned())],
        post_filters: vec![("c".to_owned(), "z w".to_owned())],
        ..request("hello", QueryMode::Fuzzy)
    };
    let search = Search::read(&several).unwrap();
    assert_eq!(show(&search.query), "hello~1");
    assert_eq!(show(&search.filter), "(+a:x +b:y)");
    assert_eq!(show(&search.post_filter), "(+c:z +c:w)");
}

#[test]
fn dates_of_internal_are_asked_for_in_seconds() {
    let path = "internal.createdAt";
    let table = [
        ("2020-01-22", "internal.createdAt:=1579651200"),
        ("2020-01-22 14:34:36", "internal.createdAt:=1579703676"),
        ("\"2020-01-22 14:34:36\"", "internal.createdAt:=1579703676"),
        (">2020-01-22", "internal.createdAt:>'2020-01-22'1579651200"),
        (">=2020-01-22 14:34", "internal.createdAt:>='2020-01-22 14:34'1579703640"),
        (
            "[2020-01-22 TO 2020-01-22T14:34:36Z}",
            "internal.createdAt:>='2020-01-22'1579651200<'2020-01-22t14:34:36z'1579703676",
        ),
        ("@5 OR @6", "(internal.createdAt:=5 internal.createdAt:=6)"),
    ];
    for (text, expected) in table {
        assert_eq!(read_filter(path, text), expected, "{text}");
    }
    assert_eq!(
        read("internal.updatedAt:2020-01-22", QueryMode::Default),
        "internal.updatedAt:=1579651200"
    );
    assert_eq!(read_filter("internal.status", "public"), "internal.status:public");
    assert_eq!(read_filter("day", "2020-01-22"), "(+day:2020 +day:01 +day:22)");
}

#[test]
fn modes_say_how_words_match() {
    let table = [
        ("Hello OR -World", "\"hello or world\"", "(hello~1 (+* -world~1))"),
        ("ab", "ab", "ab"),
        ("title:wonderful", "\"title wonderful\"", "title:wonderful~2"),
        ("\"hello world\" x", "\"hello world x\"", "(\"hello world\" x)"),
        ("\"hello\"", "hello", "hello"),
        ("hello~0 w*", "\"hello 0 w\"", "(hello /w*/)"),
        ("(hello", "hello", "hello~1"),
        ("*", "*", "*"),
        ("", "*", "*"),
        ("?!", "nothing", "/?/"),
    ];
    for (text, exact, fuzzy) in table {
        assert_eq!(read(text, QueryMode::Exact), exact, "{text}");
        assert_eq!(read(text, QueryMode::Fuzzy), fuzzy, "{text}");
    }
}
