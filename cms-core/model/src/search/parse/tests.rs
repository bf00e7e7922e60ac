use std::{
    ops::Bound,
    time::{Duration, Instant},
};

use proptest::prelude::*;

use super::*;
use crate::{
    error::Error,
    search::{
        analysis,
        query::{PatternToken, Point, ScalarValue, Value, WildcardPattern},
    },
};

/// A query in one line: `(+all any -none)`, `path:test`, `=value`, `*` for everything.
fn show(query: &SearchQuery) -> String {
    match query {
        SearchQuery::All => "*".to_owned(),
        SearchQuery::None => "nothing".to_owned(),
        SearchQuery::Boost(query, factor) => format!("{}^{factor}", show(query)),
        SearchQuery::Field { path: None, condition: test } => show_test(test),
        SearchQuery::Field { path: Some(path), condition: test } => {
            format!("{path}:{}", show_test(test))
        }
        SearchQuery::Boolean { must, should, must_not } => {
            let marked = |mark: &'static str, list: &[SearchQuery]| {
                list.iter().map(|query| format!("{mark}{}", show(query))).collect::<Vec<_>>()
            };
            let parts = [marked("+", must), marked("", should), marked("-", must_not)].concat();
            format!("({})", parts.join(" "))
        }
    }
}

fn show_test(test: &FieldCondition) -> String {
    match test {
        FieldCondition::Word(word) => word.clone(),
        FieldCondition::Fuzzy { word, edits } => format!("{word}~{edits}"),
        FieldCondition::Phrase(words) => format!("\"{}\"", words.join(" ")),
        FieldCondition::Wildcard(pattern) => show_pattern(pattern),
        FieldCondition::Equals(scalar) => format!("={}", show_scalar(scalar)),
        FieldCondition::Exists => "any".to_owned(),
        FieldCondition::Range { from, to } => {
            let bound = |bound: &Bound<Value>, signs: [&str; 2]| match bound {
                Bound::Unbounded => String::new(),
                Bound::Included(value) => format!("{}{}", signs[0], show_value(value)),
                Bound::Excluded(value) => format!("{}{}", signs[1], show_value(value)),
            };
            format!("{}{}", bound(from, [">=", ">"]), bound(to, ["<=", "<"]))
        }
    }
}

fn show_pattern(WildcardPattern(tokens): &WildcardPattern) -> String {
    let show = |token: &PatternToken| match token {
        PatternToken::Char(c) => *c,
        PatternToken::AnyChar => '?',
        PatternToken::AnyChars => '*',
    };
    format!("/{}/", tokens.iter().map(show).collect::<String>())
}

fn show_scalar(scalar: &ScalarValue) -> String {
    match scalar {
        ScalarValue::Bool(value) => value.to_string(),
        ScalarValue::Integer(value) => value.to_string(),
        ScalarValue::Number(value) => format!("{value:?}"),
    }
}

