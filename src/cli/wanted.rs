//! Which rules the command line asks for.

use std::sync::Arc;

use crate::app::AppError;
use crate::cli::args::Wanted;
use crate::cli::run::Failure;
use crate::detect::{Catalogue, Choice, Detector};

/// The engine of the rules asked for.
pub(super) fn detector(wanted: &Wanted) -> Result<Detector, Failure> {
    let (catalogue, choice) = rules(wanted)?;
    Ok(Detector::new(&catalogue, &choice).map_err(|error| AppError::Rules(error.to_string()))?)
}

/// All rules there are, and those of them that were asked for; the default set, if nothing was.
pub(super) fn rules(wanted: &Wanted) -> Result<(Arc<Catalogue>, Choice), Failure> {
    let catalogue = catalogue()?;
    let choice = choice(wanted, &catalogue)?;
    Ok((catalogue, choice))
}

/// All rules there are.
pub(super) fn catalogue() -> Result<Arc<Catalogue>, Failure> {
    let catalogue = Catalogue::builtin().map_err(|error| AppError::Rules(error.to_string()))?;
    Ok(Arc::new(catalogue))
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
