//! The way of a message: it begins a turn, interrupts the one that runs, or waits for it. A turn begins with
//! everything that was said before it in its thread.

use std::sync::Arc;

use consort_core::chat::{self, Entry, Order, Taint, UserMessage};
use consort_core::compile::Compiled;
use consort_core::spec::Kind;
use consort_log as log;
use consort_runtime::engine::{self, NewRun, fresh_id};
use consort_runtime::thread_history::{Turns, claim};

use super::branch::Beginning;
use super::context::Context;
use super::live::LiveThread;
use super::{Chats, Error, MessageState, SentMessage, Thread, usage};

/// The number of times a message is tried while other nodes change its thread: each time one of them gets ahead.
const SAY_TRIES: usize = 10;

impl Chats {
    /// Sends a message to a thread. When another node has changed the thread meanwhile, it looks again.
    pub async fn send(&self, owner: &str, id: &str, message: UserMessage) -> Result<SentMessage, Error> {
        for _another in 1..SAY_TRIES {
            match self.send_once(owner, id, message.clone()).await {
                Err(Error::Engine(engine::Error::Log(log::Error::Fenced | log::Error::Claimed { .. }))) => {}
                said => return said,
            }
        }
        self.send_once(owner, id, message).await
    }

    /// Sends a message to the thread as it is at this moment.
    async fn send_once(&self, owner: &str, id: &str, message: UserMessage) -> Result<SentMessage, Error> {
        let live_thread = self.0.live.live_thread(id);
        let _alone = live_thread.gate.lock().await;
        let thread = self.thread(owner, id).await?;
        self.check(&thread, &message).await?;
        if let Some(odd) = &message.odd {
            tracing::warn!(thread = id, odd, "a message is not what it could be");
        }
        let running = self.running(id).await?.map(|running| running.turn);
        // A turn that cannot be read is never resumed, so no message can wait for it.
        running.as_deref().map_or(Ok(()), |running| self.0.engine.check_damage(running))?;
        let waiting = thread.queue.first().map(|waiting| waiting.turn.as_str());
        match message.if_busy.entry(running.as_deref(), waiting) {
            Entry::Begin => {
                let context = self.context(owner, &message).await?;
                self.begin_now(&live_thread, thread, message, context).await
            }
            Entry::Interrupt => {
                // Documents that cannot be searched are reported before anything is stopped.
                let context = self.context(owner, &message).await?;
                self.interrupt(id, owner).await?;
                self.begin_now(&live_thread, thread, message, context).await
            }
            Entry::Wait => self.wait(thread, message).await,
            Entry::Refuse { turn } => Err(Error::Busy { turn: turn.to_owned() }),
        }
    }

    /// Begins a turn of a thread in which nothing runs.
    pub(super) async fn begin_now(
        &self,
        live_thread: &LiveThread,
        mut thread: Thread,
        message: UserMessage,
        context: Context,
    ) -> Result<SentMessage, Error> {
        let turn = fresh_id(Kind::Turn);
        let presence = message.presence;
        let seq = self.begin(&mut thread, &turn, message, context).await?;
        live_thread.begun(&turn, presence);
        Ok(SentMessage { turn, place: MessageState::Begun { seq } })
    }

    /// Starts a turn; says with which number of the thread.
    pub(super) async fn begin(
        &self,
        thread: &mut Thread,
        turn: &Arc<str>,
        message: UserMessage,
        context: Context,
    ) -> Result<u64, Error> {
        let turns = self.0.history.turns(self.log(), &thread.id).await?;
        let order = self.order(thread, &message, context, turns);
        let base = order.turn.base;
        let remembers = order.turn.remembers;
        let mut compiled = self.compiled(order, message.workflow.as_deref()).await?;
        compiled.spec.traceparent = message.traceparent;
        compiled.spec.tags.insert(usage::OWNER.to_owned(), thread.owner.clone());
        // The first to claim the number gets the thread's next turn.
        let claim = claim(&thread.id, base);
        if remembers {
            self.will_mine(thread, turn).await?;
        }
        let ring = self.0.live.live_thread(&thread.id).begins(turn);
        self.0.engine.submit(NewRun::new(compiled).under(turn).shown_on(ring).claiming([claim])).await?;
        // The turn has begun without what was taken back before it.
        thread.withdrawn.clear();
        thread.name_after(message.content.as_str());
        thread.queue.retain(|waiting| *waiting.turn != **turn);
        thread.model = message.model.or(thread.model.take());
        self.store_begun(thread).await;
        Ok(base)
    }

    /// Returns the turn to compile for a message, after the earlier turns of its thread.
    fn order(
        &self,
        thread: &mut Thread,
        message: &UserMessage,
        context: Context,
        Turns { ended, running }: Turns,
    ) -> Order {
        let rules = &self.0.settings.rules;
        let last = running.as_ref().or(ended.turns.last().map(|turn| &**turn));
        let base = last.map(|turn| turn.next).unwrap_or_default();
        let grants = last.map(|turn| thread.still_granted(&turn.grants)).unwrap_or_default();
        let before = ended.turns.iter().map(|turn| &**turn).chain(running.as_ref());
        let beginning = thread.take_beginning(last);
        let brought = if beginning.is_none() { chat::brought_source(&message.earlier) } else { None };
        let brings = || Beginning { earlier: message.earlier.clone(), sources: Vec::new() };
        let Beginning { earlier, sources } = beginning.unwrap_or_else(brings);
        let mut taint = Taint::of_thread(chat::sources(before).into_iter().chain(sources).collect());
        let read = context.sources.iter().map(String::as_str);
        brought.into_iter().chain(read).for_each(|source| taint.read(source));
        let turn = chat::Turn {
            thread: thread.id.clone(),
            base,
            history: ended.messages,
            earlier,
            instructions: message.instructions.clone(),
            context: context.parts,
            editor: message.editor.clone(),
            remembers: message.remembers && message.workflow.is_none(),
            presence: message.presence,
            mode: message.mode.or(thread.mode).unwrap_or(rules.mode).min(rules.mode),
            grants,
            taint,
            approval_timeout_ms: rules.approval_timeout_ms,
            content: message.content.clone(),
            files: message.files.clone(),
            continues: message.continues.clone(),
            ..chat::Turn::default()
        };
        let model = message.model.clone().or_else(|| thread.model.clone());
        let client_tools = message.client_tools.clone();
        Order { model, client_tools, without_tools: message.without_tools, model_options: message.model_options, turn }
    }

    /// Compiles a turn of the chat agent or of a workflow; warnings are logged.
    async fn compiled(&self, order: Order, workflow: Option<&str>) -> Result<Compiled, Error> {
        let compiled = match workflow {
            None => chat::compile(order, &self.settings().rules, &self.catalog()).map_err(Error::Mistake)?,
            Some(id) => self.as_workflow(order, id).await?,
        };
        for warning in &compiled.warnings {
            tracing::warn!(thread = compiled.spec.tags.get("thread"), warning, "turn compiled with warnings");
        }
        Ok(compiled)
    }
}
