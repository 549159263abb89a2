//! The conversations of a run that are under way, by their places.

use std::collections::BTreeMap;
#[cfg(test)]
use std::ops::Index;

use super::Conversation;
use consort_spec::id::Id;

/// Conversations under way. Each is in a box: most runs have one or two, and a map of the conversations themselves would
/// take ten kilobytes for the first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conversations(BTreeMap<Id, Box<Conversation>>);

impl Conversations {
    /// Returns a conversation.
    pub fn get(&self, id: &Id) -> Option<&Conversation> {
        self.0.get(id).map(Box::as_ref)
    }

    /// Returns a conversation and its id.
    pub fn get_key_value(&self, id: &Id) -> Option<(&Id, &Conversation)> {
        self.0.get_key_value(id).map(|(id, conversation)| (id, &**conversation))
    }

    /// Returns all conversations, in the order of their places.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&Id, &Conversation)> {
        self.0.iter().map(|(id, conversation)| (id, &**conversation))
    }

    /// Returns the ids of all conversations, in the order of their places.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &Id> {
        self.0.keys()
    }

    /// Returns whether there is a conversation.
    pub fn contains_key(&self, id: &Id) -> bool {
        self.0.contains_key(id)
    }

    /// Returns the number of conversations.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(in crate::state) fn get_mut(&mut self, id: &Id) -> Option<&mut Conversation> {
        self.0.get_mut(id).map(Box::as_mut)
    }

    pub(in crate::state) fn values_mut(&mut self) -> impl Iterator<Item = &mut Conversation> {
        self.0.values_mut().map(Box::as_mut)
    }

    pub(in crate::state) fn insert(&mut self, id: Id, conversation: Conversation) {
        self.0.insert(id, Box::new(conversation));
    }

    pub(in crate::state) fn remove(&mut self, id: &Id) -> Option<Box<Conversation>> {
        self.0.remove(id)
    }
}

#[cfg(test)]
impl Index<&Id> for Conversations {
    type Output = Conversation;

    fn index(&self, id: &Id) -> &Conversation {
        &self.0[id]
    }
}