/// The text in quotes, followed by its number, if it is one.
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
fn q_matches_any_word_by_default() {
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
        // boosts and typing errors
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
        ("n:>10^2 n:<\"a\"^3", "(n:>'10'10^2 n:<'a'^3)"),
        (">10 [1 TO 2]", "(10 1 to 2)"),
        // invalid syntax: the words are searched literally
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
fn filters_require_all_words_of_one_field() {
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
        (".5", "(p:5 p:=0.5)"),
        (">.5", "p:>'.5'0.5"),
        ("[.5 TO 2]", "p:>='.5'0.5<='2'2"),
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
        (
            "/api/v1/content/cat/Red-1",
            "p:>='/api/v1/content/cat/red-1'<='/api/v1/content/cat/red-1'",
        ),
        ("2020-01-02", "(p:\"2020 01 02\" p:>='2020-01-02t'<'2020-01-02u')"),
        ("2020-01-02T03:04:05", "p:\"2020 01 02t03 04 05\""),
        ("2020-13-02", "(+p:2020 +p:13 +p:02)"),
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
fn dates_of_internal_become_seconds() {
    let path = "internal.createdAt";
    let table = [
        ("2020-01-22", "internal.createdAt:=1579651200"),
        ("2020-01-22 14:34:36", "internal.createdAt:=1579703676"),
        ("\"2020-01-22 14:34:36\"", "internal.createdAt:=1579703676"),
        (">2020-01-22", "internal.createdAt:>'2020-01-22'1579651200"),
        (">=2020-01-22 14:34", "internal.createdAt:>='2020-01-22 14:34'1579703640"),
        // Objects have whole seconds.
        ("<2020-01-22T14:34:36.5Z", "internal.createdAt:<'2020-01-22t14:34:36.5z'1579703677"),
        (">=2020-01-22T14:34:36.5Z", "internal.createdAt:>='2020-01-22t14:34:36.5z'1579703677"),
        ("<=2020-01-22T14:34:36.5Z", "internal.createdAt:<='2020-01-22t14:34:36.5z'1579703676"),
        (">2020-01-22T14:34:36.5Z", "internal.createdAt:>'2020-01-22t14:34:36.5z'1579703676"),
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
    // The day and the hour form one word: `22t10`.
    assert_eq!(
        read_filter("day", "2020-01-22"),
        "(day:\"2020 01 22\" day:>='2020-01-22t'<'2020-01-22u')"
    );
    assert_eq!(read_filter("day", "2020-01-22 10:30"), "day:\"2020 01 22 10 30\"");
}

#[test]
fn modes_decide_how_words_match() {
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

#[test]
fn paths_are_those_of_the_index() {
    let table = [
        ("title", "title"),
        (" $.title ", "title"),
        ("list[*].sub[12].name", "list.sub.name"),
        ("list[x].name", "list[x].name"),
        ("list[", "list["),
        ("categories[*].dataUrl", "categories"),
        ("categories.dataUrl", "categories"),
        ("dataUrl", "dataUrl"),
        ("internal.createdAt", "internal.createdAt"),
        ("internal.created_at", "internal.createdAt"),
        ("internal.other", "internal.other"),
        ("", ""),
    ];
    for (text, expected) in table {
        assert_eq!(path_of(text), expected, "{text}");
    }
}

#[test]
fn fields_have_weights() {
    let fields = |fields: &[&str]| {
        let fields = fields.iter().map(|&field| field.to_owned()).collect();
        let request = SearchRequest { fields: Some(fields), ..request("*", QueryMode::Default) };
        let search = Search::read(&request).unwrap();
        let weighted = search.fields.unwrap_or_default();
        let show = |field: WeightedField| format!("{}^{}", field.path, field.weight);
        (weighted.into_iter().map(show).collect::<Vec<_>>().join(" "), search.query)
    };
    assert_eq!(fields(&["title^5", "content"]), ("title^5 content^1".to_owned(), SearchQuery::All));
    assert_eq!(
        fields(&["a^0", "b^-1", "c^x", "d^", "e[*].f^0.5", "g^inf", "h^NaN"]).0,
        "a^1 b^1 c^1 d^1 e.f^0.5 g^1 h^1"
    );
    assert_eq!(fields(&["", "^2"]), (String::new(), SearchQuery::None));
    assert_eq!(fields(&[]), (String::new(), SearchQuery::None));
    assert_eq!(Search::read(&request("*", QueryMode::Default)).unwrap().fields, None);
}

#[test]
fn circles_accept_every_unit() {
    let table = [
        ("1.50km,40.1,-19.2", 1500.0),
        ("2,40.1,-19.2", 2.0),
        (" 3m , 40.1 , -19.2 ", 3.0),
        ("0m,40.1,-19.2", 0.0),
        (".5kilometers,40.1,-19.2", 500.0),
        ("3meters,40.1,-19.2", 3.0),
        ("200cm,40.1,-19.2", 2.0),
        ("200centimeters,40.1,-19.2", 2.0),
        ("3000mm,40.1,-19.2", 3.0),
        ("3000millimeters,40.1,-19.2", 3.0),
        ("1mi,40.1,-19.2", 1609.344),
        ("2miles,40.1,-19.2", 3218.688),
        ("1yd,40.1,-19.2", 0.9144),
        ("2yards,40.1,-19.2", 1.8288),
        ("1ft,40.1,-19.2", 0.3048),
        ("2feet,40.1,-19.2", 0.6096),
        ("1in,40.1,-19.2", 0.0254),
        ("2inch,40.1,-19.2", 0.0508),
        ("1nmi,40.1,-19.2", 1852.0),
        ("2NM,40.1,-19.2", 3704.0),
        ("3nauticalmiles,40.1,-19.2", 5556.0),
    ];
    for (text, meters) in table {
        let circle =
            geo_filter::parse("place".to_owned(), &format!("geo_distance,{text}")).expect(text);
        assert!((circle.meters - meters).abs() < 1e-9, "{text}");
        assert_eq!(circle.center, Point { lat: 40.1, lon: -19.2 }, "{text}");
    }
}

#[test]
fn errors_are_reported_together() {
    let geo = |text: &str| SearchRequest {
        geo_filters: vec![("place".to_owned(), text.to_owned())],
        ..request("*", QueryMode::Default)
    };
    for text in [
        "",
        "geo_distance",
        "geo_distance,1km,40.1",
        "geo_distance,1km,40.1,-19.2,0",
        "geo_box,1km,40.1,-19.2",
        "Geo_distance,1km,40.1,-19.2",
        "geo_distance,-1km,40.1,-19.2",
        "geo_distance,1 km,40.1,-19.2",
        "geo_distance,1KM,40.1,-19.2",
        "geo_distance,km,40.1,-19.2",
        "geo_distance,1.2.3km,40.1,-19.2",
        "geo_distance,infm,40.1,-19.2",
        "geo_distance,1km,90.1,0",
        "geo_distance,1km,0,-180.1",
        "geo_distance,1km,NaN,0",
        "geo_distance,1km,x,0",
    ] {
        assert_eq!(errors(&geo(text)), [("geo_filters", geo_filter::INVALID)], "{text}");
    }
    let all = SearchRequest {
        q: None,
        filters: vec![("a".to_owned(), "x ".repeat(1001))],
        post_filters: vec![("a".to_owned(), "x* ".repeat(129))],
        geo_filters: vec![("place".to_owned(), "1km".to_owned())],
        order_by: Some("_geo_distance".to_owned()),
        aggregate_by: vec!["a".to_owned(); 21],
        fields: Some(vec!["a".to_owned(); 101]),
        ..SearchRequest::default()
    };
    let expected = [
        ("fields", "Too many fields, limit: 100"),
        ("q", "The property q is required"),
        ("filters", "Too many words, limit: 1000"),
        ("post_filters", "Too many wildcards and fuzzy words, limit: 128"),
        ("geo_filters", geo_filter::INVALID),
        ("aggregate_by", "Too many aggregations, limit: 20"),
    ];
    assert_eq!(errors(&all), expected);
    let crossed = SearchRequest {
        filters: vec![("a".to_owned(), "x* ".repeat(120)); 3],
        ..request("a* b* c* d*", QueryMode::Default)
    };
    let expansions = "Too many wildcards and fuzzy words, limit: 128";
    assert_eq!(errors(&crossed), [("filters", expansions)]);
    let order = SearchRequest { geo_filters: Vec::new(), ..all };
    assert!(errors(&order).contains(&("order_by", "_geo_distance requires geo_filters")));
}

/// The errors of a request, one for each path.
fn errors(request: &SearchRequest) -> Vec<(&'static str, &'static str)> {
    let Err(Error::Invalid(errors)) = Search::read(request) else { return Vec::new() };
    let leak = |text: &str| -> &'static str { text.to_owned().leak() };
    errors.iter().map(|(path, messages)| (leak(path), leak(&messages.join("; ")))).collect()
}

#[test]
fn search_cost_is_limited() {
    const WORDS: [(&str, &str); 1] = [("q", "Too many words, limit: 1000")];
    const EXPANSIONS: [(&str, &str); 1] = [("q", "Too many wildcards and fuzzy words, limit: 128")];
    let errors_of = |q: String, mode| errors(&request(&q, mode));
    let default = QueryMode::Default;
    for mode in [default, QueryMode::Exact] {
        assert!(errors_of("a ".repeat(1000), mode).is_empty());
        assert_eq!(errors_of("a ".repeat(1001), mode), WORDS);
    }
    assert_eq!(errors_of("* ".repeat(1001), default), WORDS);
    assert_eq!(errors_of("a:* ".repeat(1001), default), WORDS);
    assert_eq!(errors_of("a:>1 ".repeat(1001), default), WORDS);
    assert_eq!(errors_of("日".repeat(1001), default), WORDS);
    assert_eq!(errors_of("(".to_owned() + &"a ".repeat(1001), default), WORDS);
    assert!(errors_of("abc~ ".repeat(128), default).is_empty());
    assert_eq!(errors_of("abc~ ".repeat(129), default), EXPANSIONS);
    assert_eq!(errors_of("a?c ".repeat(129), default), EXPANSIONS);
    assert_eq!(errors_of("abc ".repeat(129), QueryMode::Fuzzy), EXPANSIONS);
    let in_fields = |q: String, fields: usize| {
        let fields = Some(vec!["a".to_owned(); fields]);
        errors(&SearchRequest { fields, ..request(&q, default) })
    };
    assert!(in_fields("a ".repeat(100), 100).is_empty());
    let terms = [("q", "Too many words for so many fields, limit: 10000")];
    assert_eq!(in_fields("a ".repeat(101), 100), terms);
    assert!(in_fields("abc~ ".repeat(12), 10).is_empty());
    assert_eq!(in_fields("abc~ ".repeat(13), 10), EXPANSIONS);
    // Very long words match without typing errors only, so they cost no expansion.
    assert!(errors_of(format!("{} ", "a".repeat(64)).repeat(129), QueryMode::Fuzzy).is_empty());
    // The same holds for short words. A text with a syntax error costs only its words.
    assert!(errors_of("ab ".repeat(129), QueryMode::Fuzzy).is_empty());
    assert!(errors_of("(".to_owned() + &"abc~ ".repeat(129), default).is_empty());

    let filters = SearchRequest {
        filters: vec![("a".to_owned(), "b".to_owned()); 101],
        ..request("", QueryMode::Default)
    };
    assert_eq!(errors(&filters), [("filters", "Too many filters, limit: 100")]);
    let post = SearchRequest { post_filters: filters.filters, ..request("", QueryMode::Default) };
    assert_eq!(errors(&post), [("post_filters", "Too many filters, limit: 100")]);

    let longest = format!("{}*", "a".repeat(99));
    assert_eq!(read(&longest, default), format!("/{longest}/"));
    assert_eq!(read(&format!("a{longest}"), default), format!("a{}", "a".repeat(99)));
    let nested = |depth: usize| format!("{}a AND b{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(read(&nested(20), default), "(+a +b)");
    assert_eq!(read(&nested(21), default), "(a and b)");
}

#[test]
fn cost_of_long_texts_is_linear() {
    let parts =
        ["(", ")", "\"", "-", "NOT ", "a:", "a:(", "a:[", "a:{b TO ", "^", "~", "*", "\\", " "];
    for part in parts {
        for text in [part.repeat(100_000), format!("{}x", part.repeat(100_000))] {
            let started = Instant::now();
            for mode in [QueryMode::Default, QueryMode::Exact, QueryMode::Fuzzy] {
                drop(Search::read(&request(&text, mode)));
            }
            drop(Search::read(&filtered("internal.createdAt", &text)));
            // Many times the linear cost, and much less than a quadratic one.
            assert!(started.elapsed() < Duration::from_secs(10), "{part:?}");
        }
    }
}

#[test]
fn order_follows_the_parameters() {
    let read = |order_by: &str, descending, random_seed| {
        let order_by = Some(order_by.to_owned());
        let request = SearchRequest {
            order_by,
            descending,
            random_seed,
            missing_first: true,
            ..request("*", QueryMode::Default)
        };
        Search::read(&request).unwrap().order
    };
    let path = |path: &str, as_text, descending| HitOrder::Score {
        then: Some(PropertyOrder {
            by: SortBy::Path { path: path.to_owned(), as_text },
            descending,
            missing_first: true,
        }),
    };
    assert_eq!(read("", true, None), HitOrder::Score { then: None });
    assert_eq!(read("_score", true, None), HitOrder::Score { then: None });
    assert_eq!(read("_score", false, None), HitOrder::ScoreAscending);
    assert_eq!(read("price", false, None), path("price", false, false));
    assert_eq!(read("a[*].b.keyword", true, None), path("a.b", true, true));
    assert_eq!(read("price", false, Some(7.5)), HitOrder::Random(7.5_f64.to_bits()));
    assert_eq!(read("_geo_distance", false, Some(7.0)), HitOrder::Random(7.0_f64.to_bits()));

    let near = SearchRequest {
        geo_filters: vec![("place".to_owned(), "geo_distance,1km,1,2".to_owned())],
        order_by: Some("_geo_distance".to_owned()),
        ..request("*", QueryMode::Default)
    };
    let then = PropertyOrder { by: SortBy::Distance, descending: false, missing_first: false };
    assert_eq!(Search::read(&near).unwrap().order, HitOrder::Score { then: Some(then) });
}

#[test]
fn aggregations_keep_their_order_and_original_text() {
    let request = SearchRequest {
        aggregate_by: vec!["tags[*].dataUrl".to_owned()],
        aggregate_by_numeric: vec!["price".to_owned()],
        ..request("*", QueryMode::Default)
    };
    let facet = |field: &str, path: &str, numeric| Facet {
        field: field.to_owned(),
        path: path.to_owned(),
        numeric,
    };
    assert_eq!(
        Search::read(&request).unwrap().facets,
        [facet("tags[*].dataUrl", "tags", false), facet("price", "price", true)]
    );
}

/// Words of a text, as in the index.
fn words(text: &str) -> Vec<String> {
    let (mut found, mut word, mut from) = (Vec::new(), String::new(), 0);
    while let Some(span) = analysis::next_word(text, from, &mut word) {
        found.push(word.clone());
        from = span.end;
    }
    found
}

/// The conditions of a query, and its depth.
fn leaves(query: &SearchQuery) -> (Vec<&FieldCondition>, usize) {
    match query {
        SearchQuery::All | SearchQuery::None => (Vec::new(), 1),
        SearchQuery::Field { condition: test, .. } => (vec![test], 1),
        SearchQuery::Boost(query, _) => {
            let (tests, depth) = leaves(query);
            (tests, depth + 1)
        }
        SearchQuery::Boolean { must, should, must_not } => {
            let parts: Vec<_> =
                [must, should, must_not].into_iter().flatten().map(leaves).collect();
            let depth = parts.iter().map(|(_, depth)| depth + 1).max().unwrap_or(1);
            (parts.into_iter().flat_map(|(tests, _)| tests).collect(), depth)
        }
    }
}

fn words_of<'a>(tests: &[&'a FieldCondition]) -> Vec<&'a str> {
    let mut words = Vec::new();
    for test in tests {
        match test {
            FieldCondition::Word(word) => words.push(word.as_str()),
            FieldCondition::Phrase(row) => words.extend(row.iter().map(String::as_str)),
            _ => {}
        }
    }
    words
}

/// Texts with as many operators as words.
fn operators() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        "a",
        "Bc",
        "é",
        "日",
        "12",
        "-5",
        " ",
        " ",
        " AND ",
        " OR ",
        "NOT ",
        " TO ",
        "+",
        "-",
        "(",
        ")",
        "\"",
        "^2",
        "^",
        "~",
        "~1",
        "*",
        "?",
        "\\",
        ":",
        "t:",
        "t:(",
        "t:\"",
        "t:[",
        "t:{",
        "[",
        "]",
        "{",
        "}",
        ">",
        ">=",
        "<",
        "=",
        "/",
        "/api/v1/content/a/b",
        "internal.createdAt:",
        "2020-01-22",
        "\u{301}",
        "\u{ad}",
    ]);
    prop::collection::vec(parts, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn parser_never_panics_and_keeps_its_limits(
        text in prop_oneof![operators(), "\\PC{0,60}", any::<String>()],
    ) {
        for mode in [QueryMode::Default, QueryMode::Exact, QueryMode::Fuzzy] {
            let mut request = request(&text, mode);
            request.filters = vec![("p".to_owned(), text.clone())];
            request.post_filters = vec![("internal.createdAt".to_owned(), text.clone())];
            request.geo_filters = vec![("p".to_owned(), text.clone())];
            request.fields = Some(vec![text.clone()]);
            request.order_by = Some(text.clone());
            drop(Search::read(&request));
            request.geo_filters.clear();
            if let Ok(search) = Search::read(&request) {
                for query in [&search.query, &search.filter, &search.post_filter] {
                    let (tests, depth) = leaves(query);
                    prop_assert!(tests.len() <= 3 * limits::MAX_SEARCH_WORDS);
                    prop_assert!(depth <= 4 * (limits::MAX_SEARCH_DEPTH + 1));
                    for word in words_of(&tests) {
                        prop_assert_eq!(words(word).concat(), word);
                    }
                }
            }
        }
    }

    #[test]
    fn plain_words_are_kept(list in prop::collection::vec("[a-z0-9é]{1,8}", 1..20)) {
        let text = list.join(" ");
        for request in [request(&text, QueryMode::Default), request(&text, QueryMode::Exact)] {
            let search = Search::read(&request).unwrap();
            prop_assert_eq!(words_of(&leaves(&search.query).0), list.clone());
        }
    }

    #[test]
    fn escaped_texts_keep_their_words(text in prop_oneof![operators(), "\\PC{0,60}"]) {
        prop_assume!(crate::object::link::parse(&text).is_none());
        let escaped: String = text.chars().flat_map(|c| ['\\', c]).collect();
        let search = Search::read(&request(&escaped, QueryMode::Default)).unwrap();
        prop_assert_eq!(words_of(&leaves(&search.query).0), words(&text));
    }
}
