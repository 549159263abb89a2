//! Checks the parts of a server before it starts.

use consort_core::compile::Catalog;
use consort_core::own_tool::OwnTool;
use consort_runtime::hooks::Hook;
use consort_runtime::schedules::Configured;

use crate::error::Error;

/// Returns the schedules, unless one has a mistake or the name of another.
pub(super) fn checked(schedules: &[Configured]) -> Result<Vec<Configured>, Error> {
    for (index, Configured { definition, .. }) in schedules.iter().enumerate() {
        let name = &definition.name;
        if let Some(mistake) = definition.mistakes(0).first() {
            return Err(Error::Serve(format!("the schedule '{name}': {mistake}")));
        }
        if schedules.iter().skip(index + 1).any(|other| other.definition.name == *name) {
            return Err(Error::Serve(format!("two schedules are called '{name}'")));
        }
    }
    Ok(schedules.to_vec())
}

/// Returns the hooks, unless one has a mistake or the name of another.
pub(super) fn checked_hooks(hooks: &[Hook]) -> Result<Vec<Hook>, Error> {
    for (index, hook) in hooks.iter().enumerate() {
        let name = &hook.name;
        if let Some((place, reason)) = hook.mistakes().first() {
            return Err(Error::Serve(format!("the hook '{name}': {place}: {reason}")));
        }
        if hooks.iter().skip(index + 1).any(|other| other.name == *name) {
            return Err(Error::Serve(format!("two hooks are called '{name}'")));
        }
    }
    Ok(hooks.to_vec())
}

/// Returns the catalog without the tool that comes with the store: servers and conversations add it themselves.
pub(super) fn without_documents(catalog: &Catalog) -> Catalog {
    let mut catalog = catalog.clone();
    catalog.tools.retain(|tool| tool.as_own() != Some(OwnTool::SearchCollections));
    catalog
}
