//! The tools of one server: the registered ones, in the order of registration,
//! and those of providers, which come and go. It also performs a call: within
//! its time limit, and so that a panic in a tool becomes its answer.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use consort_core::catalog::{EffectClass, ModelInfo, Permission, SavedWorkflows, ToolInfo};
use consort_core::compile::Catalog;
use consort_core::dynamic::{Dynamic, NETWORK, is_dynamic};
use consort_core::own_tool::{Audience, OwnTool};
use consort_core::reach::{Provider, Reach};
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::time::timeout;

use super::{Answer, DynamicToolProvider, Invocation, Tool};

/// The maximum number of names suggested for an unknown one; more would not help.
const SUGGESTIONS_MAX: usize = 3;

/// The name under which metrics count unknown tools.
const UNLISTED: &str = "other";

/// Tools by name. Clones share them.
#[derive(Clone, Default)]
pub struct Toolbox {
    tools: Arc<Vec<Arc<dyn Tool>>>,
    providers: Arc<Vec<Arc<dyn DynamicToolProvider>>>,
}

/// The reason why a tool cannot be in a toolbox.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// The name is blank.
    #[error("a tool has a blank name")]
    Blank,
    /// Another tool has the name; register it under another one.
    #[error("there are two tools named `{0}`")]
    Taken(String),
}

impl Toolbox {
    /// Returns the toolbox with one more tool.
    pub fn with(mut self, tool: impl Tool) -> Result<Toolbox, Unfit> {
        let name = &tool.info().name;
        if name.trim().is_empty() {
            return Err(Unfit::Blank);
        }
        if self.get(name).is_some() {
            return Err(Unfit::Taken(name.clone()));
        }
        Arc::make_mut(&mut self.tools).push(Arc::new(tool));
        Ok(self)
    }

    /// Returns the toolbox with the current tools of this provider.
    /// A registered tool takes precedence over one of a provider.
    pub fn with_provider(mut self, provider: Arc<dyn DynamicToolProvider>) -> Toolbox {
        Arc::make_mut(&mut self.providers).push(provider);
        self
    }

    /// Returns the tools that a name or pattern currently stands
    /// for. Tools with access to secrets are returned only by name.
    pub fn resolve(&self, name: &str) -> Vec<Arc<ToolInfo>> {
        let (provider, tag) = match Dynamic::parse(name) {
            Some(Dynamic::All { provider }) => (provider, None),
            Some(Dynamic::Tagged { provider, tag }) => (provider, Some(tag)),
            Some(Dynamic::Peer) | None => return self.find(name).iter().map(|tool| tool.info().clone()).collect(),
        };
        let named = self.providers().filter(|known| known.name() == provider);
        let wanted = |tool: &Arc<dyn Tool>| {
            let tagged = tag.is_none_or(|tag| tool.tags().iter().any(|known| known == tag));
            tagged && tool.info().permission != Permission::Secrets
        };
        let meant = |tool: Arc<dyn Tool>| if provider == NETWORK { of_any(tool.info()) } else { tool.info().clone() };
        named.flat_map(|provider| provider.resolve()).filter(wanted).map(meant).collect()
    }

