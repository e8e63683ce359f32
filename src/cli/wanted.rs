//! Which rules the command line asks for.

use std::path::Path;
use std::sync::Arc;

use crate::app::{AppError, ConfigSource, builtin};
use crate::cli::args::{NamesModelArg, RuleArgs};
use crate::cli::failure::Failure;
use crate::config::{Requirements, names_model};
use crate::detect::{Allow, Catalogue, Detector, NamesOptions, RuleSelection};

/// The engine of the rules asked for.
pub(super) fn detector(wanted: &RuleArgs, names: &NamesModelArg) -> Result<Detector, Failure> {
    let (catalogue, allow) = known(wanted.config.as_deref())?;
    detector_among(wanted, &reading_names(catalogue, names)?, allow)
}

/// The rules with the model asked for; with a configuration's own, if none was.
pub(super) fn reading_names(catalogue: Catalogue, names: &NamesModelArg) -> Result<Catalogue, Failure> {
    let Some(path) = &names.path else { return Ok(catalogue) };
    let model = names_model(path, NamesOptions::default());
    let model =
        model.map_err(|wrong| Failure::Usage(format!("--names-model {}: {wrong}", path.display())))?;
    Ok(catalogue.reading_names(Some(Arc::new(model))))
}

/// The same, among rules that are known already.
pub(super) fn detector_among(
    wanted: &RuleArgs,
    catalogue: &Catalogue,
    allow: Allow,
) -> Result<Detector, Failure> {
    let selection = selection(wanted, catalogue)?;
    let detector =
        Detector::new(catalogue, &selection).map_err(|error| AppError::Rules(error.to_string()))?;
    Ok(detector.allowing(allow))
}

/// All rules there are, and those of them that were asked for; the default set, if nothing was.
pub(super) fn rules(wanted: &RuleArgs) -> Result<(Catalogue, RuleSelection), Failure> {
    let (catalogue, _) = known(wanted.config.as_deref())?;
    let selection = selection(wanted, &catalogue)?;
    Ok((catalogue, selection))
}

/// All rules there are, and what passes though they find it: the built-in ones, and a configuration's.
pub(super) fn known(config: Option<&Path>) -> Result<(Catalogue, Allow), Failure> {
    let Some(path) = config else { return Ok((builtin()?, Allow::default())) };
    let config = ConfigSource::File(path.to_owned()).load_for(Requirements::RULES)?;
    Ok((config.catalogue, config.allow))
}

/// Rules and sets together.
fn selection(wanted: &RuleArgs, catalogue: &Catalogue) -> Result<RuleSelection, Failure> {
    if wanted.rules.is_empty() && wanted.rulesets.is_empty() {
        return Ok(RuleSelection::defaults(catalogue));
    }
    let sets = RuleSelection::sets(catalogue, wanted.rulesets.iter().map(|set| set.trim()));
    let mut selection = sets.map_err(|error| Failure::Usage(error.to_string()))?;
    for name in &wanted.rules {
        let unknown = || {
            Failure::Usage(format!("there is no rule `{name}`; see `portcullis rules list --rulesets all`"))
        };
        selection = selection.with(catalogue.find(name.trim()).ok_or_else(unknown)?);
    }
    Ok(selection)
}
