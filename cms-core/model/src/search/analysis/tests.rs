use std::time::{Duration, Instant};

use super::*;

/// Many times the linear cost, and much less than a quadratic one.
const MAX_DURATION: Duration = Duration::from_secs(10);

fn words(text: &str) -> Vec<String> {
    let (mut found, mut word, mut from) = (Vec::new(), String::new(), 0);
    while let Some(span) = next_word(text, from, &mut word) {
        assert!(from <= span.start && span.start < span.end, "{text}");
        from = span.end;
        found.push(word.clone());
    }
    found
}

#[test]
fn words_are_letters_and_digits_in_lower_case() {
    let table: [(&str, &[&str]); 20] = [
        ("", &[]),
        ("...", &[]),
        ("Hello, World!", &["hello", "world"]),
        ("post-900923", &["post", "900923"]),
        ("12.5", &["12", "5"]),
        ("don't", &["don", "t"]),
        ("Crème BRÛLÉE", &["crème", "brûlée"]),
        ("Cre\u{300}me", &["crème"]),
        ("STRASSE Straße", &["strasse", "straße"]),
        ("ΟΔΟΣ οδος", &["οδοσ", "οδοσ"]),
        ("हिन्दी में", &["हिन्दी", "में"]),
        ("Donau\u{ad}dampf", &["donaudampf"]),
        ("می\u{200c}خواهم", &["میخواهم"]),
        ("한국어 검색", &["한국어", "검색"]),
        ("東京タワー", &["東", "京", "タ", "ワ", "ー"]),
        ("か\u{3099}く", &["が", "く"]),
        ("iPhone手机15", &["iphone", "手", "机", "15"]),
        ("กินข้าว", &["กิ", "น", "ข้", "า", "ว"]),
        ("\u{301}a \u{301}", &["a"]),
        // Marks that are also letters do not form words.
        ("\u{f7a}\u{eb8}A \u{c55}\u{16af0}", &["a"]),
    ];
    for (text, expected) in table {
        assert_eq!(words(text), expected, "{text}");
    }
}

#[test]
fn markup_is_removed() {
    use Markup::{Html, Markdown, Plain};
    let table = [
        (Plain, "a < b and c > d", "a b and c d"),
        (Plain, "x<b>y</b>z <p class=\"q\">w</p>v", "xyz w v"),
        (Plain, "1<2 <a <b>c", "1 2 a c"),
        (Plain, "&amp;", "amp"),
        (Html, "<p>a</p><p>b</p>", "a b"),
        (Html, "a<b>b</b>c<br>d", "abc d"),
        (Html, "<P CLASS='x y'>a&amp;b &eacute;t&#233;</P>", "a b été"),
        (Html, "a<script>if (x < y) { z }</script>b<style>c{}</style>d", "a b d"),
        (Html, "a<!-- b -->c", "ac"),
        (Html, "a<script>b", "a"),
        (Html, "a < b", "a b"),
        (Html, "<p", ""),
        (Markdown, "# Title\n\nsome *wo*rds\nand `code`", "title some words and code"),
        (Markdown, "[text](http://hidden) ![image](hidden.png)", "text image"),
        (
            Markdown,
            "a<b>b</b>c\n\n<div>d</div>\n\n| e | f |\n|---|---|\n| g | h |",
            "abc d e f g h",
        ),
        (Markdown, "&eacute;t\u{e9} 1 < 2 & `<p>`", "été 1 2 p"),
        (Plain, "/api/v1/content/post/p-1", "post p 1"),
        (Html, "/api/v1/content/post/p%20%C3%A9", "api v1 content post p 20 c3 a9"),
        (Html, "/api/v1/content/post/p%201", "post p 1"),
    ];
    for (markup, text, expected) in table {
        assert_eq!(words(&plain_text(text, markup)).join(" "), expected, "{text}");
    }
}

#[test]
fn cost_of_long_texts_is_linear() {
    let parts = [
        "<",
        "<a ",
        "<a b='",
        "</",
        "<!--",
        "&",
        "&amp",
        "<![CDATA[",
        "<script>",
        "[",
        "![",
        "](",
        "*",
        "**a ",
        "_",
        "`",
        "`a",
        "> ",
        "- ",
        "\\",
        "|a",
        "~~",
        "\n",
        "a\u{301}",
        "\u{301}",
        "日",
        "[a]: b\n",
        "<b>",
        "(",
        "1. ",
    ];
    for part in parts {
        let text = part.repeat(100_000 / part.len());
        for markup in [Markup::Plain, Markup::Html, Markup::Markdown] {
            let started = Instant::now();
            words(&plain_text(&text, markup));
            assert!(started.elapsed() < MAX_DURATION, "{part:?} {markup:?}");
        }
    }
}

proptest::proptest! {
    #[test]
    fn analysis_is_idempotent(text in "\\PC{0,60}|[a-zA-ZäÅΣ日กิ\u{301}\u{323} .-]{0,60}") {
        for word in words(&text) {
            proptest::prop_assert_eq!(words(&word), [word]);
        }
    }

    #[test]
    fn accents_of_both_normal_forms_give_the_same_words(text in "[a-zäçõÅΣᾳ가日กิ\u{301}\u{323} .-]{0,60}") {
        let composed: String = text.nfc().collect();
        let decomposed: String = text.nfd().collect();
        proptest::prop_assert_eq!(words(&composed), words(&decomposed));
    }

    #[test]
    fn markup_parser_never_panics(text in "\\PC{0,60}|[<>/a-z&;#'\"= !\\[\\]()*_`~|\n-]{0,60}") {
        for markup in [Markup::Plain, Markup::Html, Markup::Markdown] {
            let _seen = plain_text(&text, markup);
        }
    }

    #[test]
    fn texts_without_tags_are_unchanged(text in "[a-z<> &;.0-9]{0,60}") {
        let seen = plain_text(&text, Markup::Plain);
        if !text.split('<').any(|part| part.contains('>') && part.starts_with(char::is_alphabetic)) {
            proptest::prop_assert_eq!(&*seen, text.as_str());
        }
    }
}
