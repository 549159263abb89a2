//! A web page as Markdown: the main content, without what surrounds it.
//! Pages are written by others, so reading one is bounded in time and depth.

use std::rc::Rc;

use htmd::HtmlToMarkdown;
use html5ever::tendril::TendrilSink;
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{Attribute, ParseOpts, parse_document};
use markup5ever_rcdom::{Node, NodeData, RcDom};
use reqwest::Url;

use super::super::own_thread::Patience;

/// The number of bytes parsed between two checks of the clock; some pages take quadratic time.
const CHUNK_BYTES: usize = 4 * 1024;
/// The maximum nesting of elements; the conversion recurses once for each.
const DEPTH_MAX: usize = 400;
/// The maximum number of tags: each becomes a node, which takes far more memory than the tag.
const TAGS_MAX: usize = 200_000;
/// The minimum number of characters for a marked part of a page to count as its content.
const CONTENT_MIN: usize = 200;
/// Elements that contain no readable text.
const SILENT: [&str; 14] = [
    "script", "style", "noscript", "template", "iframe", "svg", "canvas", "object", "button", "select", "input",
    "form", "dialog", "link",
];
/// Elements around the content.
const AROUND: [&str; 3] = ["nav", "aside", "footer"];
/// ARIA roles of elements around the content.
const AROUND_ROLES: [&str; 6] = ["navigation", "banner", "contentinfo", "complementary", "search", "menu"];

/// Returns the content of a page, with its title and absolute links.
pub(super) fn markdown(html: &str, base: &Url, patience: &Patience) -> Result<String, String> {
    if html.bytes().filter(|byte| *byte == b'<').count() > TAGS_MAX {
        return Err(format!("the page has more than {TAGS_MAX} tags"));
    }
    let document = parse(html, patience)?;
    let nodes = nodes(&document)?;
    let title = nodes.iter().find(|node| tag(node) == Some("title")).map(words).unwrap_or_default();
    let content = content(&nodes).unwrap_or(&document);
    for node in &nodes {
        node.children.borrow_mut().retain(|child| !is_noise(child, content));
        link(node, base);
    }
    if patience.is_over() {
        return Err(too_long());
    }
    let text = HtmlToMarkdown::new().tree_to_markdown(content);
    let text = text.trim();
    Ok(if title.is_empty() || text.contains(&format!("# {title}")) {
        text.to_owned()
    } else {
        format!("# {title}\n\n{text}")
    })
}

fn too_long() -> String {
    "the page takes too long to read".to_owned()
}

fn parse(html: &str, patience: &Patience) -> Result<Rc<Node>, String> {
    let tree_builder = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let mut parser = parse_document(RcDom::default(), ParseOpts { tree_builder, ..ParseOpts::default() });
    let mut rest = html;
    while !rest.is_empty() {
        if patience.is_over() {
            return Err(too_long());
        }
        let (chunk, after) = rest.split_at(rest.ceil_char_boundary(CHUNK_BYTES));
        parser.process(chunk.into());
        rest = after;
    }
    Ok(parser.finish().document)
}

/// Returns all nodes, parents before their children.
fn nodes(document: &Rc<Node>) -> Result<Vec<Rc<Node>>, String> {
    let mut found = Vec::new();
    let mut open = vec![(document.clone(), 0)];
    while let Some((node, depth)) = open.pop() {
        if depth > DEPTH_MAX {
            return Err(format!("the page is nested more than {DEPTH_MAX} elements deep"));
        }
        open.extend(node.children.borrow().iter().rev().map(|child| (child.clone(), depth + 1)));
        found.push(node);
    }
    Ok(found)
}

/// Returns the part of the page that is marked as its main content, if it is long enough.
fn content(nodes: &[Rc<Node>]) -> Option<&Rc<Node>> {
    let main = |node: &&Rc<Node>| tag(node) == Some("main") || attribute(node, "role").as_deref() == Some("main");
    let mut articles = nodes.iter().filter(|node| tag(node) == Some("article"));
    let article = articles.next().filter(|_| articles.next().is_none());
    let marked = nodes.iter().find(main).or(article);
    marked.filter(|node| words(node).chars().count() >= CONTENT_MIN)
}

fn is_noise(node: &Rc<Node>, content: &Rc<Node>) -> bool {
    let Some(tag) = tag(node) else { return matches!(node.data, NodeData::Comment { .. }) };
    let has = |name: &str, value: &str| attribute(node, name).is_some_and(|found| found.eq_ignore_ascii_case(value));
    let around = AROUND.contains(&tag) || AROUND_ROLES.iter().any(|role| has("role", role));
    // On a page without marked content the header is not content; an article's header is part of it.
    let header = tag == "header" && matches!(content.data, NodeData::Document) && !holds_heading(node);
    let hidden = attribute(node, "hidden").is_some() || has("aria-hidden", "true");
    let embedded = tag == "img" && attribute(node, "src").is_none_or(|src| src.starts_with("data:"));
    SILENT.contains(&tag) || tag == "head" || around || header || hidden || embedded
}