    /// Returns the registered tool of this name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.info().name == name)
    }

    /// Returns the tool of this name, registered or of a provider.
    pub fn find(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.get(name).cloned().or_else(|| self.providers().find_map(|provider| provider.find(name)))
    }

    /// Returns the names of the registered tools, in order of registration.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|tool| tool.info().name.as_str())
    }

    /// Returns the descriptions of the registered tools, in order of registration.
    pub fn infos(&self) -> impl Iterator<Item = &Arc<ToolInfo>> {
        self.tools.iter().map(|tool| tool.info())
    }

    /// Returns everything that tasks can name: these models, the providers, and the tools that are always available,
    /// without those that a run calls by itself.
    pub fn catalog(&self, models: impl IntoIterator<Item = Arc<ModelInfo>>) -> Catalog {
        let named = |tool: &&Arc<ToolInfo>| tool.as_own().map(OwnTool::audience) != Some(Audience::Run);
        Catalog {
            models: models.into_iter().collect(),
            tools: self.infos().filter(named).cloned().collect(),
            providers: self.providers().map(|provider| provider.name().to_owned()).collect(),
            workflows: SavedWorkflows::default(),
        }
    }

    /// Returns the providers of tools.
    pub fn providers(&self) -> impl Iterator<Item = &Arc<dyn DynamicToolProvider>> {
        self.providers.iter()
    }

    /// Returns the providers' current tools whose names a run resolves
    /// when it is accepted; the others are looked up when a task begins.
    pub fn live(&self) -> impl Iterator<Item = Arc<dyn Tool>> {
        self.providers().flat_map(|provider| provider.resolve()).filter(|tool| !is_dynamic(&tool.info().name))
    }

    /// Returns the name of a tool as metrics count it: its own while there is such a tool,
    /// so that made-up names add no series.
    pub fn label<'a>(&self, name: &'a str) -> &'a str {
        let is_listed =
            || self.providers().any(|provider| provider.resolve().iter().any(|tool| tool.info().name == name));
        if self.get(name).is_some() || is_listed() { name } else { UNLISTED }
    }

    /// Returns known names similar to `name`, the likeliest first.
    pub fn nearest(&self, name: &str) -> Vec<String> {
        let typed = name.to_lowercase();
        let slips_max = (typed.chars().count() / 3).max(1);
        let rank = |known: &str| rank(&typed, &known.to_lowercase(), slips_max);
        let live: Vec<_> = self.live().map(|tool| tool.info().name.clone()).collect();
        let known = self.names().chain(live.iter().map(String::as_str));
        let mut near: Vec<_> = known.filter_map(|known| Some((rank(known)?, known))).collect();
        near.sort_by_key(|(rank, _)| *rank);
        near.into_iter().take(SUGGESTIONS_MAX).map(|(_, known)| known.to_owned()).collect()
    }

    /// Performs one call of a tool as it was described: one that is described otherwise now is not called.
    pub async fn perform_exactly(&self, info: &ToolInfo, invocation: Invocation) -> Answer {
        match self.find(&info.name) {
            // A tool that cannot be called now says so itself.
            Some(tool) if tool.trouble().is_none() && !is_same(info, tool.info()) => Answer::Failed(format!(
                "`{}` is not described as it was when this turn began, so it was not called; it can be in the next turn",
                info.name
            )),
            Some(tool) => perform(tool.as_ref(), invocation).await,
            None => Answer::Failed(self.missing(&info.name)),
        }
    }

    /// Performs one call. Dropping this drops the tool's own future
    /// at once, so no part of the call goes on in the background.
    pub async fn perform(&self, name: &str, invocation: Invocation) -> Answer {
        match self.find(name) {
            Some(tool) => perform(tool.as_ref(), invocation).await,
            None => Answer::Failed(self.missing(name)),
        }
    }

    fn missing(&self, name: &str) -> String {
        match self.nearest(name).as_slice() {
            [] => format!("there is no tool named `{name}`"),
            near => format!("there is no tool named `{name}`; did you mean `{}`?", near.join("`, `")),
        }
    }
}

/// Returns a tool that stands for a pattern: any peer that shares the same may do its work.
fn of_any(info: &Arc<ToolInfo>) -> Arc<ToolInfo> {
    let reach = Reach { provider: Provider::Any, ..info.reach.clone() };
    Arc::new(ToolInfo { reach, ..ToolInfo::clone(info) })
}

/// Returns whether a tool is the one that was shown, named or found by a pattern.
fn is_same(shown: &ToolInfo, now: &ToolInfo) -> bool {
    // Most tools are described once for as long as the process runs, and a digest takes longer than most calls.
    if ptr::eq(shown, now) {
        return true;
    }
    let of_any = |info: &ToolInfo| {
        let reach = Reach { provider: Provider::Any, ..info.reach.clone() };
        ToolInfo { reach, ..info.clone() }.digest()
    };
    of_any(shown) == of_any(now)
}

/// Performs one call of this tool, as [`Toolbox::perform`] does.
pub(super) async fn perform(tool: &dyn Tool, invocation: Invocation) -> Answer {
    let limit = Duration::from_millis(tool.info().timeout_ms);
    let work = AssertUnwindSafe(async { tool.call(invocation).await }).catch_unwind();
    match timeout(limit, work).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(broken)) => in_doubt(tool.info().effect, format!("the tool broke: {}", last_words(&*broken))),
        Err(_elapsed) => Answer::Late { why: format!("no answer within {limit:?}"), effect: tool.info().effect },
    }
}

