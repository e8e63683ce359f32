//! Which rules the command line asks for.

use std::path::Path;

use crate::app::{AppError, Source, builtin};
use crate::cli::args::Wanted;
use crate::cli::run::Failure;
use crate::config::Needs;
use crate::detect::{Allow, Catalogue, Choice, Detector};

/// The engine of the rules asked for.
pub(super) fn detector(wanted: &Wanted) -> Result<Detector, Failure> {
    detector_among(wanted, known(wanted.config.as_deref())?)
}

/// The same, among rules that are known already.
pub(super) fn detector_among(
    wanted: &Wanted,
    (catalogue, allow): (Catalogue, Allow),
) -> Result<Detector, Failure> {
    let choice = choice(wanted, &catalogue)?;
    let detector = Detector::new(&catalogue, &choice).map_err(|error| AppError::Rules(error.to_string()))?;
    Ok(detector.allowing(allow))
}

/// All rules there are, and those of them that were asked for; the default set, if nothing was.
pub(super) fn rules(wanted: &Wanted) -> Result<(Catalogue, Choice), Failure> {
    let (catalogue, _) = known(wanted.config.as_deref())?;
    let choice = choice(wanted, &catalogue)?;
    Ok((catalogue, choice))
}

/// All rules there are, and what passes though they find it: the built-in ones, and a configuration's.
pub(super) fn known(config: Option<&Path>) -> Result<(Catalogue, Allow), Failure> {
    let Some(path) = config else { return Ok((builtin()?, Allow::default())) };
    let config = Source::File(path.to_owned()).load_for(Needs::RULES)?;
    Ok((config.catalogue, config.allow))
}

/// Rules and sets together.
fn choice(wanted: &Wanted, catalogue: &Catalogue) -> Result<Choice, Failure> {
    if wanted.rules.is_empty() && wanted.rulesets.is_empty() {
        return Ok(Choice::defaults(catalogue));
    }
    let sets = Choice::sets(catalogue, wanted.rulesets.iter().map(|set| set.trim()));
    let mut choice = sets.map_err(|error| Failure::Usage(error.to_string()))?;
    for name in &wanted.rules {
        let unknown = || {
            Failure::Usage(format!("there is no rule `{name}`; see `portcullis rules list --rulesets all`"))
        };
        choice = choice.with(catalogue.find(name.trim()).ok_or_else(unknown)?);
    }
    Ok(choice)
}