fn holds_heading(node: &Rc<Node>) -> bool {
    node.children.borrow().iter().any(|child| tag(child) == Some("h1") || holds_heading(child))
}

/// Makes a link or an image usable outside its page.
fn link(node: &Rc<Node>, base: &Url) {
    let name = match tag(node) {
        Some("a") => "href",
        Some("img") => "src",
        Some(_) | None => return,
    };
    if let NodeData::Element { attrs, .. } = &node.data {
        for Attribute { value, .. } in attrs.borrow_mut().iter_mut().filter(|attribute| &*attribute.name.local == name)
        {
            if let Ok(absolute) = base.join(value) {
                *value = absolute.as_str().into();
            }
        }
    }
}

fn tag(node: &Rc<Node>) -> Option<&str> {
    match &node.data {
        NodeData::Element { name, .. } => Some(&name.local),
        NodeData::Document
        | NodeData::Doctype { .. }
        | NodeData::Text { .. }
        | NodeData::Comment { .. }
        | NodeData::ProcessingInstruction { .. } => None,
    }
}

fn attribute(node: &Rc<Node>, name: &str) -> Option<String> {
    let NodeData::Element { attrs, .. } = &node.data else { return None };
    attrs.borrow().iter().find(|attribute| &*attribute.name.local == name).map(|attribute| attribute.value.to_string())
}

/// Returns the text in a node, without that of scripts.
fn words(node: &Rc<Node>) -> String {
    let mut found = String::new();
    let mut open = vec![node.clone()];
    while let Some(node) = open.pop() {
        if let NodeData::Text { contents } = &node.data {
            found.push_str(&contents.borrow());
        }
        if tag(&node).is_none_or(|tag| !SILENT.contains(&tag)) {
            open.extend(node.children.borrow().iter().rev().cloned());
        }
    }
    found.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::super::super::own_thread::on_own_thread;
    use super::*;

    /// Far longer than a machine needs that has other things to do: work without an end takes longer still.
    const LONG: Duration = Duration::from_secs(120);

    async fn read(html: &str) -> Result<String, String> {
        read_within(LONG, html).await
    }

    async fn read_within(time: Duration, html: &str) -> Result<String, String> {
        let html = html.to_owned();
        let base = Url::parse("https://site.example/docs/page.html").unwrap();
        let work = move |patience: Patience| markdown(&html, &base, &patience);
        on_own_thread("page", 64 << 20, time, work).await
    }

    #[tokio::test]
    async fn the_content_is_kept_and_what_surrounds_it_is_not() {
        let long = "Consort runs ensembles of agents. ".repeat(10);
        let html = format!(
            "<html><head><title>Guide</title><style>p {{}}</style></head><body><header>Logo</header>\
             <nav><a href=/>Home</a></nav><main><h2>Start</h2><p>{}</p><p>See <a href=next.html>next</a>.</p>\
             <script>alert(1)</script><p hidden>secret</p><img src='data:image/png;base64,AAAA'></main>\
             <aside>Ads</aside><footer>Imprint</footer></body></html>",
            long.trim()
        );
        let text = read(&html).await.unwrap();
        let expected =
            format!("# Guide\n\n## Start\n\n{}\n\nSee [next](https://site.example/docs/next.html).", long.trim());
        assert_eq!(text, expected);
    }

    #[tokio::test]
    async fn a_page_that_marks_nothing_is_read_whole() {
        let html =
            "<title>List</title><header>Logo</header><h1>List</h1><ul><li>one</li><li>two</li></ul><main>x</main>";
        let text = read(html).await.unwrap();
        assert_eq!(text, "# List\n\n*   one\n*   two\n\nx");
        let article = "<header><h1>Title</h1></header><table><tr><th>a</th><td>b</td></tr></table>";
        let text = read(article).await.unwrap();
        assert!(text.starts_with("# Title") && text.contains('|'), "{text}");
    }

    #[tokio::test]
    async fn pages_built_to_exhaust_a_reader_are_refused_in_time() {
        for piece in ["<div>", "<b><i>", "<table><tr><td>", "<p><a>", "<ul><li>", "<a b='"] {
            let begun = Instant::now();
            let answer = read_within(Duration::from_millis(500), &piece.repeat(4_000_000 / piece.len())).await;
            assert!(begun.elapsed() < LONG, "{piece}");
            assert!(
                answer.as_ref().map_or_else(|why| why.contains("the page"), String::is_empty),
                "{piece}: {answer:?}"
            );
        }
        let deep = read(&"<div>".repeat(DEPTH_MAX + 50)).await;
        assert!(deep.is_err_and(|why| why.contains("nested more than")));
        let nested = "<blockquote>".repeat(DEPTH_MAX / 2) + "x";
        assert!(read(&nested).await.unwrap().ends_with('x'));
    }
}