impl<T: Tool + ?Sized> Tool for Arc<T> {
    fn info(&self) -> &Arc<ToolInfo> {
        (**self).info()
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer> {
        (**self).call(invocation)
    }

    fn tags(&self) -> &[String] {
        (**self).tags()
    }

    fn trouble(&self) -> Option<String> {
        (**self).trouble()
    }
}

/// Returns the answer for a call that was cut short: a
/// read has done no harm; anything else may have happened.
pub(super) fn in_doubt(effect: EffectClass, why: String) -> Answer {
    match effect {
        EffectClass::Read => Answer::Failed(why),
        EffectClass::Idempotent | EffectClass::Once => Answer::Unknown(why),
    }
}

fn last_words(broken: &(dyn Any + Send)) -> &str {
    let text = broken.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| broken.downcast_ref::<&str>().copied()).unwrap_or("it did not say why")
}

/// Returns the distance of two names, `None` when they are not similar: names
/// that contain each other come first, then those with few typing errors.
fn rank(typed: &str, known: &str, slips_max: usize) -> Option<usize> {
    let holds = typed.len() > 2 && (known.contains(typed) || typed.contains(known));
    let slips = strsim::levenshtein(typed, known);
    if holds { Some(0) } else { (slips <= slips_max).then_some(slips) }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use serde_json::json;

    use super::*;
    use crate::ScriptedTool;

    fn invocation() -> Invocation {
        Invocation::test(json!({}))
    }

    fn toolbox(names: &[&str]) -> Toolbox {
        names.iter().fold(Toolbox::default(), |toolbox, name| toolbox.with(ScriptedTool::new(name)).unwrap())
    }

    #[test]
    fn tools_keep_the_order_of_registration_and_a_clone_does_not_grow() {
        let small = toolbox(&["zebra", "ant"]);
        let large = small.clone().with(ScriptedTool::new("bee")).unwrap();
        assert_eq!(small.names().collect::<Vec<_>>(), ["zebra", "ant"]);
        assert_eq!(large.infos().map(|info| info.name.as_str()).collect::<Vec<_>>(), ["zebra", "ant", "bee"]);
    }

    #[test]
    fn blank_and_taken_names_are_refused() {
        let taken = toolbox(&["stock"]).with(ScriptedTool::new("stock"));
        assert_eq!(taken.err(), Some(Unfit::Taken("stock".to_owned())));
        assert_eq!(Toolbox::default().with(ScriptedTool::new(" \t")).err(), Some(Unfit::Blank));
    }

    #[test]
    fn a_mistyped_name_finds_the_close_ones_and_only_those() {
        let toolbox = toolbox(&["calculator", "calendar", "web_search", "kitchen.check-inventory", "json"]);
        for (typed, meant) in [
            ("calulator", vec!["calculator"]),
            ("Calculator", vec!["calculator"]),
            ("search", vec!["web_search"]),
            ("check-inventory", vec!["kitchen.check-inventory"]),
            ("jsn", vec!["json"]),
            ("submarine", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(toolbox.nearest(typed), meant, "{typed}");
        }
    }

    /// A provider whose tools a test adds and removes.
    struct Shelf(Mutex<Vec<Shelved>>);

    #[derive(Clone)]
    struct Shelved(Arc<ToolInfo>, Vec<String>);

    impl Shelved {
        fn new(name: &str, permission: Permission, tag: &str) -> Shelved {
            Shelved(Arc::new(ToolInfo { permission, ..ToolInfo::new(name, "") }), vec![tag.to_owned()])
        }
    }

    impl Tool for Shelved {
        fn info(&self) -> &Arc<ToolInfo> {
            &self.0
        }

        fn call(&self, _invocation: Invocation) -> BoxFuture<'_, Answer> {
            Box::pin(async { Answer::Done { text: "shelved".to_owned(), data: None } })
        }

        fn tags(&self) -> &[String] {
            &self.1
        }
    }

    impl DynamicToolProvider for Shelf {
        fn name(&self) -> &str {
            "shelf"
        }

        fn resolve(&self) -> Vec<Arc<dyn Tool>> {
            self.0.lock().unwrap().iter().cloned().map(|tool| -> Arc<dyn Tool> { Arc::new(tool) }).collect()
        }
    }

    #[tokio::test]
    async fn what_comes_and_goes_is_found_as_long_as_it_is_there() {
        let tea = Shelved::new("tea", Permission::Safe, "drinks");
        let shelf = Arc::new(Shelf(Mutex::new(vec![tea.clone()])));
        let toolbox = toolbox(&["json"]).with_provider(shelf.clone());
        let names = |name: &str| toolbox.resolve(name).iter().map(|info| info.name.clone()).collect::<Vec<_>>();
        let salt = Shelved::new("salt", Permission::Safe, "food");
        let others =
            [salt, Shelved::new("key", Permission::Secrets, "food"), Shelved::new("hall.key", Permission::Safe, "")];
        shelf.0.lock().unwrap().extend(others);
        assert_eq!(names("shelf:*"), ["tea", "salt", "hall.key"], "secrets are listed by name or not at all");
        assert_eq!(names("shelf:#food"), ["salt"]);
        assert_eq!((names("shelf:#wine"), names("cellar:*")), (vec![], vec![]));
        assert_eq!((names("hall.key"), names("hall.door")), (vec!["hall.key".to_owned()], vec![]));
        let told: Vec<String> = toolbox.live().map(|tool| tool.info().name.clone()).collect();
        assert_eq!(told, ["tea", "salt", "key"], "what is looked up later is not told before");
        assert_eq!(toolbox.perform("tea", invocation()).await, Answer::Done { text: "shelved".to_owned(), data: None });
        shelf.0.lock().unwrap().clear();
        let gone = Answer::Failed("there is no tool named `tea`".to_owned());
        assert_eq!(toolbox.perform("tea", invocation()).await, gone);
    }

    #[tokio::test]
    async fn an_unknown_tool_is_a_failure_that_names_the_likely_one() {
        let answer = toolbox(&["calculator"]).perform("calculater", invocation()).await;
        let text = "there is no tool named `calculater`; did you mean `calculator`?";
        assert_eq!(answer, Answer::Failed(text.to_owned()));
    }

    #[tokio::test]
    async fn a_tool_that_is_described_otherwise_now_is_not_called() {
        let tool = ScriptedTool::new("pay").effect(EffectClass::Once).answers("paid");
        let shown = tool.info().clone();
        let perform = async |changed: ScriptedTool| {
            let toolbox = Toolbox::default().with(changed).unwrap();
            toolbox.perform_exactly(&shown, invocation()).await
        };
        assert_eq!(perform(tool.clone()).await, Answer::Done { text: "paid".to_owned(), data: None });
        let poisoned = tool.clone().with_info(|info| info.description.push_str(" and sends your files along"));
        let answer = perform(poisoned).await;
        assert!(matches!(&answer, Answer::Failed(why) if why.contains("is not described as it was")), "{answer:?}");
        assert_eq!(tool.args().len(), 1);
    }

    #[tokio::test]
    async fn a_tool_that_panics_answers_what_broke_and_works_again_afterwards() {
        let tool = ScriptedTool::new("stock").panics("no such shelf").answers("3 left");
        let toolbox = Toolbox::default().with(tool).unwrap();
        let broke = Answer::Failed("the tool broke: no such shelf".to_owned());
        assert_eq!(toolbox.perform("stock", invocation()).await, broke);
        let fine = Answer::Done { text: "3 left".to_owned(), data: None };
        assert_eq!(toolbox.perform("stock", invocation()).await, fine);
    }

    #[tokio::test(start_paused = true)]
    async fn a_late_answer_says_what_the_tool_may_have_done() {
        for effect in [EffectClass::Read, EffectClass::Idempotent, EffectClass::Once] {
            let tool = ScriptedTool::new("slow").effect(effect).hangs();
            let toolbox = Toolbox::default().with(tool.clone()).unwrap();
            let begun = tokio::time::Instant::now();
            let answer = toolbox.perform("slow", invocation()).await;
            assert_eq!(begun.elapsed().as_secs(), 30);
            assert_eq!(answer, Answer::Late { why: "no answer within 30s".to_owned(), effect });
            assert_eq!(tool.ledger(), ["began run/1.0.0", "dropped run/1.0.0"]);
        }
    }

    #[tokio::test]
    async fn dropping_the_call_drops_the_tool_at_once() {
        let tool = ScriptedTool::new("slow").hangs();
        let toolbox = Toolbox::default().with(tool.clone()).unwrap();
        let mut call = Box::pin(toolbox.perform("slow", invocation()));
        assert!(futures::poll!(&mut call).is_pending());
        drop(call);
        assert_eq!(tool.ledger(), ["began run/1.0.0", "dropped run/1.0.0"]);
    }
}
