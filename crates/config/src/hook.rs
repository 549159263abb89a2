//! `[[hook]]`: the ways in which other programs begin runs.

use consort_runtime::hooks::Hook;
use consort_runtime::hooks::verify::Verify;
use consort_runtime::webhooks::Secret;

use super::fields::Fields;
use super::schedule::name;
use super::server::owner;
use super::values::{text, word};

/// Reads one `[[hook]]`.
pub(super) fn read(fields: &mut Fields<'_>) -> Hook {
    let verify = fields.need("verify", word(Verify::WORDS)).unwrap_or(Verify::None);
    let written = if verify.needs_secret() { fields.need("secret", text) } else { fields.read("secret", text) };
    let secret = match (verify, &written) {
        (Verify::Standard, Some(written)) => Secret::read(written),
        (_, Some(written)) => Ok(Secret::of(written.as_bytes())),
        (_, None) => Ok(Secret::of(&[])),
    };
    let secret = secret.unwrap_or_else(|mistake| {
        fields.mistake("secret", mistake);
        Secret::of(&[])
    });
    let hook = Hook {
        name: fields.need("name", name).unwrap_or_default(),
        verify,
        secret,
        when: fields.read("when", text),
        inputs: fields.map("inputs", text),
        workflow: fields.read("workflow", text),
        owner: fields.read("owner", owner).unwrap_or_default(),
    };
    for (place, reason) in hook.mistakes() {
        fields.mistake_at(&place, reason);
    }
    hook
}
