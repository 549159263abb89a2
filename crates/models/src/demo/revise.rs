//! Doing an answer again the way somebody asked: shorter, longer, under
//! another title, with something added.

use super::find;
use super::outline::count;

/// The answer, changed, and what was changed.
pub(super) fn revised(draft: &str, feedback: &str, previous: &str) -> (String, Vec<String>) {
    let lower = feedback.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let mut text = if previous.is_empty() { draft.to_owned() } else { clean(previous) };
    let mut changes = Vec::new();
    if has(&["short", "brief", "concise", "cut"]) {
        let kept = shorter(&text, count(feedback));
        changes.push(format!("{} lines instead of {}", kept.lines().count(), text.lines().count()));
        text = kept;
    }
    if let Some(title) = quoted(feedback).filter(|_| has(&["title", "call it", "heading"])) {
        text = retitled(&text, title);
        changes.push(format!("the title is now \"{title}\""));
    }
    if let Some(more) = addition(feedback) {
        text = format!("{text}\n\n- {}", find::capital(&more));
        changes.push(format!("added \"{more}\""));
    }
    if changes.is_empty() {
        text = format!("{text}\n\n## After the review\n\n{}", find::capital(feedback));
        changes.push("the remark has a section of its own".to_owned());
    }
    (text, changes)
}

/// What an earlier answer said about itself is not said again.
fn clean(text: &str) -> String {
    let remarks = ["Changed on request: ", "Told while working: ", "This was the last turn, "];
    let kept = text.lines().filter(|line| !remarks.iter().any(|remark| line.starts_with(remark)));
    kept.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// The title and the first half of the lines, or as many as were asked for.
fn shorter(text: &str, wanted: Option<usize>) -> String {
    let (titles, lines): (Vec<&str>, Vec<&str>) =
        text.lines().filter(|line| !line.trim().is_empty()).partition(|line| line.starts_with("# "));
    let keep = wanted.unwrap_or(lines.len().div_ceil(2)).max(1);
    let body = lines.into_iter().take(keep).collect::<Vec<_>>().join("\n");
    titles.first().map_or_else(|| body.clone(), |title| format!("{title}\n\n{body}"))
}

fn retitled(text: &str, title: &str) -> String {
    let body = if text.starts_with("# ") { text.split_once('\n').map_or("", |(_, body)| body.trim()) } else { text };
    format!("# {title}\n\n{body}")
}

fn quoted(text: &str) -> Option<&str> {
    let inside = |sign: char| text.split(sign).nth(1).filter(|quoted| !quoted.is_empty());
    inside('"').or_else(|| inside('\''))
}

/// What follows `add` or `mention` in a remark.
fn addition(feedback: &str) -> Option<String> {
    let lower = feedback.to_ascii_lowercase();
    let verbs = ["add ", "mention ", "include "];
    let start = verbs.iter().find_map(|verb| Some(lower.find(verb)? + verb.len()))?;
    let rest = feedback.get(start..)?.split(['.', '\n']).next()?.trim();
    (!rest.is_empty()).then(|| rest.to_owned())
}
