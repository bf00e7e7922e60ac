//! Extracts the visible text: removes tags, decodes entities, replaces links with their targets.

use std::{borrow::Cow, convert::Infallible};

use html5gum::{
    Span, Tokenizer,
    emitters::callback::{CallbackEmitter, CallbackEvent},
};
use memchr::{memchr, memchr2};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::object::link;

/// The markup language of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Markup {
    /// Text that may contain tags.
    Plain,
    Html,
    Markdown,
}

/// Returns the visible text.
///
/// A link to an object becomes the type and the id: the rest is the same in all links.
pub fn plain_text(text: &str, markup: Markup) -> Cow<'_, str> {
    if let Some(target) = link::parse(text) {
        return format!("{} {}", target.content_type, target.id).into();
    }
    match markup {
        Markup::Plain => without_tags(text),
        Markup::Html if memchr2(b'<', b'&', text.as_bytes()).is_none() => text.into(),
        Markup::Html => html_text(text).into(),
        Markup::Markdown => html_text(&markdown_html(text)).into(),
    }
}

/// Inline elements: their tags do not separate words.
const INLINE: [&[u8]; 30] = [
    b"a", b"abbr", b"b", b"bdi", b"bdo", b"big", b"cite", b"code", b"data", b"del", b"dfn", b"em",
    b"font", b"i", b"ins", b"kbd", b"mark", b"q", b"s", b"samp", b"small", b"span", b"strike",
    b"strong", b"sub", b"sup", b"time", b"u", b"var", b"wbr",
];

/// Elements whose content is not shown.
const HIDDEN: [&[u8]; 5] = [b"script", b"style", b"iframe", b"noembed", b"noscript"];

fn ends_word(name: &[u8]) -> bool {
    !INLINE.iter().any(|inline| inline.eq_ignore_ascii_case(name))
}

fn html_text(html: &str) -> String {
    let mut visible = String::with_capacity(html.len());
    let mut is_hidden = false;
    let event = |event: CallbackEvent<'_>, _: Span<()>| -> Option<Infallible> {
        match event {
            CallbackEvent::String { value } if !is_hidden => {
                visible.push_str(&String::from_utf8_lossy(value));
            }
            CallbackEvent::OpenStartTag { name } | CallbackEvent::EndTag { name } => {
                is_hidden =
                    matches!(event, CallbackEvent::OpenStartTag { .. }) && HIDDEN.contains(&name);
                if ends_word(name) {
                    visible.push(' ');
                }
            }
            _ => {}
        }
        None
    };
    let mut emitter = CallbackEmitter::new(event);
    emitter.naively_switch_states(true);
    let Ok(()) = Tokenizer::new_with_emitter(html, emitter).finish();
    visible
}

/// Converts Markdown to HTML that has the same words.
fn markdown_html(markdown: &str) -> String {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut html = String::with_capacity(markdown.len());
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Text(text) | Event::Code(text) => {
                html.push_str(&text.replace('&', "&amp;").replace('<', "&lt;"));
            }
            Event::Html(tags) | Event::InlineHtml(tags) => html.push_str(&tags),
            Event::Start(
                Tag::Emphasis
                | Tag::Strong
                | Tag::Strikethrough
                | Tag::Link { .. }
                | Tag::Image { .. },
            )
            | Event::End(
                TagEnd::Emphasis
                | TagEnd::Strong
                | TagEnd::Strikethrough
                | TagEnd::Link
                | TagEnd::Image,
            ) => {}
            _ => html.push('\n'),
        }
    }
    html
}

/// Removes tags: `<`, an optional `/` and a letter, with no `<` before the `>`.
fn without_tags(text: &str) -> Cow<'_, str> {
    let mut visible = String::new();
    let mut copied = 0;
    let mut from = 0;
    while let Some(open) = memchr(b'<', &text.as_bytes()[from..]) {
        let open = from + open;
        from = open + 1;
        let Some(close) = memchr2(b'<', b'>', &text.as_bytes()[from..]) else { break };
        let close = from + close;
        let inside = &text[from..close];
        let inside = inside.strip_prefix('/').unwrap_or(inside);
        if text.as_bytes()[close] == b'>' && inside.starts_with(|c: char| c.is_ascii_alphabetic()) {
            visible.push_str(&text[copied..open]);
            let length = inside.bytes().take_while(u8::is_ascii_alphanumeric).count();
            if ends_word(&inside.as_bytes()[..length]) {
                visible.push(' ');
            }
            copied = close + 1;
        }
        from = close;
    }
    if copied == 0 {
        return text.into();
    }
    visible.push_str(&text[copied..]);
    visible.into()
}
